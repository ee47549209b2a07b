package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tidings/api/problem"
	"tidings/internal/store"
)

// The scopes of keys. They do not imply each other; all is short for the five.
const (
	scopeSend    = "send"
	scopeUsers   = "users"
	scopeRead    = "read"
	scopeOperate = "operate"
	scopeAdmin   = "admin"
	scopeAll     = "all"
)

// How old the keys in memory may be, and how soon a key that is not among them makes them be
// read again: a new key counts at once, and guessed ones cost ten reads a second at most.
const (
	keysFor   = time.Second
	keysAgain = 100 * time.Millisecond
)

// A caller is the key that a request was made with.
type caller struct{ store.Key }

func (c caller) has(scope string) bool {
	return slices.Contains(c.Scopes, scope) || slices.Contains(c.Scopes, scopeAll)
}

// sees is the app whose notifications the caller may see; empty: all.
func (c caller) sees() string {
	if c.has(scopeOperate) || c.has(scopeAdmin) {
		return ""
	}
	return c.App
}

// A keyring holds the keys of the deployment in memory, for a second.
type keyring struct {
	load func(context.Context) ([]store.Key, error)
	now  atomic.Pointer[snapshot]
	turn chan struct{} // holds one while a request reads the keys
}

// A snapshot is the keys as they were at an instant. It is not changed.
type snapshot struct {
	at   time.Time
	keys map[string]store.Key
}

func newKeyring(load func(context.Context) ([]store.Key, error)) *keyring {
	k := &keyring{load: load, turn: make(chan struct{}, 1)}
	k.now.Store(&snapshot{})
	return k
}

// identify finds the key of an Authorization header.
func (k *keyring) identify(ctx context.Context, header string) (caller, error) {
	id, secret, ok := credentials(header)
	if !ok {
		return caller{}, problem.New(problem.Unauthenticated, "send the key as Basic key_id:secret or Bearer key_id.secret")
	}
	key, err := k.find(ctx, id)
	if err != nil {
		return caller{}, err
	}
	hash := sha256.Sum256([]byte(secret)) // compared for unknown keys too, so that time does not tell them
	same := subtle.ConstantTimeCompare(hash[:], key.Hash[:]) == 1
	if !same || key.ID == "" || !key.RevokedAt.IsZero() {
		return caller{}, problem.New(problem.Unauthenticated, "the key is not known or was revoked")
	}
	return caller{key}, nil
}

// find looks a key up in keys that are fresh; one that is not among them is looked for in keys
// read after the question. One request reads for all that wait.
func (k *keyring) find(ctx context.Context, id string) (store.Key, error) {
	asked := time.Now()
	if key, known := k.now.Load().fresh(id, asked); known {
		return key, nil
	}
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return store.Key{}, ctx.Err()
	}
	snap := k.now.Load()
	if key, known := snap.fresh(id, asked); known || snap.at.After(asked) {
		return key, nil
	}
	select {
	case <-time.After(time.Until(snap.at.Add(keysAgain))):
	case <-ctx.Done():
		return store.Key{}, ctx.Err()
	}
	snap, err := k.read(ctx)
	if err != nil {
		return store.Key{}, err
	}
	k.now.Store(snap)
	return snap.keys[id], nil
}

func (k *keyring) read(ctx context.Context) (*snapshot, error) {
	snap := &snapshot{at: time.Now(), keys: map[string]store.Key{}}
	all, err := k.load(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range all {
		snap.keys[key.ID] = key
	}
	return snap, nil
}

// fresh finds a key that may still be believed.
func (s *snapshot) fresh(id string, now time.Time) (key store.Key, known bool) {
	key, known = s.keys[id]
	return key, known && now.Sub(s.at) < keysFor
}

// credentials are the id and secret of an Authorization header.
func credentials(header string) (id, secret string, ok bool) {
	scheme, rest, _ := strings.Cut(header, " ")
	rest = strings.TrimLeft(rest, " ")
	switch {
	case strings.EqualFold(scheme, "Basic"):
		plain, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return "", "", false
		}
		id, secret, ok = strings.Cut(string(plain), ":")
	case strings.EqualFold(scheme, "Bearer"):
		id, secret, ok = strings.Cut(rest, ".")
	}
	return id, secret, ok && id != "" && secret != ""
}
