package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// CreateKey stores a key, making its app.
func (s *Store) CreateKey(ctx context.Context, k Key) error {
	err := s.write(ctx, Normal, func(t *tx) error {
		if _, err := t.exec("app_make", k.App, k.CreatedAt.UnixMicro()); err != nil {
			return err
		}
		_, err := t.exec("key_add", k.ID, k.App, k.Hash[:], strings.Join(k.Scopes, " "), flag(k.Test), k.CreatedAt.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("create key: %w", err)
	}
	return nil
}

// Key finds a key, also a revoked one; a change of another process is seen at once.
func (s *Store) Key(ctx context.Context, id string) (Key, error) {
	var k Key
	err := s.read(ctx, func(t *tx) error {
		found := false
		err := t.query("key", []any{id}, func(r row) (err error) {
			found = true
			k, err = scanKey(r)
			return err
		})
		if err == nil && !found {
			err = ErrNotFound
		}
		return err
	})
	if err != nil {
		return Key{}, fmt.Errorf("find key: %w", err)
	}
	return k, nil
}

// Keys lists all keys, revoked ones too, oldest first.
func (s *Store) Keys(ctx context.Context) ([]Key, error) {
	var list []Key
	err := s.read(ctx, func(t *tx) error {
		list = nil
		return t.query("keys", nil, func(r row) error {
			k, err := scanKey(r)
			list = append(list, k)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return list, nil
}

// RevokeKey ends a key; the first instant counts. An unknown key is ErrNotFound.
func (s *Store) RevokeKey(ctx context.Context, id string, now time.Time) error {
	err := s.write(ctx, Normal, func(t *tx) error {
		n, err := t.exec("key_revoke", id, now.UnixMicro())
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke key: %w", err)
	}
	return nil
}

func scanKey(r row) (Key, error) {
	var k Key
	var hash []byte
	var scopes string
	err := r.Scan(&k.ID, &k.App, &hash, &scopes, truth{&k.Test}, instant{&k.CreatedAt}, instant{&k.RevokedAt})
	if err != nil {
		return Key{}, err
	}
	if len(hash) != len(k.Hash) {
		return Key{}, fmt.Errorf("key %s has a hash of %d bytes", k.ID, len(hash))
	}
	copy(k.Hash[:], hash)
	k.Scopes = strings.Fields(scopes)
	return k, nil
}
