package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

var errDamaged = errors.New("the stored preferences of its user are damaged")

// Release decides again about holds whose time has come and writes what follows: deliveries,
// another hold, or nothing but the reason. of are the notifications of the holds. A hold that
// another process has taken is left alone. The error tells of holds that could not be released;
// they stay as they are.
func (in *Intake) Release(ctx context.Context, holds []tidings.Hold, of []tidings.Notification, now time.Time) error {
	release, err := in.slot(ctx)
	if err != nil {
		return fmt.Errorf("release holds: %w", err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTimeout)
	defer cancel()
	now = now.UTC().Truncate(time.Microsecond)
	held := byID(of)
	facts, damaged, err := in.Store.Facts(ctx, usersOf(of))
	if err != nil {
		return fmt.Errorf("release holds: load facts: %w", err)
	}
	room := rooms{lanes: in.Lanes, door: in.Door}
	groups := map[store.Class][]store.Acceptance{}
	joins := map[tidings.NotificationID]*store.Join{}
	var failed []error
	for n := range holds {
		a, class, err := in.reconsider(&holds[n], held[holds[n].Notification], facts, &room, now)
		if of := held[holds[n].Notification]; of != nil && slices.Contains(damaged, of.UserID) {
			err = errDamaged
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("release hold %s: %w", holds[n].ID, err))
			continue
		}
		a.Join = together(joins, &a)
		groups[class] = append(groups[class], a)
	}
	for _, class := range []store.Class{store.Urgent, store.Background} {
		failed = append(failed, in.release(ctx, class, groups[class], now)...)
	}
	return errors.Join(failed...)
}

// together lets the channels of a notification that are released at once wait for one digest.
func together(joins map[tidings.NotificationID]*store.Join, a *store.Acceptance) *store.Join {
	if a.Join == nil {
		return nil
	}
	one := joins[a.Notification.ID]
	if one == nil {
		joins[a.Notification.ID] = a.Join
		return a.Join
	}
	one.Channels = append(one.Channels, a.Join.Channels...)
	slices.Sort(one.Channels)
	return one
}

// reconsider decides about one hold with the facts of now and the catalogue of then.
func (in *Intake) reconsider(h *tidings.Hold, n *tidings.Notification, facts map[string]*preferences.Facts, room *rooms, now time.Time) (store.Acceptance, store.Class, error) {
	if n == nil {
		return store.Acceptance{}, 0, errors.New("its notification is missing")
	}
	catalogue, err := in.Version(n.CatalogVersion)
	if err != nil {
		return store.Acceptance{}, 0, fmt.Errorf("load catalogue version %d: %w", n.CatalogVersion, err)
	}
	kind := catalogue.Events[n.Type]
	if kind == nil {
		return store.Acceptance{}, 0, fmt.Errorf("catalogue version %d has no event type %q", n.CatalogVersion, n.Type)
	}
	a := store.Acceptance{Notification: *n, Release: h}
	f := in.factsOf(facts[n.UserID])
	request := preferences.Request{
		Event: kind, Channels: []tidings.Channel{h.Channel}, ExpiresAt: n.ExpiresAt, Thread: kind.ThreadOf(n.Newest()), Digest: n.Parts > 0,
	}
	var items []tidings.DigestItem
	if n.Parts > 0 {
		items, request.Continued, _ = tidings.ReadDigest(n.Data) // of what cannot be read, rendering will say so
	}
	decision := redecide(h, n, request, f, now)
	if len(items) > 1 && n.CancelledAt.IsZero() {
		decision, a.Leave = redecideItems(h, n, items, &request, f, now)
	}
	a.Notification.Decisions = []tidings.Decision{decision}
	expand(&a, kind, a.Notification.Decisions, room, now)
	in.spread(a.Holds, n, time.Time{})
	a.Count, a.Join = in.counting(&a, request, &f, now), joining(&a, kind, now)
	if kind.Priority == tidings.Urgent {
		return a, store.Urgent, nil
	}
	return a, store.Background, nil
}

// factsOf is what is known of a user of whom the log knows that much; nil: nothing.
func (in *Intake) factsOf(known *preferences.Facts) preferences.Facts {
	var f preferences.Facts
	if known != nil {
		f = *known
	}
	f.Providers = in.Providers
	in.Zones.Place(&f)
	return f
}

// redecide is the decision about the one channel of a hold. A cancel and the expiry win over all else.
func redecide(h *tidings.Hold, n *tidings.Notification, request preferences.Request, f preferences.Facts, now time.Time) tidings.Decision {
	none := tidings.Decision{Channel: h.Channel, Action: tidings.ActionSuppress, At: now}
	switch {
	case !n.CancelledAt.IsZero():
		none.Reason = tidings.ReasonCancelled
		return none
	case !n.ExpiresAt.After(now):
		none.Reason = tidings.ReasonExpired
		return none
	}
	for _, d := range preferences.Decide(request, f, now) {
		if d.Channel == h.Channel {
			return d
		}
	}
	none.Reason = tidings.ReasonNotRequested // the channel is not of the event type
	return none
}

// redecideItems is the decision about a digest: that about the newest of its items which may still be
// told, and which not, since they are late or the user has muted their thread. Where that is so of
// all of them, it is so of the digest. The request is that of the item.
func redecideItems(h *tidings.Hold, n *tidings.Notification, items []tidings.DigestItem, request *preferences.Request, f preferences.Facts, now time.Time) (tidings.Decision, []store.Leaving) {
	var leave []store.Leaving
	decision, whole := redecide(h, n, *request, f, now), *request
	for i := range items {
		each := whole
		each.Thread, each.ExpiresAt = whole.Event.ThreadOf(items[i].Data), items[i].ExpiresAt
		d := redecide(h, n, each, f, now)
		if d.Action != tidings.ActionSuppress {
			decision, *request = d, each
			continue
		}
		leave = append(leave, store.Leaving{Part: items[i].ID, Reason: d.Reason, Cause: d.Cause})
	}
	if request.ExpiresAt = n.ExpiresAt; len(leave) == len(items) {
		return decision, nil
	}
	return decision, leave
}

// release commits released holds and hands what is queued to the outbox.
func (in *Intake) release(ctx context.Context, class store.Class, group []store.Acceptance, now time.Time) []error {
	accepted := in.write(ctx, class, group)
	in.outbox.send(group, accepted, now)
	var failed []error
	for n, a := range accepted {
		switch {
		case a.Err != nil:
			failed = append(failed, fmt.Errorf("release hold %s: %w", group[n].Release.ID, a.Err))
		case !a.Consumed:
			in.countDecisions(group[n].Notification.Decisions)
		}
	}
	return failed
}

func byID(list []tidings.Notification) map[tidings.NotificationID]*tidings.Notification {
	m := make(map[tidings.NotificationID]*tidings.Notification, len(list))
	for i := range list {
		m[list[i].ID] = &list[i]
	}
	return m
}

func usersOf(list []tidings.Notification) []string {
	var users []string
	seen := map[string]bool{}
	for i := range list {
		if id := list[i].UserID; !seen[id] {
			seen[id] = true
			users = append(users, id)
		}
	}
	return users
}
