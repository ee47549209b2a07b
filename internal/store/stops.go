package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
	"tidings/preferences"
)

// stopSource is the source of suppressions that a person's own word made, to us or to the carrier.
// Another word of theirs lifts them.
const stopSource = "stop"

// Stop suppresses a number whose owner said so, and writes it into the ledger of each user who has
// it; people is how many. A number that is stopped already stays as it is.
func (s *Store) Stop(ctx context.Context, channel tidings.Channel, number string, by preferences.Origin, now time.Time) (people int, err error) {
	return s.word(ctx, "suppress_stopped", preferences.ConsentWithdrawn, channel, number, by, now)
}

// Restart lifts what Stop did; a suppression for another reason stays.
func (s *Store) Restart(ctx context.Context, channel tidings.Channel, number string, by preferences.Origin, now time.Time) (people int, err error) {
	return s.word(ctx, "suppress_lifted", preferences.ConsentGiven, channel, number, by, now)
}

// word changes the suppression of a number and, when it is another now, writes the ledger.
func (s *Store) word(ctx context.Context, statement string, action preferences.ConsentState, channel tidings.Channel, number string, by preferences.Origin, now time.Time) (people int, err error) {
	hash := s.seal.hash(channel, number)
	args := []any{channel, hash}
	if action == preferences.ConsentWithdrawn {
		args = append(args, now.UnixMicro())
	}
	err = s.write(ctx, Normal, func(t *tx) error {
		holders, err := t.holders([]contact{{channel, hash}})
		if err != nil {
			return err
		}
		people = len(holders)
		changed, err := t.exec(statement, args...)
		if err != nil || changed == 0 {
			return err
		}
		lines := make([]line, len(holders))
		for i, h := range holders {
			lines[i] = line{h.user, by.Entry("", channel, action, now)}
		}
		return t.addLines(lines)
	})
	if err != nil {
		return 0, fmt.Errorf("take the word %s of a number: %w", by.Source, err)
	}
	return people, nil
}

// suppress takes addresses out of use for good. What the owner asked of the carrier, and a
// complaint, are opt-outs: they go into the ledger of the people, and a complaint switches off as
// much of what the user gets as the opt-out of the category covers.
func (t *tx) suppress(list []effect, category func(name string) (tidings.Category, bool)) error {
	var stopped []contact
	var stops []effect
	err := t.each("address_suppress", len(list), func(i int) []any {
		e := list[i]
		source := e.source
		if e.reason == tidings.ReasonOptedOutChannel {
			source = stopSource
		}
		return []any{e.address[:], string(e.reason), source, e.at.UnixMicro()}
	}, func(i int, r row) error {
		var c contact
		err := r.Scan(&c.channel, &c.hash)
		if list[i].reason == tidings.ReasonOptedOutChannel {
			stopped, stops = append(stopped, c), append(stops, list[i])
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := t.tellStopped(stopped, stops); err != nil {
		return err
	}
	return t.complain(list, category)
}

// tellStopped writes what people told their carrier into the ledger.
func (t *tx) tellStopped(stopped []contact, stops []effect) error {
	holders, err := t.holders(stopped)
	if err != nil {
		return err
	}
	lines := make([]line, len(holders))
	for i, h := range holders {
		by := preferences.Origin{Source: preferences.SourceStop}
		lines[i] = line{h.user, by.Entry("", stopped[h.of].channel, preferences.ConsentWithdrawn, stops[h.of].at)}
	}
	return t.addLines(lines)
}

// complain opts out whoever called a message spam. Complaints are few, so each is a verb of its own.
func (t *tx) complain(list []effect, category func(name string) (tidings.Category, bool)) error {
	complaints := slices.DeleteFunc(slices.Clone(list), func(e effect) bool { return e.reason != tidings.ReasonSuppressedComplaint })
	people := make([]struct{ user, category string }, len(complaints))
	err := t.each("notification_person", len(complaints), func(i int) []any {
		ntf := tidings.NotificationOf(complaints[i].delivery)
		return []any{ntf[:]}
	}, func(i int, r row) error { return r.Scan(&people[i].user, &people[i].category) })
	if err != nil {
		return err
	}
	for i, p := range people {
		c, _ := category(p.category)
		c.Name = p.category
		err := t.optOut(p.user, c, complaints[i].channel, preferences.Origin{Source: preferences.SourceComplaint}, complaints[i].at)
		if err != nil && !errors.Is(err, ErrNotFound) { // erased
			return err
		}
	}
	return nil
}

// A contact is a number or a mailbox, whoever has it.
type contact struct {
	channel tidings.Channel
	hash    []byte
}

// A holder is a user who has the contact at that place of a list.
type holder struct {
	user string
	of   int
}

// holders are the users who have contacts, locked in their order. Those who were erased meanwhile
// are left out.
func (t *tx) holders(list []contact) ([]holder, error) {
	var all []holder
	err := t.each("contact_holders", len(list), func(i int) []any { return []any{string(list[i].channel), list[i].hash} }, func(i int, r row) error {
		h := holder{of: i}
		err := r.Scan(&h.user)
		all = append(all, h)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b holder) int { return strings.Compare(a.user, b.user) })
	there := all[:0:0]
	err = t.each("user_there", len(all), func(i int) []any { return []any{all[i].user} }, func(i int, _ row) error {
		there = append(there, all[i])
		return nil
	})
	return there, err
}
