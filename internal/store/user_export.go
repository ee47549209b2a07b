package store

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"tidings"
	"tidings/preferences"
)

// UserExport is everything held about a person, for the export.
type UserExport struct {
	User          tidings.User
	Addresses     []tidings.Address
	Preferences   preferences.Preferences
	Suppressions  []preferences.Suppression
	Consents      []preferences.Entry // newest first
	Notifications []tidings.Notification
	Deliveries    []TrailDelivery // in the order of their notifications
	Holds         []tidings.Hold  // newest first
	Digests       []UserDigest    // newest first
	Counters      []UserCounter
}

// A UserDigest is what was gathered for a user to be told of together.
type UserDigest struct {
	ID           tidings.DigestID
	App          string
	Test         bool
	Type         string
	Key          string
	Channels     []tidings.Channel
	State        string // open, closed or flushed
	OpenedAt     time.Time
	ClosesAt     time.Time
	Notification tidings.NotificationID // that it became; zero: none
	Items        []tidings.NotificationID
}

// A UserCounter is when a user was told something under a limit, oldest first.
type UserCounter struct {
	Scope  string // of the limit
	Test   bool
	Times  []time.Time
	IdleAt time.Time // from then on it counts nothing any more
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
		if e.Addresses, err = t.addresses("addresses_of_user", id); err != nil {
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
		if e.Notifications, err = s.notificationsOf(t, id); err != nil {
			return err
		}
		if e.Deliveries, err = t.deliveriesOf(e.Notifications); err != nil {
			return err
		}
		if e.Holds, err = t.holdsOf(id); err != nil {
			return err
		}
		if e.Digests, err = t.digestsOf(id); err != nil {
			return err
		}
		e.Counters, err = t.countersOf(id)
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

// deliveriesOf are the deliveries of notifications, as their trails have them.
func (t *tx) deliveriesOf(notifications []tidings.Notification) (list []TrailDelivery, err error) {
	all := make(trails, len(notifications))
	for i := range all {
		all[i] = &Trail{Notification: notifications[i]}
	}
	if err := all.each(t, deliveryParts()...); err != nil {
		return nil, err
	}
	for _, l := range all {
		l.tell()
		list = append(list, l.Deliveries...)
	}
	return list, nil
}

func (t *tx) holdsOf(user string) ([]tidings.Hold, error) {
	var list []tidings.Hold
	err := t.query("holds_of_user", []any{user}, func(r row) error {
		var h tidings.Hold
		err := r.Scan(into(&h.ID), into(&h.Notification), &h.Channel, &h.Reason, instant{&h.Until}, &h.State)
		list = append(list, h)
		return err
	})
	return list, err
}

func (t *tx) digestsOf(user string) ([]UserDigest, error) {
	var list []UserDigest
	err := t.query("digests_of_user", []any{user}, func(r row) error {
		var d UserDigest
		var key string
		err := r.Scan(into(&d.ID), &d.App, truth{&d.Test}, &d.Type, &key, &d.State, instant{&d.OpenedAt}, instant{&d.ClosesAt}, into(&d.Notification))
		_, d.Key, _ = strings.Cut(key, ":")
		d.Channels = channelsIn(key)
		list = append(list, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	places := make(map[tidings.DigestID]int, len(list))
	for i := range list {
		places[list[i].ID] = i
	}
	err = t.query("digest_items_of_user", []any{user}, func(r row) error {
		var id tidings.DigestID
		var item tidings.NotificationID
		err := r.Scan(into(&id), into(&item))
		d := &list[places[id]]
		d.Items = append(d.Items, item)
		return err
	})
	return list, err
}

func (t *tx) countersOf(user string) ([]UserCounter, error) {
	var list []UserCounter
	err := t.query("counters_of_user", []any{user}, func(r row) error {
		var c counter
		var scope string
		if err := c.scan(scoped{r, &scope}); err != nil {
			return err
		}
		u := UserCounter{Times: c.times, IdleAt: c.idle}
		u.Scope, u.Test = strings.CutPrefix(scope, testScope)
		list = append(list, u)
		return nil
	})
	return list, err
}

// scoped is the row of a counter with its scope before it.
type scoped struct {
	row
	scope *string
}

// Scan reads the scope, and then what is asked for.
func (s scoped) Scan(dest ...any) error { return s.row.Scan(append([]any{s.scope}, dest...)...) }
