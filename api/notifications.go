package api

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/trail"
	"tidings/api/wire"
	"tidings/internal/store"
)

var listParameters = append([]parameter{
	{"user_id", "Of this user."}, {"app", "Of this app."}, {"event", "Of this event type."}, {"dedupe_key", "Posted under this key."},
	{"status", "With this status."}, {"channel", "Sent or held on this channel; with a reason, the channel that it is about."}, {"reason", "With a decision, hold or delivery for this reason."},
	{"since", "Accepted at this time (RFC 3339) or later."}, {"until", "Accepted before this time (RFC 3339)."},
}, pageParameters()...)

func (s *service) readTrail(c *call) (*answer, error) {
	if err := c.onlyQuery(); err != nil {
		return nil, err
	}
	id, err := c.notificationID()
	if err != nil {
		return nil, err
	}
	t, err := s.Store.Trail(c.Context(), c.caller.sees(), id)
	if err != nil {
		return nil, err
	}
	return ok(trail.Present(t, s.around(c.Context()), c.now)), nil
}

func (s *service) cancel(c *call) (*answer, error) {
	id, err := c.notificationID()
	if err != nil {
		return nil, err
	}
	if err := c.read(&wire.Nothing{}); err != nil {
		return nil, err
	}
	done, err := s.Store.Cancel(c.Context(), c.caller.sees(), id, c.now)
	if err != nil {
		return nil, err
	}
	c.notes = append(c.notes, slog.String("notification", id.String()))
	out := wire.Cancelled{Cancelled: listed(done.Cancelled), Cancelling: listed(done.Cancelling), Holds: done.Holds, Kept: []wire.Kept{}}
	for _, k := range done.Kept {
		out.Kept = append(out.Kept, wire.Kept{ID: k.ID, Status: trail.Status(k.Status)})
	}
	return ok(out), nil
}

func (c *call) notificationID() (tidings.NotificationID, error) {
	id, err := tidings.ParseNotificationID(c.PathValue("id"))
	if err != nil {
		return id, problem.New(problem.NotFound, "there is no such notification")
	}
	return id, nil
}

func (s *service) listNotifications(c *call) (*answer, error) {
	if err := c.onlyQuery(); err != nil {
		return nil, err
	}
	f, err := filter(c.URL.Query())
	if err != nil {
		return nil, err
	}
	page := wire.Page{Data: []wire.Listed{}}
	if own := c.caller.sees(); own != "" {
		if f.App != "" && f.App != own {
			return ok(page), nil // of other apps there is nothing to see
		}
		f.App = own
	}
	limit := f.Limit
	f.Limit++ // one more tells whether there is a next page
	found, next, err := s.Store.List(c.Context(), f)
	if err != nil {
		return nil, err
	}
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].Notification.ID
	}
	if !next.IsZero() {
		cursor := next.String()
		page.NextCursor = &cursor
	}
	told, err := s.summaries(c, f.App, found)
	if err != nil {
		return nil, err
	}
	for i := range found {
		n := &found[i].Notification
		page.Data = append(page.Data, wire.Listed{Notification: trail.Notification(n, found[i].Status), Summary: told[n.ID]})
	}
	return ok(page), nil
}

// summaries say of each notification in one sentence what became of it.
func (s *service) summaries(c *call, app string, of []store.Listed) (map[tidings.NotificationID]string, error) {
	ids := make([]tidings.NotificationID, len(of))
	for i := range of {
		ids[i] = of[i].Notification.ID
	}
	trails, err := s.Store.Trails(c.Context(), app, ids)
	if err != nil {
		return nil, err
	}
	all, around := make(map[tidings.NotificationID]string, len(trails)), s.around(c.Context())
	for _, t := range trails {
		all[t.Notification.ID] = trail.Summary(t, around, c.now)
	}
	return all, nil
}

// filter reads the query of a list.
func filter(q url.Values) (store.Filter, error) {
	f := store.Filter{
		App: q.Get("app"), UserID: q.Get("user_id"), Type: q.Get("event"), DedupeKey: q.Get("dedupe_key"),
		Status: tidings.NotificationStatus(q.Get("status")), Channel: tidings.Channel(q.Get("channel")), Reason: tidings.Reason(q.Get("reason")),
	}
	if err := closedLists(q, f); err != nil {
		return f, err
	}
	var err error
	if f.Since, f.Until, err = sinceUntil(q); err != nil {
		return f, err
	}
	f.Before, f.Limit, err = pageOf(q, tidings.ParseNotificationID)
	return f, err
}

// closedLists refuses values that are on none of the closed lists.
func closedLists(q url.Values, f store.Filter) error {
	if err := names(q, "user_id", "app", "event"); err != nil {
		return err
	}
	if q.Has("dedupe_key") && !wire.IsKey(f.DedupeKey) {
		return invalid("/dedupe_key", "must be 1 to 255 bytes of UTF-8 without NUL")
	}
	if err := oneOf(q, "status", tidings.NotificationStatuses()); err != nil {
		return err
	}
	return channelAndReason(q)
}

// listed is a list that is never null.
func listed[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// brokerWithin is how long a trail waits to learn whether the broker can be used.
const brokerWithin = 500 * time.Millisecond

// around is what trails tell of the service. The broker is asked once, and only if something waits
// for no other reason.
func (s *service) around(ctx context.Context) trail.Service {
	all := make(map[string]trail.Provider, len(s.Providers))
	for name, p := range s.Providers {
		all[name] = trail.Provider{Type: p.Type, Channel: p.Channel, Carries: p.Carries, PerSecond: p.PerSecond}
	}
	return trail.Service{Providers: all, Lease: s.Lease, Down: sync.OnceValue(func() bool {
		ctx, cancel := context.WithTimeout(ctx, brokerWithin)
		defer cancel()
		return s.Broker(ctx) != nil
	})}
}
