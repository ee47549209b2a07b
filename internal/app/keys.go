package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"tidings/api/wire"
	"tidings/internal/config"
	"tidings/internal/store"
)

// Scopes are what a key can be allowed; none implies another.
func Scopes() []string { return []string{"send", "users", "read", "operate", "admin"} }

// NewKey makes an API key of an app and the secret that is shown once. The scope "all" is
// short for every scope.
func NewKey(app string, scopes []string, test bool, now time.Time) (key store.Key, secret string, err error) {
	if !wire.IsName(app) {
		return key, "", fmt.Errorf("%q is not a name of an app: take 1 to 128 characters of A-Z, a-z, 0-9 and . _ : @ -", app)
	}
	if scopes, err = spelledOut(scopes); err != nil {
		return key, "", err
	}
	var id [10]byte
	var random [32]byte
	_, _ = rand.Read(id[:]) // never fails
	_, _ = rand.Read(random[:])
	secret = base64.RawURLEncoding.EncodeToString(random[:])
	mode := "live"
	if test {
		mode = "test"
	}
	return store.Key{
		ID: "tid_" + mode + "_" + hex.EncodeToString(id[:]), App: app, Hash: sha256.Sum256([]byte(secret)),
		Scopes: scopes, Test: test, CreatedAt: now,
	}, secret, nil
}

// spelledOut is each scope once, in the order of Scopes.
func spelledOut(scopes []string) (all []string, err error) {
	for _, s := range scopes {
		if s != "all" && !slices.Contains(Scopes(), s) {
			return nil, fmt.Errorf("%q is not a scope: take send, users, read, operate, admin or all", s)
		}
	}
	for _, s := range Scopes() {
		if slices.Contains(scopes, s) || slices.Contains(scopes, "all") {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("a key needs at least one scope")
	}
	return all, nil
}

// WithStore runs f on the log of a configuration, beside a running service or without one.
func WithStore(ctx context.Context, cfg config.Config, log *slog.Logger, f func(ctx context.Context, s *store.Store) error) error {
	secret, err := LoadSecret(cfg.SecretFile)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Settings{URL: string(cfg.DatabaseURL), Dir: cfg.DataDir, Secret: secret, Log: log})
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	return errors.Join(f(ctx, s), s.Close())
}
