package api

import (
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/trail"
	"tidings/api/wire"
	"tidings/internal/store"
)

// How long pages are.
const (
	pageLimit    = 50
	maxPageLimit = 200
)

var listParameters = []parameter{
	{"user_id", "Of this user."}, {"app", "Of this app."}, {"event", "Of this event type."}, {"dedupe_key", "Posted under this key."},
	{"status", "With this status."}, {"channel", "Sent or held on this channel; with a reason, the channel that it is about."}, {"reason", "With a decision, hold or delivery for this reason."},
	{"since", "Accepted at this time (RFC 3339) or later."}, {"until", "Accepted before this time (RFC 3339)."},
	{"limit", "How many: 50 unless told, at most 200."}, {"cursor", "The next_cursor of the page before."},
}

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
	return ok(trail.Present(t, s.providerTypes(), c.now)), nil
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
	page := wire.Page{Data: []wire.Notification{}}
	if own := c.caller.sees(); own != "" {
		if f.App != "" && f.App != own {
			return ok(page), nil // of other apps there is nothing to see
		}
		f.App = own
	}
	limit := f.Limit
	f.Limit++ // one more tells whether there is a next page
	found, err := s.Store.List(c.Context(), f)
	if err != nil {
		return nil, err
	}
	if len(found) > limit {
		found = found[:limit]
		next := found[limit-1].Notification.ID.String()
		page.NextCursor = &next
	}
	for i := range found {
		page.Data = append(page.Data, trail.Notification(&found[i].Notification, found[i].Status))
	}
	return ok(page), nil
}

// filter reads the query of a list.
func filter(q url.Values) (store.Filter, error) {
	f := store.Filter{
		App: q.Get("app"), UserID: q.Get("user_id"), Type: q.Get("event"), DedupeKey: q.Get("dedupe_key"), Limit: pageLimit,
		Status: tidings.NotificationStatus(q.Get("status")), Channel: tidings.Channel(q.Get("channel")), Reason: tidings.Reason(q.Get("reason")),
	}
	if err := closedLists(q, f); err != nil {
		return f, err
	}
	var err error
	if f.Since, err = instant(q, "since"); err != nil {
		return f, err
	}
	if f.Until, err = instant(q, "until"); err != nil {
		return f, err
	}
	if q.Has("limit") {
		f.Limit, err = strconv.Atoi(q.Get("limit"))
		if err != nil || f.Limit < 1 || f.Limit > maxPageLimit {
			return f, invalid("/limit", fmt.Sprintf("must be a whole number from 1 to %d", maxPageLimit))
		}
	}
	if q.Has("cursor") {
		if f.Before, err = tidings.ParseNotificationID(q.Get("cursor")); err != nil {
			return f, invalid("/cursor", "must be the next_cursor of a page")
		}
	}
	return f, nil
}

// closedLists refuses values that are on none of the closed lists.
func closedLists(q url.Values, f store.Filter) error {
	for _, name := range []string{"user_id", "app", "event"} {
		if q.Has(name) && !wire.IsName(q.Get(name)) {
			return invalid(pointer(name), "must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : @ -")
		}
	}
	switch {
	case q.Has("dedupe_key") && !wire.IsKey(f.DedupeKey):
		return invalid("/dedupe_key", "must be 1 to 255 bytes of UTF-8 without NUL")
	case q.Has("status") && !slices.Contains(tidings.NotificationStatuses(), f.Status):
		return invalid("/status", fmt.Sprintf("must be one of %v", tidings.NotificationStatuses()))
	case q.Has("channel") && !slices.Contains(tidings.Channels(), f.Channel):
		return invalid("/channel", fmt.Sprintf("must be one of %v", tidings.Channels()))
	case q.Has("reason") && !slices.Contains(tidings.Reasons(), f.Reason):
		return invalid("/reason", fmt.Sprintf("must be one of %v", tidings.Reasons()))
	}
	return nil
}

func instant(q url.Values, name string) (time.Time, error) {
	if !q.Has(name) {
		return time.Time{}, nil
	}
	t, ok := wire.ParseTime(q.Get(name))
	if !ok {
		return t, invalid(pointer(name), "must be a time since 1970 as in RFC 3339, such as 2026-12-01T08:00:00Z")
	}
	return t, nil
}

// listed is a list that is never null.
func listed[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// providerTypes are the configured providers' types by name, for words to people.
func (s *service) providerTypes() map[string]string {
	types := make(map[string]string, len(s.Providers))
	for name, p := range s.Providers {
		types[name] = p.Type
	}
	return types
}
