package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tidings/internal/store"
)

// A log is where the keys of a test are kept.
type keyLog struct {
	mu    sync.Mutex
	keys  []store.Key // guarded by mu, as all below
	loads int
	err   error
}

func (l *keyLog) load(context.Context) ([]store.Key, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loads++
	return append([]store.Key(nil), l.keys...), l.err
}

func (l *keyLog) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func key(id string) store.Key {
	return store.Key{ID: id, App: "shop", Hash: sha256.Sum256([]byte("s"))}
}

// knows reports whether a key of the ring is taken now.
func knows(t *testing.T, k *keyring, id string) bool {
	t.Helper()
	_, err := k.identify(t.Context(), "Bearer "+id+".s")
	return err == nil
}

func TestANewKeyCountsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &keyLog{keys: []store.Key{key("a")}}
		k := newKeyring(l.load)
		if !knows(t, k, "a") || knows(t, k, "b") {
			t.Fatal("only a is known")
		}
		l.set(func() { l.keys = append(l.keys, key("b")) })
		if !knows(t, k, "b") {
			t.Error("a new key does not count at once")
		}
	})
}

func TestARevokedKeyCountsForASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &keyLog{keys: []store.Key{key("a")}}
		k := newKeyring(l.load)
		if !knows(t, k, "a") {
			t.Fatal("a is known")
		}
		l.set(func() { l.keys[0].RevokedAt = time.Now() })
		time.Sleep(time.Second)
		if knows(t, k, "a") {
			t.Error("a revoked key counts after a second")
		}
	})
}

func TestKnownKeysNeverWaitForGuessedOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &keyLog{keys: []store.Key{key("a")}}
		k := newKeyring(l.load)
		knows(t, k, "a")
		var guessing sync.WaitGroup
		for range 1000 {
			guessing.Go(func() { knows(t, k, "guess") })
		}
		synctest.Wait() // all of them wait for the log
		began := time.Now()
		if !knows(t, k, "a") || time.Since(began) > 0 {
			t.Errorf("a known key waited %s", time.Since(began))
		}
		guessing.Wait()
		if l.loads > 3 {
			t.Errorf("1000 guesses at once read the keys %d times", l.loads)
		}
	})
}

func TestGuessedKeysCostTenReadsASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &keyLog{}
		k := newKeyring(l.load)
		for began := time.Now(); time.Since(began) < 10*time.Second; {
			knows(t, k, "guess")
		}
		if l.loads > 102 {
			t.Errorf("read %d times in ten seconds", l.loads)
		}
	})
}

func TestKeysThatCannotBeReadAreNotBelievedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &keyLog{keys: []store.Key{key("a")}}
		k := newKeyring(l.load)
		knows(t, k, "a")
		l.set(func() { l.err = store.ErrUnavailable })
		if !knows(t, k, "a") {
			t.Error("a key that was read a moment ago does not count")
		}
		time.Sleep(2 * time.Second)
		if _, err := k.identify(t.Context(), "Bearer a.s"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("an old key gives %v", err)
		}
	})
}
