package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"tidings"
	"tidings/preferences"
)

// Preferences are a user's, with the user's locale and time zone beside them. An unknown user is ErrNotFound.
func (s *Store) Preferences(ctx context.Context, user string) (preferences.Preferences, tidings.User, error) {
	var p preferences.Preferences
	var u tidings.User
	err := s.read(ctx, func(t *tx) (err error) {
		if u, err = t.user(user); err != nil {
			return err
		}
		p, err = t.preferences(user)
		return err
	})
	if err != nil {
		return preferences.Preferences{}, tidings.User{}, fmt.Errorf("read preferences: %w", err)
	}
	return p, u, nil
}

// ChangePreferences runs change on the current preferences and user inside the transaction and
// stores what it gives, with the next version when it shows otherwise than before; only Locale and
// Timezone of the user are taken. The lines that change gives go into the consent ledger in the
// same transaction.
// An unknown user is made; preferences that cannot be read are made anew from the ledger, and a line
// of it says so. expected is the version the caller saw, -1: any; another is ErrConflict. An
// error of change is returned as it is and nothing is stored. change may run more than once,
// each time on values of its own.
func (s *Store) ChangePreferences(ctx context.Context, user string, expected int64, now time.Time,
	change func(p *preferences.Preferences, u *tidings.User) ([]preferences.Entry, error)) (preferences.Preferences, tidings.User, error) {
	var p preferences.Preferences
	var u tidings.User
	var refused error
	err := s.write(ctx, Normal, func(t *tx) (err error) {
		if u, _, err = t.holdUser(user, now); err != nil {
			return err
		}
		var damaged bool
		if p, damaged, err = t.wishes(user); err != nil {
			return err
		}
		if expected != -1 && expected != p.Version {
			return ErrConflict
		}
		changed, before := u, p.Clone()
		var lines []preferences.Entry
		if damaged {
			lines = append(lines, p.Repaired(now))
		}
		more, refusal := change(&p, &changed)
		if refused = refusal; refused != nil {
			return refused
		}
		lines = append(lines, more...)
		woken := changed.Timezone != u.Timezone || !samePointed(p.QuietHours, before.QuietHours)
		if damaged || changed.Timezone != u.Timezone || changed.Locale != u.Locale || !p.Same(&before) {
			p.Version++
		}
		u.Locale, u.Timezone, u.UpdatedAt = changed.Locale, changed.Timezone, micro(now)
		if err := t.putUser(u); err != nil {
			return err
		}
		if err := t.addConsents(user, lines); err != nil {
			return err
		}
		if err := t.putPreferences(user, p, now); err != nil || !woken {
			return err
		}
		return t.wakeQuiet(user, now)
	})
	switch {
	case refused != nil && err != nil:
		return preferences.Preferences{}, tidings.User{}, refused
	case err != nil:
		return preferences.Preferences{}, tidings.User{}, fmt.Errorf("change preferences: %w", err)
	}
	return p, u, nil
}

// samePointed reports whether two values are equal, or both missing.
func samePointed[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// preferences are a user's; see wishes.
func (t *tx) preferences(user string) (preferences.Preferences, error) {
	p, _, err := t.wishes(user)
	return p, err
}

// wishes are the preferences of a user. Of those that cannot be read, damaged ones, it gives what
// the consent ledger tells; the next change stores that, so that they can be read again.
func (t *tx) wishes(user string) (p preferences.Preferences, damaged bool, err error) {
	var doc string
	var version int64
	found, err := t.one("preferences", []any{user}, &doc, &version)
	if err != nil || !found {
		return p, false, err
	}
	if p, err = readPreferences(doc, version); err == nil {
		return p, false, nil
	}
	ledger, err := t.consents(user, tidings.ConsentID{}, math.MaxInt32)
	slices.Reverse(ledger)
	p = preferences.Recall(ledger)
	p.Version = version
	return p, true, err
}

func (t *tx) putPreferences(user string, p preferences.Preferences, now time.Time) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write preferences: %w", err)
	}
	_, err = t.exec("preferences_put", user, string(doc), p.Version, now.UnixMicro())
	return err
}

// Suppress stops an address value for good, with the reason; Unsuppress lifts it.
func (s *Store) Suppress(ctx context.Context, channel tidings.Channel, value string, reason tidings.Reason, source string, now time.Time) error {
	err := s.write(ctx, Normal, func(t *tx) error {
		_, err := t.exec("suppress", channel, s.seal.hash(channel, value), reason, source, now.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("suppress an address: %w", err)
	}
	return nil
}

// Unsuppress lifts a suppression; none is no error.
func (s *Store) Unsuppress(ctx context.Context, channel tidings.Channel, value string) error {
	err := s.write(ctx, Normal, func(t *tx) error {
		_, err := t.exec("unsuppress", channel, s.seal.hash(channel, value))
		return err
	})
	if err != nil {
		return fmt.Errorf("lift a suppression: %w", err)
	}
	return nil
}
