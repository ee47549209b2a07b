package intake

import (
	"errors"
	"math/rand/v2"
	"time"

	"tidings"
	"tidings/internal/admission"
	"tidings/internal/lanes"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// decide decides the open items in their order. What one of them changes of a user counts for those after it.
func (r *round) decide() {
	for n := range r.items {
		i := &r.items[n]
		if i.settled || r.follows(i) {
			continue
		}
		r.decideOne(i, n)
		if i.acceptance != nil && i.remembers() {
			r.keys[i.key()] = i
		}
	}
}

// follows reports whether an earlier item of the round is to be accepted under the same key.
func (r *round) follows(i *item) bool {
	if !i.remembers() {
		return false
	}
	i.leader = r.keys[i.key()]
	return i.leader != nil
}

// decideOne refuses an item, answers it if it is a dry run, or makes its acceptance.
func (r *round) decideOne(i *item, n int) {
	now := r.instant(i)
	p, refusal := r.people[i.User.ID].with(i.User, now)
	if refusal != nil {
		i.refuse(refusal)
		return
	}
	r.in.Zones.Place(&p.facts)
	if refusal := r.schedule(i, &p.facts); refusal != nil {
		i.refuse(refusal)
		return
	}
	expires := r.expiry(i)
	p.facts.Told, p.facts.Braked, p.facts.Counted = r.toldOf(i), r.braked(i), r.now
	request := preferences.Request{
		Event: i.kind, Channels: i.Channels, SendAt: i.sendAt, Shifted: i.shifted, ExpiresAt: expires, Thread: i.kind.ThreadOf(i.Data),
	}
	decisions := preferences.Decide(request, p.facts, now)
	if i.DryRun {
		decisions = r.joins(i, &request, p.facts, decisions, now)
	}
	// One microsecond apart, so that the ids of a round sort in the order of its events.
	id := tidings.NewNotificationID(r.now.Add(time.Duration(n) * time.Microsecond))
	rendered, refusal := r.render(i, templates.Input{
		Data: i.Data, User: p.facts.User, Type: i.Type, At: now, Notification: id, Links: r.in.exampleLinks(),
	}, decisions)
	if refusal != nil {
		i.refuse(refusal)
		return
	}
	if i.DryRun {
		i.settle(Result{Status: status(decisions), Decisions: decisions, Rendered: rendered, Explained: preferences.Explain(request, p.facts, now)})
		return
	}
	a := &store.Acceptance{
		Notification: tidings.Notification{
			ID: id, App: i.App, Test: i.Test, Type: i.Type, UserID: i.User.ID, Category: i.kind.Category.Name,
			CatalogVersion: r.version, DedupeKey: i.DedupeKey, CollapseKey: i.CollapseKey,
			Data: i.Data, Sensitive: i.kind.Sensitive, Decisions: decisions, AcceptedAt: r.now, ExpiresAt: expires,
		},
	}
	if i.remembers() {
		window := firstSet(i.kind.DedupeWindow, r.in.Defaults.DedupeWindow)
		a.Dedupe = &store.Dedupe{Hash: i.Hash, ExpiresAt: r.now.Add(window)}
	}
	expand(a, i.kind, decisions, &r.room, r.now)
	r.in.spread(a.Holds, &a.Notification, i.sendAt)
	a.Count, a.Join = r.in.counting(a, request, &p.facts, now), joining(a, i.kind, now)
	if refusal := r.admit(i, a); refusal != nil {
		i.refuse(refusal)
		return
	}
	r.people[i.User.ID] = &p
	i.acceptance = a
}

// render proves that every channel which sends or holds will render, and that nothing is missing
// in the data for any channel asked for, so that a faulty event is refused whoever it is for. It
// keeps what a dry run shows.
func (r *round) render(i *item, in templates.Input, decisions []tidings.Decision) (map[tidings.Channel]tidings.Content, *Refusal) {
	var rendered map[tidings.Channel]tidings.Content
	if i.DryRun {
		rendered = make(map[tidings.Channel]tidings.Content, len(decisions))
	}
	for _, d := range decisions {
		if d.Reason == tidings.ReasonNotRequested {
			continue
		}
		goes := d.Action != tidings.ActionSuppress
		content, err := r.catalogue.Render(i.Type, d.Channel, in)
		if refusal := unrenderable(err); refusal != nil && (goes || refusal.Code == templates.CodeMissingData) {
			return nil, refusal
		}
		if d.Reason == tidings.ReasonDigested {
			if refusal := r.renderPair(i, d.Channel, in); refusal != nil {
				return nil, refusal
			}
		}
		if i.DryRun && goes {
			rendered[d.Channel] = content
		}
	}
	return rendered, nil
}

func unrenderable(err error) *Refusal {
	if err == nil {
		return nil
	}
	var e *templates.RenderError
	if errors.As(err, &e) {
		return &Refusal{Code: e.Code, Pointer: e.Pointer, Detail: e.Error()}
	}
	return &Refusal{Code: "template_error", Detail: err.Error()}
}

// expand writes into an acceptance the deliveries and holds that decisions amount to.
func expand(a *store.Acceptance, event *tidings.EventType, decisions []tidings.Decision, room *rooms, now time.Time) {
	var fresh time.Time
	if span := event.Fresh(); span > 0 {
		fresh = now.Add(span)
	}
	for n := range decisions {
		d := &decisions[n]
		switch d.Action {
		case tidings.ActionSend:
			// More addresses than a notification can have deliveries: the oldest are left out, and not counted as sent to.
			d.To = d.To[max(0, len(d.To)-(tidings.MaxDeliveries-len(a.Deliveries))):]
			d.Addresses = len(d.To)
			lane := tidings.LaneOf(d.Channel, event.Priority)
			s := tidings.Parked
			if room.take(a.Notification.App, lane, len(d.To)) {
				s = tidings.Queued
			}
			for _, address := range d.To {
				a.Deliveries = append(a.Deliveries, store.NewDelivery{Lane: lane, Address: address.ID, Status: s, DueAt: now, FreshUntil: fresh})
			}
		case tidings.ActionHold:
			a.Holds = append(a.Holds, holdFor(a.Notification.ID, d, now))
		}
	}
}

// holdFor is the hold that a decision amounts to.
func holdFor(id tidings.NotificationID, d *tidings.Decision, now time.Time) tidings.Hold {
	return tidings.Hold{
		ID: tidings.NewHoldID(now), Notification: id, Channel: d.Channel, Reason: d.Reason, Until: d.Until, State: tidings.HoldWaiting,
	}
}

// status is how a notification stands right after these decisions.
func status(decisions []tidings.Decision) tidings.NotificationStatus {
	best := tidings.NotificationSuppressed
	for _, d := range decisions {
		switch d.Action {
		case tidings.ActionSend:
			return tidings.NotificationAccepted
		case tidings.ActionHold:
			best = tidings.NotificationHeld
		}
	}
	return best
}

// rooms is how much of each lane's room a round has not used yet.
type rooms struct {
	lanes *lanes.Lanes
	door  *admission.Door
	left  map[tidings.Lane]int
	over  map[part]bool // apps that have their share of a lane
}

// A part is an app's part of a lane.
type part struct {
	app  string
	lane tidings.Lane
}

// take takes room for n deliveries of an app, if the lane has it and the app not its share. Once
// a lane has refused, it refuses for the rest of the round, so that later events do not overtake
// earlier ones.
func (r *rooms) take(app string, lane tidings.Lane, n int) bool {
	if r.left == nil {
		r.left = map[tidings.Lane]int{}
	}
	mine := part{app, lane}
	if !r.over[mine] && r.door.Direct(app, lane, n) {
		return r.takeFrom(lane, n)
	}
	if r.over == nil {
		r.over = map[part]bool{}
	}
	r.over[mine] = true
	return false
}

func (r *rooms) takeFrom(lane tidings.Lane, n int) bool {
	left, asked := r.left[lane]
	if !asked {
		left = r.lanes.Room(lane)
	}
	if n > left {
		r.left[lane] = 0
		return false
	}
	r.left[lane] = left - n
	return true
}

// spread sets when the holds of an acceptance are decided again: what is scheduled at its time,
// with the facts of then; what waited for the same instant as many others somewhat later. A digest
// is decided when it closes.
func (in *Intake) spread(holds []tidings.Hold, of *tidings.Notification, sendAt time.Time) {
	for n := range holds {
		switch h := &holds[n]; {
		case !h.DueAt.IsZero(), h.Reason == tidings.ReasonDigested, h.Reason == tidings.ReasonScheduled:
		case !sendAt.IsZero() && sendAt.Before(h.Until) && sendAt.After(of.AcceptedAt):
			h.DueAt = sendAt
		default:
			h.DueAt = preferences.Release(h.Until, of.ExpiresAt, in.Spread, rand.Float64())
		}
	}
}
