package api

import (
	"fmt"
	"log/slog"
	"net/url"
	"slices"

	"tidings"
	"tidings/api/trail"
	"tidings/api/wire"
	"tidings/internal/store"
)

var deadParameters = append([]parameter{
	{"channel", "On this channel."}, {"lane", "In this lane."}, {"reason", "Dead for this reason."}, {"app", "Of this app."},
	{"event", "Of this event type."}, {"user_id", "To this user."}, {"provider", "That this provider was called for."},
	{"since", "Dead at this time (RFC 3339) or later."}, {"until", "Dead before this time (RFC 3339)."},
}, pageParameters()...)

func (s *service) listDead(c *call) (*answer, error) {
	if err := c.onlyQuery(); err != nil {
		return nil, err
	}
	q := c.URL.Query()
	f, err := s.deadFilter(q)
	if err != nil {
		return nil, err
	}
	before, limit, err := pageOf(q, tidings.ParseDeliveryID)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.DeadLetters(c.Context(), f, before, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := cut(found, limit, func(d *store.DeadLetter) fmt.Stringer { return d.ID })
	page := wire.DeadLetters{Data: []wire.DeadLetter{}, NextCursor: next}
	for i := range found {
		page.Data = append(page.Data, trail.DeadLetter(&found[i]))
	}
	return ok(page), nil
}

// deadFilter reads the query of a list of dead letters.
func (s *service) deadFilter(q url.Values) (store.DeadFilter, error) {
	f := store.DeadFilter{
		Channel: tidings.Channel(q.Get("channel")), Lane: tidings.Lane(q.Get("lane")), Reason: tidings.Reason(q.Get("reason")),
		App: q.Get("app"), Type: q.Get("event"), UserID: q.Get("user_id"), Provider: q.Get("provider"),
	}
	if err := names(q, "app", "event", "user_id", "provider"); err != nil {
		return f, err
	}
	if err := channelAndReason(q); err != nil {
		return f, err
	}
	if err := oneOf(q, "lane", s.Lanes); err != nil {
		return f, err
	}
	var err error
	f.Since, f.Until, err = sinceUntil(q)
	return f, err
}

func (s *service) redrive(c *call) (*answer, error) {
	var in wire.Redrive
	if err := c.read(&in); err != nil {
		return nil, err
	}
	r := redrive{service: s, call: c, in: &in, out: wire.Redriven{DryRun: in.DryRun}, filter: store.DeadFilter{
		Channel: in.Channel, Lane: in.Lane, Reason: in.Reason, App: string(in.App), Type: string(in.Event), UserID: string(in.UserID),
		Provider: string(in.Provider), Since: in.Since.Time, Until: in.Until.Time,
	}}
	run := r.all
	if len(in.IDs) > 0 {
		run = r.named
	}
	err := run()
	if r.out.Redriven > 0 && !in.DryRun && s.Wake != nil { // also when it broke off half-way
		s.Wake(c.now)
	}
	c.notes = append(c.notes, slog.Bool("dry_run", in.DryRun), slog.Int("redriven", r.out.Redriven))
	if err != nil {
		return nil, err
	}
	return ok(r.out), nil
}

// A redrive is one call that tries dead letters again, page by page: one transaction each, so
// that nothing waits long behind it. Broken off half-way, it leaves the rest dead.
type redrive struct {
	*service
	call   *call
	in     *wire.Redrive
	filter store.DeadFilter
	out    wire.Redriven
}

// redrivePage is how many are tried again in one transaction.
const redrivePage = 500

// all tries again what the filter selects, those accepted first first.
func (r *redrive) all() error {
	limit := r.in.Limit
	if limit == 0 {
		limit = wire.RedriveLimit
	}
	var after tidings.DeliveryID
	for r.out.Matched < limit {
		found, err := r.Store.OldestDead(r.call.Context(), r.filter, after, min(redrivePage, limit-r.out.Matched))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return nil
		}
		if err := r.some(found); err != nil {
			return err
		}
		after = found[len(found)-1].ID
	}
	next, err := r.Store.OldestDead(r.call.Context(), r.filter, after, 1)
	r.out.More = len(next) > 0
	return err
}

// named tries again those of the given ids that are dead and that the filter selects.
func (r *redrive) named() error {
	ids := slices.Clone(r.in.IDs)
	slices.SortFunc(ids, func(a, b tidings.DeliveryID) int { return slices.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	found, err := r.Store.DeadOf(r.call.Context(), r.filter, ids)
	if err != nil {
		return err
	}
	r.out.Skipped = len(ids) - len(found)
	if r.in.Limit > 0 && len(found) > r.in.Limit {
		found, r.out.More = found[:r.in.Limit], true
	}
	for page := range slices.Chunk(found, redrivePage) {
		if err := r.some(page); err != nil {
			return err
		}
	}
	return nil
}

// some tries a page again, or counts what would become of it.
func (r *redrive) some(page []store.DeadOne) error {
	r.out.Matched += len(page)
	ids := make([]tidings.DeliveryID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	if r.in.DryRun {
		newer, err := r.Store.Newer(r.call.Context(), ids)
		if err == nil {
			r.guess(page, newer)
		}
		return err
	}
	done, err := r.Store.Redrive(r.call.Context(), store.Redrive{IDs: ids, From: tidings.Dead, Now: r.call.now,
		Rate: float64(r.in.RatePerSecond), Ahead: r.out.Redriven})
	if err != nil {
		return err
	}
	r.out.Redriven += done.Parked
	r.out.Expired += done.Expired
	r.out.Cancelled += done.Cancelled
	r.out.Skipped += len(page) - done.Parked - done.Expired - done.Cancelled // another redrive was faster
	if !done.Last.IsZero() {
		r.out.LastDueAt = wire.At(done.Last)
	}
	return nil
}

func (r *redrive) guess(page []store.DeadOne, newer map[tidings.DeliveryID]tidings.NotificationID) {
	for _, one := range page {
		due := store.RedriveTurn(r.call.now, r.out.Redriven, float64(r.in.RatePerSecond))
		_, superseded := newer[one.ID]
		switch {
		case !r.call.now.Before(one.ExpiresAt):
			r.out.Expired++
		case one.Cancelled, superseded:
			r.out.Cancelled++
		case !due.Before(one.ExpiresAt):
			r.out.Skipped++
		default:
			r.out.Redriven++
			r.out.LastDueAt = wire.At(due)
		}
	}
}
