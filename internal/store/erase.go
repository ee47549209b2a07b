package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"tidings"
	"tidings/preferences"
)

// ErasedRemark is what the timeline says of a notification that an erasure called off.
const ErasedRemark = "the user was erased"

// EraseUser deletes the person: user, addresses, preferences, consents, counters, digests, and in
// their notifications the data, the callers' own words and the user's id, in place of which stands
// a pseudonym. Suppression hashes stay. What waits, dead letters too, ends cancelled with reason
// erased, and so do holds; what is being sent at that moment is not tried again, and nothing is
// redriven.
func (s *Store) EraseUser(ctx context.Context, id string, now time.Time) error {
	at := now.UnixMicro()
	steps := []struct {
		name string
		args []any
	}{
		{"erase_dedupe", []any{id}},
		{"erase_mark", []any{id, at}},
		{"erase_told", []any{id, at, ErasedRemark}},
		{"erase_deliveries", []any{id, at}},
		{"erase_under_way", []any{id}},
		{"erase_words", []any{id}},
		{"erase_holds", []any{id}},
		{"erase_digest_items", []any{id}},
		{"erase_digests", []any{id}},
		{"erase_counters", []any{id}},
		{"erase_preferences", []any{id}},
		{"erase_consents", []any{id}},
		{"erase_addresses", []any{id}},
		{"erase_user", []any{id}},
		{"erase_user_data", []any{id, s.seal.erased(id)}}, // last, since the others find their rows by the id
	}
	err := s.write(ctx, Normal, func(t *tx) error {
		if _, err := t.exec("erase_alone"); err != nil {
			return err
		}
		if _, err := t.lockUser(id); err != nil {
			return err
		}
		for _, step := range steps {
			if _, err := t.exec(step.name, step.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("erase user: %w", err)
	}
	return nil
}

// ExportUser is everything held about a person. Sensitive data is not shown to the person's
// apps either, so it is left out.
func (s *Store) ExportUser(ctx context.Context, id string) (*UserExport, error) {
	var e *UserExport
	err := s.read(ctx, func(t *tx) (err error) {
		e = &UserExport{}
		if e.User, err = t.user(id); err != nil {
			return err
		}
		if e.Addresses, err = t.addresses(id); err != nil {
			return err
		}
		if e.Preferences, err = t.preferences(id); err != nil {
			return err
		}
		if e.Suppressions, err = t.suppressions(id); err != nil {
			return err
		}
		if e.Consents, err = t.consents(id, tidings.ConsentID{}, math.MaxInt32); err != nil {
			return err
		}
		e.Notifications, err = s.notificationsOf(t, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("export user: %w", err)
	}
	return e, nil
}

func (t *tx) suppressions(user string) ([]preferences.Suppression, error) {
	var list []preferences.Suppression
	err := t.query("suppressions_of_user", []any{user}, func(r row) error {
		var s preferences.Suppression
		err := r.Scan(&s.Channel, &s.Reason, instant{&s.At})
		list = append(list, s)
		return err
	})
	return list, err
}

func (s *Store) notificationsOf(t *tx, user string) ([]tidings.Notification, error) {
	var list []tidings.Notification
	err := t.query("notifications_of_user", []any{user}, func(r row) error {
		var n notificationRow
		if err := r.Scan(n.fields()...); err != nil {
			return err
		}
		shown, err := n.show(s.seal)
		list = append(list, shown)
		return err
	})
	return list, err
}
