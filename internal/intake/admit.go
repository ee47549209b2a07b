package intake

import (
	"slices"

	"tidings"
	"tidings/internal/admission"
	"tidings/internal/group"
	"tidings/internal/store"
)

// hasSpace refuses what could not be stored. Dry runs and repeats store nothing.
func (r *round) hasSpace(i *item) *Refusal {
	switch {
	case i.DryRun:
		return nil
	case i.kind.Priority == tidings.Urgent:
		return refusalOf(r.noSpace)
	}
	return refusalOf(r.noBulkSpace)
}

// admit lets the work of an event into its lanes, or says why not. An event is taken as a whole:
// where one of its lanes is full it is refused, since a yes would be a promise for each channel.
// A lane that it does not use never counts.
func (r *round) admit(i *item, a *store.Acceptance) *Refusal {
	i.demands = demandsOf(a, i.kind.Priority)
	refusal := r.in.Door.Enter(i.App, classOf(i.kind, a.Notification.Decisions), i.demands)
	if refusal != nil {
		i.demands = nil
	}
	return refusalOf(refusal)
}

// settleDemands tells the door what became of what it let in.
func (r *round) settleDemands(i *item, a store.Accepted) {
	committed := a.Err == nil && !a.Duplicate && !a.Conflict
	r.in.Door.Settle(i.App, i.demands, committed)
}

// demandsOf is what an acceptance wants to put into each lane: its deliveries, and nothing but a
// look where it waits for a digest.
func demandsOf(a *store.Acceptance, p tidings.Priority) []admission.Demand {
	var all []admission.Demand
	add := func(lane tidings.Lane, n int) {
		if at := slices.IndexFunc(all, func(d admission.Demand) bool { return d.Lane == lane }); at >= 0 {
			all[at].Deliveries += n
			return
		}
		all = append(all, admission.Demand{Lane: lane, Deliveries: n})
	}
	for _, d := range a.Deliveries {
		add(d.Lane, 1)
	}
	for _, h := range a.Holds {
		if h.Reason == tidings.ReasonDigested {
			add(tidings.LaneOf(h.Channel, p), 0)
		}
	}
	return all
}

// classOf is how early an event is refused under pressure.
func classOf(kind *tidings.EventType, decisions []tidings.Decision) admission.Class {
	c := admission.ClassOf(kind.Category.Kind)
	digested := slices.ContainsFunc(decisions, func(d tidings.Decision) bool { return d.Reason == tidings.ReasonDigested })
	if digested && c == admission.Transactional {
		return admission.Digest
	}
	return c
}

func refusalOf(r *admission.Refusal) *Refusal {
	if r == nil {
		return nil
	}
	return &Refusal{Code: r.Code, Detail: r.Detail, After: r.After}
}

// crowded refuses a single event while too many others wait for their commit: the writer does not
// keep up, and callers are better told than kept waiting. Critical events always wait.
func (in *Intake) crowded(e *Event, g *group.Group[post, outcome]) bool {
	catalogue, _ := in.Catalogue()
	kind := catalogue.Events[e.Type]
	return kind != nil && !classOf(kind, nil).Fits(g.Waiting(), waitingPosts)
}
