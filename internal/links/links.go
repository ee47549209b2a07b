// Package links signs the links that people follow from their mail: to unsubscribe, to their
// preferences, and to confirm a consent.
//
// It promises that a link cannot be made or changed without the deployment's secret, and that
// one made for one purpose opens nothing else. A link is signed and not sealed: who holds it can
// read whose it is. It must never store anything: what a link may do is all in it.
package links

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"tidings"
)

// A Purpose is what a link is for. It is also the name of the key that signs it.
type Purpose string

// The purposes of links.
const (
	Unsubscribe Purpose = "unsubscribe" // opt out of one category; never expires, since old mail is read too
	Preferences Purpose = "preferences" // see and change all preferences of one user
	Confirm     Purpose = "confirm"     // confirm that one consent was meant
	Undo        Purpose = "undo"        // take back what was just changed on a page; part of that page, not a link
)

// How long links are good for that are not good for ever.
const (
	PreferencesFor = 30 * 24 * time.Hour
	ConfirmFor     = 7 * 24 * time.Hour
	UndoFor        = time.Hour
)

// path is where the links of a purpose lead, below the public URL.
func (p Purpose) path() string {
	switch p {
	case Unsubscribe:
		return "/u/"
	case Preferences:
		return "/preferences/"
	}
	return "/confirm/"
}

// A Link is what a token says.
type Link struct {
	User      string
	Category  string    // empty for preferences
	Ref       string    // what exactly is confirmed or taken back, or in which message it was; mostly empty
	ExpiresAt time.Time // whole seconds; zero: never
}

// Why a token opens nothing.
var (
	ErrForged  = errors.New("the link is not one of ours")
	ErrExpired = errors.New("the link has expired")
)

const (
	version   = 1               // the first byte of every token
	macSize   = 16              // bytes of HMAC-SHA256: a guess succeeds once in 2^128
	maxToken  = 4096            // of an undo, which says what it takes back; links to pages have about 100
	keyPrefix = "tidings link " // and the purpose: what HKDF draws its key for
)

// A Signer makes links and reads them. It is safe for concurrent use.
type Signer struct {
	base string
	keys map[Purpose][]byte
}

// New is the signer of a deployment whose pages are found below publicURL.
func New(secret [32]byte, publicURL string) (*Signer, error) {
	s := &Signer{base: strings.TrimRight(publicURL, "/"), keys: map[Purpose][]byte{}}
	for _, p := range []Purpose{Unsubscribe, Preferences, Confirm, Undo} {
		key, err := hkdf.Key(sha256.New, secret[:], nil, keyPrefix+string(p), sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("derive the key of links: %w", err)
		}
		s.keys[p] = key
	}
	return s, nil
}

// Unsubscribe is the URL in a delivery under which a user opts out of a category, at any time.
func (s *Signer) Unsubscribe(user, category string, in tidings.DeliveryID) string {
	return s.url(Unsubscribe, Link{User: user, Category: category, Ref: string(in[:])})
}

// Delivery is the one in which a link to unsubscribe was; zero: none, or the link does not say.
func (l Link) Delivery() (id tidings.DeliveryID) {
	if len(l.Ref) == len(id) {
		copy(id[:], l.Ref)
	}
	return id
}

// Preferences is the URL of a user's preferences, and when it ends to be good.
func (s *Signer) Preferences(user string, now time.Time) (url string, expiresAt time.Time) {
	l := Link{User: user, ExpiresAt: ends(now, PreferencesFor)}
	return s.url(Preferences, l), l.ExpiresAt
}

// Confirm is the URL under which a user confirms a consent to a category, and when it ends to be
// good. ref says which consent, so that an old link does not confirm a new question.
func (s *Signer) Confirm(user, category, ref string, now time.Time) (url string, expiresAt time.Time) {
	l := Link{User: user, Category: category, Ref: ref, ExpiresAt: ends(now, ConfirmFor)}
	return s.url(Confirm, l), l.ExpiresAt
}

// Undo is the token under which a page takes back what was just changed on it: ref says what, and the
// category is that of the page's link. It is too long to be read again when ok is false.
func (s *Signer) Undo(user, category, ref string, now time.Time) (token string, ok bool) {
	token = s.Token(Undo, Link{User: user, Category: category, Ref: ref, ExpiresAt: ends(now, UndoFor)})
	return token, len(token) <= maxToken
}

func ends(now time.Time, after time.Duration) time.Time {
	return now.Add(after).UTC().Truncate(time.Second)
}

func (s *Signer) url(p Purpose, l Link) string { return s.base + p.path() + s.Token(p, l) }

// Token is the link as it stands in a URL, base64url without padding. The same link gives the
// same token.
func (s *Signer) Token(p Purpose, l Link) string {
	said := l.bytes()
	raw := append([]byte{version}, s.mac(p, said)...)
	return base64.RawURLEncoding.EncodeToString(append(raw, said...))
}

// Open reads a token that was made for a purpose: ErrForged for all that was not, ErrExpired,
// with the link, once it is over.
func (s *Signer) Open(p Purpose, token string, now time.Time) (Link, error) {
	if len(token) > maxToken || strings.ContainsAny(token, "\r\n") { // base64 would overlook those
		return Link{}, ErrForged
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= macSize || raw[0] != version {
		return Link{}, ErrForged
	}
	mac, said := raw[1:1+macSize], raw[1+macSize:]
	if !hmac.Equal(mac, s.mac(p, said)) {
		return Link{}, ErrForged
	}
	l, err := parse(said)
	if err != nil {
		return Link{}, err
	}
	if !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt) {
		return l, ErrExpired
	}
	return l, nil
}

func (s *Signer) mac(p Purpose, said []byte) []byte {
	h := hmac.New(sha256.New, s.keys[p])
	h.Write([]byte{version})
	h.Write(said)
	return h.Sum(nil)[:macSize]
}

// bytes is the expiry in seconds, 0 for never, and the texts, each after its length: no two links
// have the same bytes.
func (l Link) bytes() []byte {
	expires := uint64(0)
	if !l.ExpiresAt.IsZero() {
		expires = uint64(l.ExpiresAt.Unix())
	}
	b := binary.AppendUvarint(nil, expires)
	for _, text := range []string{l.User, l.Category, l.Ref} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return b
}

func parse(b []byte) (l Link, err error) {
	expires, n := binary.Uvarint(b)
	if n <= 0 {
		return Link{}, ErrForged
	}
	if b = b[n:]; expires > 0 {
		l.ExpiresAt = time.Unix(int64(expires), 0).UTC()
	}
	for _, text := range []*string{&l.User, &l.Category, &l.Ref} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return Link{}, ErrForged
		}
		*text, b = string(b[n:n+int(size)]), b[n+int(size):]
	}
	if len(b) > 0 {
		return Link{}, ErrForged
	}
	return l, nil
}
