package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/preferences"
)

// Facts loads what decisions about these users depend on, by user id; an unknown user has a
// zero CreatedAt. Providers is left nil. Users whose stored preferences cannot be read have no
// facts, so that nothing is decided for them that they may have refused; they are named instead.
func (s *Store) Facts(ctx context.Context, users []string) (found map[string]*preferences.Facts, damaged []string, err error) {
	users = append([]string{}, users...) // a list in JSON, also of none
	slices.Sort(users)
	users = slices.Compact(users)
	list, err := json.Marshal(users)
	if err != nil {
		return nil, nil, fmt.Errorf("load facts: %w", err)
	}
	var out map[string]*preferences.Facts
	err = s.read(ctx, func(t *tx) error {
		facts := make([]preferences.Facts, len(users))
		out, damaged = make(map[string]*preferences.Facts, len(users)), nil
		for i, u := range users {
			facts[i] = preferences.Facts{User: tidings.User{ID: u}, Suppressed: map[tidings.AddressID]preferences.Suppression{}}
			out[u] = &facts[i]
		}
		err := t.query("user_facts", []any{string(list)}, func(r row) error {
			user, readable, err := scanUserFacts(r, out)
			if err == nil && !readable {
				damaged = append(damaged, user)
			}
			return err
		})
		if err != nil {
			return err
		}
		return t.query("address_facts", []any{string(list)}, func(r row) error { return scanAddressFacts(r, out) })
	})
	if err != nil {
		return nil, nil, fmt.Errorf("load facts: %w", err)
	}
	for _, user := range damaged {
		delete(out, user)
	}
	return out, damaged, nil
}

// scanUserFacts reads a user; readable is false when the stored preferences are damaged.
func scanUserFacts(r row, facts map[string]*preferences.Facts) (user string, readable bool, err error) {
	var u tidings.User
	var doc *string
	var version *int64
	if err := r.Scan(append(userFields(&u), &doc, &version)...); err != nil {
		return "", false, err
	}
	f := facts[u.ID]
	f.User = u
	if doc == nil {
		return u.ID, true, nil
	}
	p, err := readPreferences(*doc, *version)
	f.Preferences = p
	return u.ID, err == nil, nil
}

func scanAddressFacts(r row, facts map[string]*preferences.Facts) error {
	var a tidings.Address
	var reason *string
	var at time.Time
	if err := r.Scan(append(addressFields(&a), &reason, instant{&at})...); err != nil {
		return err
	}
	f := facts[a.UserID]
	f.Addresses = append(f.Addresses, a)
	if reason != nil {
		f.Suppressed[a.ID] = preferences.Suppression{Channel: a.Channel, Reason: tidings.Reason(*reason), At: at}
	}
	return nil
}

// A Contact is where a channel reaches somebody: an e-mail address or a phone number.
type Contact struct {
	Channel tidings.Channel
	Value   string
}

// Suppressions finds the contacts to which nothing may be sent, whoever has them.
func (s *Store) Suppressions(ctx context.Context, contacts []Contact) (map[Contact]preferences.Suppression, error) {
	out := map[Contact]preferences.Suppression{}
	err := s.read(ctx, func(t *tx) error {
		clear(out)
		return t.each("contact_suppression", len(contacts), func(i int) []any {
			return []any{string(contacts[i].Channel), s.seal.hash(contacts[i].Channel, contacts[i].Value)}
		}, func(i int, r row) error {
			found := preferences.Suppression{Channel: contacts[i].Channel}
			err := r.Scan(&found.Reason, instant{&found.At})
			out[contacts[i]] = found
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look up suppressions: %w", err)
	}
	return out, nil
}

// A Memory is an accepted request under its dedupe key.
type Memory struct {
	ID   tidings.NotificationID
	Hash [32]byte
}

// Remembered finds the notifications accepted before under dedupe keys that still count.
func (s *Store) Remembered(ctx context.Context, app string, test bool, keys []string, now time.Time) (map[string]Memory, error) {
	out := map[string]Memory{}
	err := s.read(ctx, func(t *tx) error {
		clear(out)
		return t.each("dedupe_find", len(keys), func(i int) []any {
			return []any{app, flag(test), keys[i], now.UnixMicro()}
		}, func(i int, r row) error {
			var m Memory
			var hash []byte
			if err := r.Scan(into(&m.ID), &hash); err != nil {
				return err
			}
			m.Hash = [32]byte(hash)
			out[keys[i]] = m
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look up dedupe keys: %w", err)
	}
	return out, nil
}
