package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"tidings"
)

// sealMark begins sealed data; what is not sealed is JSON and begins otherwise.
const sealMark = "v1:"

// A seal closes sensitive data at rest, hashes address values and names the erased, each with a
// key of its own drawn from the deployment's secret.
type seal struct {
	aead      cipher.AEAD
	hashKey   []byte
	erasedKey []byte
}

func newSeal(secret [32]byte) (*seal, error) {
	dataKey, err := hkdf.Key(sha256.New, secret[:], nil, "tidings sensitive data", 32)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	hashKey, err := hkdf.Key(sha256.New, secret[:], nil, "tidings address hash", 32)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	erasedKey, err := hkdf.Key(sha256.New, secret[:], nil, "tidings erased user", 32)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(dataKey)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return &seal{aead: aead, hashKey: hashKey, erasedKey: erasedKey}, nil
}

// close seals data for its notification: moved to another row it cannot be opened.
func (s *seal) close(id tidings.NotificationID, data []byte) string {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(data)+s.aead.Overhead())
	_, _ = rand.Read(nonce) // crypto/rand.Read never fails
	return sealMark + base64.StdEncoding.EncodeToString(s.aead.Seal(nonce, nonce, data, id[:]))
}

// open is the data of a notification, sealed or not; erased data is nil.
func (s *seal) open(id tidings.NotificationID, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	sealed, ok := strings.CutPrefix(text, sealMark)
	if !ok {
		return []byte(text), nil
	}
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return nil, errors.New("sealed data is damaged")
	}
	n := s.aead.NonceSize()
	data, err := s.aead.Open(nil, raw[:n], raw[n:], id[:])
	if err != nil {
		return nil, errors.New("sealed data cannot be opened: it is damaged, or the secret is another one")
	}
	return data, nil
}

// hash is the keyed hash of an address value in whatever spelling, by which suppressions know it after it is erased.
func (s *seal) hash(c tidings.Channel, value string) []byte {
	h := hmac.New(sha256.New, s.hashKey)
	h.Write([]byte(c))
	h.Write([]byte{0})
	h.Write([]byte(tidings.Canonical(c, value)))
	return h.Sum(nil)
}

// erasedMark begins the name of whoever was erased. No user can have it: ids have no such character.
const erasedMark = "erased~"

// erased is what an erased user is called in the trails that stay: the same for the same id, and
// without the secret nobody can tell whose it was.
func (s *seal) erased(user string) string {
	h := hmac.New(sha256.New, s.erasedKey)
	h.Write([]byte(user))
	return erasedMark + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:16]))
}
