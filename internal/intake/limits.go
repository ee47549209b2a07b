package intake

import (
	"context"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// counting is what accept asks once the counters of an acceptance are locked: the same decision,
// this time with what the limits have counted. nil: nothing would be sent, or nothing limits it. The
// acceptance was decided as if nobody had been told anything.
func (in *Intake) counting(a *store.Acceptance, request preferences.Request, facts *preferences.Facts, now time.Time) *store.Count {
	if len(request.Event.Limits) == 0 || len(a.Deliveries) == 0 || request.Continued {
		return nil
	}
	return &store.Count{
		Scopes: in.scopes(request.Event),
		Decide: func(a *store.Acceptance, told map[string][]time.Time) *store.Decided {
			f := *facts
			f.Told = told
			left := narrow(a, preferences.Decide(request, f, now), now)
			if left != nil {
				in.spread(left.Holds, &a.Notification, request.SendAt)
			}
			return left
		},
	}
}

// scopes is what to count for the limits of an event type. What the current catalogue has to know
// is kept too, where the notification is decided by an older one.
func (in *Intake) scopes(kind *tidings.EventType) []store.CountScope {
	limits := kind.Limits
	catalogue, _ := in.Catalogue()
	if current := catalogue.Events[kind.Name]; current != nil && current != kind {
		limits = slices.Concat(limits, current.Limits)
	}
	var scopes []store.CountScope
	for _, l := range limits {
		n := slices.IndexFunc(scopes, func(s store.CountScope) bool { return s.Scope == l.Scope })
		if n < 0 {
			scopes = append(scopes, store.CountScope{Scope: l.Scope, Keep: l.Count, Per: l.Per})
			continue
		}
		scopes[n].Keep, scopes[n].Per = max(scopes[n].Keep, l.Count), max(scopes[n].Per, l.Per)
	}
	return scopes
}

// narrow is what is left of an acceptance once it was decided again: a channel that would send may
// wait or stop. nil: all of it.
func narrow(a *store.Acceptance, again []tidings.Decision, now time.Time) *store.Decided {
	n := &a.Notification
	d := &store.Decided{Decisions: slices.Clone(n.Decisions), Holds: slices.Clone(a.Holds)}
	stopped := map[tidings.Channel]bool{}
	for i := range d.Decisions {
		before := &d.Decisions[i]
		at := slices.IndexFunc(again, func(o tidings.Decision) bool { return o.Channel == before.Channel })
		if before.Action != tidings.ActionSend || at < 0 || again[at].Action == tidings.ActionSend {
			continue
		}
		*before, stopped[before.Channel] = again[at], true
		if before.Action == tidings.ActionHold {
			d.Holds = append(d.Holds, holdFor(n.ID, before, now))
		}
	}
	if len(stopped) == 0 {
		return nil
	}
	for _, delivery := range a.Deliveries {
		if !stopped[delivery.Lane.Channel()] {
			d.Deliveries = append(d.Deliveries, delivery)
		}
	}
	return d
}

// told gives dry runs what limits have counted so far; whatever is written reads it under a lock.
func (r *round) told(ctx context.Context) error {
	var keys []store.CounterKey
	for n := range r.items {
		i := &r.items[n]
		if i.settled || !i.DryRun {
			continue
		}
		for _, l := range i.kind.Limits {
			keys = append(keys, store.CounterKey{User: i.User.ID, Test: i.Test, Scope: l.Scope})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	var err error
	r.counters, err = r.in.Store.Told(ctx, keys)
	return err
}

// toldOf is what was told to the user of a dry run, by scope.
func (r *round) toldOf(i *item) map[string][]time.Time {
	if !i.DryRun || len(i.kind.Limits) == 0 {
		return nil
	}
	told := make(map[string][]time.Time, len(i.kind.Limits))
	for _, l := range i.kind.Limits {
		told[l.Scope] = r.counters[store.CounterKey{User: i.User.ID, Test: i.Test, Scope: l.Scope}]
	}
	return told
}
