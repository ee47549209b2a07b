package store

import (
	"context"
	"fmt"
	"time"

	"tidings"
	"tidings/preferences"
)

// OptOut switches off for a user as much as the opt-out of the category covers, on the answer of
// the person to a message on that channel. It writes the ledger in the same transaction, and
// nothing at all when it was off before. An unknown user, as one who was erased, is ErrNotFound.
func (s *Store) OptOut(ctx context.Context, user string, c tidings.Category, channel tidings.Channel, by preferences.Origin, now time.Time) error {
	err := s.write(ctx, Normal, func(t *tx) error { return t.optOut(user, c, channel, by, now) })
	if err != nil {
		return fmt.Errorf("opt out: %w", err)
	}
	return nil
}

// ConfirmConsent gives the consent that a line of the ledger asked for, in the words of that line,
// and says whether the user consents by it now: also when it was confirmed before, and not when it was
// taken back, or asked for anew, since. An unknown user or line is ErrNotFound.
func (s *Store) ConfirmConsent(ctx context.Context, user, category string, line tidings.ConsentID, by preferences.Origin, now time.Time) (given bool, err error) {
	err = s.write(ctx, Normal, func(t *tx) error {
		given = false
		found, err := t.one("consent_asked", []any{line[:], user, category}, &by.Wording, &by.Version)
		if err != nil {
			return err
		}
		if !found {
			return ErrNotFound
		}
		return t.amend(user, now, func(p *preferences.Preferences) []preferences.Entry {
			lines := p.Confirm(category, line, by, now)
			given = p.Confirmed(category, line)
			return lines
		})
	})
	if err != nil {
		return false, fmt.Errorf("confirm a consent: %w", err)
	}
	return given, nil
}

// Consents lists the ledger of a user, newest first, from before an entry on; zero: from the
// newest. An unknown user is ErrNotFound.
func (s *Store) Consents(ctx context.Context, user string, before tidings.ConsentID, limit int) ([]preferences.Entry, error) {
	var list []preferences.Entry
	err := s.read(ctx, func(t *tx) (err error) {
		if _, err = t.user(user); err != nil {
			return err
		}
		list, err = t.consents(user, before, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list consents: %w", err)
	}
	return list, nil
}

func (t *tx) optOut(user string, c tidings.Category, channel tidings.Channel, by preferences.Origin, now time.Time) error {
	return t.amend(user, now, func(p *preferences.Preferences) []preferences.Entry {
		before := p.Clone()
		p.OptOut(&c, channel)
		return preferences.Settle(before, p, func(string) (tidings.Category, bool) { return c, true }, by, now)
	})
}

// amend changes what a user wants, who is known; without a line for the ledger nothing is written.
// What cannot be read is repaired.
func (t *tx) amend(user string, now time.Time, change func(p *preferences.Preferences) []preferences.Entry) error {
	if _, err := t.lockUser(user); err != nil {
		return err
	}
	p, damaged, err := t.wishes(user)
	if err != nil {
		return err
	}
	before := p.Clone()
	var lines []preferences.Entry
	if damaged {
		lines = append(lines, p.Repaired(now))
	}
	lines = append(lines, change(&p)...)
	if len(lines) == 0 {
		return nil
	}
	if damaged || !p.Same(&before) {
		p.Version++
	}
	if err := t.addConsents(user, lines); err != nil {
		return err
	}
	return t.putPreferences(user, p, now)
}

// A line is an entry of the ledger of a user.
type line struct {
	user string
	preferences.Entry
}

func (t *tx) addConsents(user string, entries []preferences.Entry) error {
	lines := make([]line, len(entries))
	for i, e := range entries {
		lines[i] = line{user, e}
	}
	return t.addLines(lines)
}

func (t *tx) addLines(lines []line) error {
	return t.each("consent_add", len(lines), func(i int) []any {
		e := &lines[i]
		return []any{e.ID[:], e.user, e.Category, string(e.Channel), string(e.Action), e.Wording, e.Version, string(e.Source), e.App, e.At.UnixMicro(), e.About, e.Value}
	}, nil)
}

// beforeAll is above every id.
const beforeAll = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

func (t *tx) consents(user string, before tidings.ConsentID, limit int) ([]preferences.Entry, error) {
	from := before[:]
	if before.IsZero() {
		from = []byte(beforeAll)
	}
	var list []preferences.Entry
	err := t.query("consents_of_user", []any{user, from, limit}, func(r row) error {
		var e preferences.Entry
		err := r.Scan(into(&e.ID), &e.Category, &e.Channel, &e.Action, &e.Wording, &e.Version, &e.Source, &e.App, instant{&e.At}, &e.About, &e.Value)
		list = append(list, e)
		return err
	})
	return list, err
}
