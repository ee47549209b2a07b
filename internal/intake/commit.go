package intake

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tidings"
	"tidings/internal/store"
)

var (
	errAnswers  = errors.New("the log did not answer for each notification")
	errRestless = errors.New("the user is changed all the time")
)

// maxRounds bounds how often an event is decided again because its user has changed meanwhile.
const maxRounds = 20

// commit writes what is to be accepted and hands what is queued to the outbox.
func (r *round) commit(ctx context.Context) {
	var items []*item
	var group []store.Acceptance
	for n := range r.items {
		if i := &r.items[n]; i.acceptance != nil {
			r.people[i.User.ID].into(i.acceptance)
			items = append(items, i)
			group = append(group, *i.acceptance)
		}
	}
	accepted := r.in.write(ctx, r.class, group)
	for n, i := range items {
		r.settleDemands(i, accepted[n])
		if errors.Is(accepted[n].Err, store.ErrChanged) {
			i.outdated = true
			continue
		}
		if accepted[n].Err != nil {
			i.fail(fmt.Errorf("store event: %w", accepted[n].Err))
			continue
		}
		accepted[n].Into(i.acceptance)
		i.accepted(accepted[n])
	}
	r.in.outbox.send(group, accepted, r.now)
}

// accepted settles an item by what the log made of it.
func (i *item) accepted(a store.Accepted) {
	n := &i.acceptance.Notification
	switch {
	case a.ID != n.ID && (a.Duplicate || a.Conflict):
		i.raced = true
		i.replay(a.ID, a.Duplicate)
	default: // written now, or by a commit whose answer was lost
		i.settle(Result{ID: n.ID, Status: status(n.Decisions), Decisions: n.Decisions})
	}
}

// write commits a group: each answer stands at its acceptance's place, with an error where that
// is not known to be written. The acceptances are then what was written of them.
func (in *Intake) write(ctx context.Context, class store.Class, group []store.Acceptance) []store.Accepted {
	if len(group) == 0 {
		return nil
	}
	accepted, err := in.Store.Accept(ctx, class, group)
	if len(accepted) == len(group) {
		for n := range accepted {
			accepted[n].Into(&group[n])
		}
		return accepted
	}
	return slices.Repeat([]store.Accepted{{Err: cmp.Or(err, errAnswers)}}, len(group))
}

// follow settles the items that wait for an earlier one with the same key. Where another process
// was faster than that one, they are taken through a round of their own, and so is what was
// decided for a user who is not as was thought.
func (r *round) follow(ctx context.Context) {
	var again []*item
	var posts []post
	for n := range r.items {
		i := &r.items[n]
		switch leader := i.leader; {
		case leader == nil && !i.outdated:
		case leader != nil && leader.out.err != nil:
			i.fail(leader.out.err)
		case i.outdated && r.again == maxRounds:
			i.fail(errRestless)
		case i.outdated, leader.raced, leader.outdated:
			again, posts = append(again, i), append(posts, post{event: i.Event, began: i.began})
		case i.same(leader.Hash):
			i.settle(leader.out.result)
			i.out.result.Duplicate = true
		default:
			i.refuse(dedupeConflict())
		}
	}
	if len(posts) == 0 {
		return
	}
	next := r.in.newRound(r.class, posts)
	next.again = r.again + 1
	next.run(ctx)
	for n, i := range again {
		i.settled, i.out = true, next.items[n].out
	}
}

// describe adds to the results of duplicates how their notification stands. It is a courtesy: a
// failure leaves the id alone, which is what callers need.
func (r *round) describe(ctx context.Context) {
	repeated := map[tidings.NotificationID]bool{}
	for n := range r.items {
		if res := &r.items[n].out.result; res.Duplicate && res.Status == "" {
			repeated[res.ID] = true
		}
	}
	if len(repeated) == 0 {
		return
	}
	ids := slices.SortedFunc(maps.Keys(repeated), func(a, b tidings.NotificationID) int { return bytes.Compare(a[:], b[:]) })
	standings, err := r.in.Store.Standings(ctx, ids, r.now)
	if err != nil {
		r.in.Log.Warn("standing of repeated requests is not known", "error", err)
		return
	}
	for n := range r.items {
		res := &r.items[n].out.result
		if s, ok := standings[res.ID]; ok && res.Duplicate && res.Status == "" {
			res.Status, res.Decisions = s.Status, s.Decisions
		}
	}
}
