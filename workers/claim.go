package workers

import (
	"math/rand/v2"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

const (
	// busy is how long a delivery is parked that lost the race for a permit.
	busy = 100 * time.Millisecond
	// noCatalogue is how long a delivery is parked whose catalogue version cannot be had.
	noCatalogue = 10 * time.Second
)

// claim claims the tickets' deliveries and lets those that may go out go their way. The others
// are settled by then. On an error all tickets are as they were; what the log claimed all the
// same is closed as unknown when its lease is over. seized is the number of the claim that one
// delivery has already; 0: none.
func (s *sender) claim(batch []ticket, seized int) error {
	began := time.Now()
	p := plan{s: s, now: began.UTC().Truncate(time.Microsecond), calls: make(map[tidings.DeliveryID]*call, len(batch)),
		ended: map[tidings.DeliveryID]ending{}}
	claimed, err := s.w.Store.Claim(s.w.calls, s.class, store.ClaimRequest{
		Lane: s.lane, IDs: distinct(batch), Now: p.now, Lease: s.w.Config.Delivery.Lease, Seized: seized, Check: p.check, Stale: p.stale, PutOff: s.w.release,
	})
	if err != nil {
		p.giveBack()
		return err
	}
	s.w.live.add(claimed)
	s.pace.tokens.use(float64(len(claimed)))
	s.open.Add(int32(len(claimed)))
	s.calls.Add(int32(len(claimed)))
	calls := make([]*call, len(claimed))
	for i := range claimed {
		id := claimed[i].Delivery.ID
		calls[i] = p.calls[id]
		calls[i].Claimed, calls[i].claimedAt = claimed[i], began
		delete(p.calls, id)
	}
	p.giveBack()
	s.assign(batch, calls)
	s.reach.claimed(len(claimed), s.count(p.ended, p.now), time.Now())
	for _, c := range calls {
		s.w.inFlight.Go(func() { s.deliver(c) })
	}
	return nil
}

func distinct(batch []ticket) []tidings.DeliveryID {
	ids := make([]tidings.DeliveryID, 0, len(batch))
	seen := make(map[tidings.DeliveryID]struct{}, len(batch))
	for _, t := range batch {
		if _, again := seen[t.id]; !again {
			seen[t.id] = struct{}{}
			ids = append(ids, t.id)
		}
	}
	return ids
}

// assign gives each call its ticket and settles the tickets without one.
func (s *sender) assign(batch []ticket, calls []*call) {
	byID := make(map[tidings.DeliveryID]*call, len(calls))
	for _, c := range calls {
		byID[c.Delivery.ID] = c
	}
	for _, t := range batch {
		if c := byID[t.id]; c != nil && c.from == nil {
			c.from = t.from
			continue
		}
		s.hands.settle(t.from, 1)
	}
}

// An ending is what a check gave a delivery instead of a claim.
type ending struct {
	status tidings.Status
	due    time.Time
}

// count counts what ended in the check, and looks after what was put off, of which it says how much.
func (s *sender) count(ended map[tidings.DeliveryID]ending, now time.Time) (putOff int) {
	finished := 0
	for _, e := range ended {
		if e.status == tidings.Parked {
			putOff++
			s.w.dispatch.wakeLane(s.lane, e.due)
			continue
		}
		finished++
	}
	s.meter.add(finished, now)
	return putOff
}

// A call is a claimed delivery on its way to a provider.
type call struct {
	store.Claimed
	catalogue *templates.Catalogue
	event     *tidings.EventType
	gate      *gate
	permit    *permit         // nil: no call will be made, since the notification is a test
	others    int             // candidates left to try now
	elsewhere int             // candidates left to try at all
	stale     []store.Leaving // of a digest: what it is not to tell of any more
	claimedAt time.Time
	called    bool // the provider was called
	from      *held
}

// A plan gathers what the check of a claim decides: for each delivery its provider, with a
// permit in hand before the claim commits. The check runs inside the log's transaction, maybe
// more than once.
type plan struct {
	s     *sender
	now   time.Time
	calls map[tidings.DeliveryID]*call
	ended map[tidings.DeliveryID]ending
}

func (p *plan) check(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
	if again := p.calls[c.Delivery.ID]; again != nil && again.permit != nil {
		again.permit.giveBack()
	}
	delete(p.calls, c.Delivery.ID)
	status, reason, due := p.unharmed(c)
	if status == "" {
		delete(p.ended, c.Delivery.ID)
	} else {
		p.ended[c.Delivery.ID] = ending{status, due}
	}
	return status, reason, due
}

func (p *plan) decide(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
	catalogue, err := p.s.w.Catalogue(c.Notification.CatalogVersion)
	if err != nil {
		p.s.w.Log.Error("catalogue is missing", "version", c.Notification.CatalogVersion, "error", err)
		return tidings.Parked, "", p.now.Add(noCatalogue)
	}
	event := catalogue.Events[c.Notification.Type]
	if event == nil {
		return tidings.Failed, tidings.ReasonTemplateError, time.Time{}
	}
	recheck := p.s.w.recheck(c, event)
	v, stale := checked(c, recheck, p.now)
	if v.status != "" {
		c.Cause = preferences.Why(recheck, v.reason, p.now)
		return v.status, v.reason, v.due
	}
	return p.route(c, &call{catalogue: catalogue, event: event, stale: stale})
}

func (w *Workers) recheck(c *store.Claimed, event *tidings.EventType) preferences.Recheck {
	var called []*time.Location
	if c.Delivery.Channel == tidings.SMS {
		called = w.Zones.Called(&c.User, c.Address.Value)
	}
	return preferences.Recheck{
		Called: called,
		Event:  event, Channel: c.Delivery.Channel, Thread: event.ThreadOf(c.Notification.Newest()),
		Preferences: c.Preferences, Zone: w.Zones.Of(&c.User), Address: c.Address, Owner: c.Notification.UserID, Suppressed: c.Suppressed,
		ExpiresAt: c.Notification.ExpiresAt, Cancelled: !c.Notification.CancelledAt.IsZero(),
	}
}

// release is when a delivery is due that quiet hours put off until an instant.
func (w *Workers) release(until, expires time.Time) time.Time {
	return preferences.Release(until, expires, w.Config.Delivery.ReleaseSpread, rand.Float64())
}

// route chooses the provider and takes its permit.
func (p *plan) route(c *store.Claimed, to *call) (tidings.Status, tidings.Reason, time.Time) {
	w := p.s.w
	left := untried(w.router.candidates(c.Delivery.ID, &c.Address), c.Delivery.Tried)
	if len(left) == 0 { // all were tried: begin again
		left = w.router.candidates(c.Delivery.ID, &c.Address)
	}
	if len(left) == 0 {
		if w.router.serves(c.Address.Channel) {
			c.Cause = tidings.CauseRoute
		}
		return tidings.Dead, tidings.ReasonNoProvider, time.Time{}
	}
	to.elsewhere = len(left) - 1
	for _, name := range left {
		switch shut, _ := w.gates[name].shut(p.now); {
		case shut && !c.Notification.Test:
		case to.gate == nil:
			to.gate = w.gates[name]
		default:
			to.others++
		}
	}
	if to.gate == nil {
		return tidings.Parked, "", p.reopening(left, p.s.request(c))
	}
	if !c.Notification.Test {
		if until := to.gate.sparedUntil(c.Address.ID, p.now); !until.IsZero() {
			c.Why = "the provider asked that nothing be sent to this address until " + clock(until, p.now)
			return tidings.Parked, "", until.Add(rand.N(busy))
		}
		permit, again := to.gate.take(p.s.request(c), p.now)
		if permit == nil {
			return tidings.Parked, "", again
		}
		to.permit = permit
	}
	p.calls[c.Delivery.ID] = to
	return "", "", time.Time{}
}

// request is what a permit for a delivery is asked for.
func (s *sender) request(c *store.Claimed) request {
	return request{priority: s.lane.Priority(), retry: repeats(&c.Delivery), tried: c.Delivery.ClaimNo > 0, late: c.Late, queued: c.Delivery.QueuedAt}
}

// repeats reports whether the next call of a delivery repeats one that failed, rather than being
// the first that another provider gets of it.
func repeats(d *tidings.Delivery) bool {
	return d.Tries > 0 && (len(d.Tried) == 0 || d.Tries > len(d.Tried))
}

// reopening is when a delivery should come back whose providers are all left alone: in its turn,
// once the first of them lets something through.
func (p *plan) reopening(names []string, r request) time.Time {
	var first *gate
	var opens time.Time
	for _, name := range names {
		g := p.s.w.gates[name]
		if _, until := g.shut(p.now); first == nil || until.Before(opens) {
			first, opens = g, until
		}
	}
	return first.reopening(r, p.now)
}

// giveBack gives the permits back that no claimed delivery uses.
func (p *plan) giveBack() {
	for _, c := range p.calls {
		if c.permit != nil {
			c.permit.giveBack()
		}
	}
	clear(p.calls)
}

// clock is an instant as the timeline tells it: the time of day, and the day when it is not today.
func clock(t, now time.Time) string {
	t = t.UTC()
	if t.Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
		return t.Format("15:04:05 UTC")
	}
	return t.Format("15:04:05 UTC on 2 January 2006")
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
