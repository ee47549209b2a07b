package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/admission"
	"tidings/internal/store"
	"tidings/templates"
)

// A round takes a group of events from the request to the log: what was accepted before is
// found, the facts of all users are loaded, each event is decided in order on top of the ones
// before it, and all that is accepted is committed together.
type round struct {
	in                   *Intake
	class                store.Class
	now                  time.Time
	catalogue            *templates.Catalogue
	version              int64
	items                []item
	people               map[string]*person
	counters             map[store.CounterKey][]time.Time       // of dry runs
	open                 map[store.Gathering][]store.OpenDigest // of dry runs
	keys                 map[key]*item                          // the first item of the round with that key that may be accepted
	room                 rooms
	noBulkSpace, noSpace *admission.Refusal // why bulk work, and why any, cannot be stored now
	again                int                // how often its events were taken through a round before, which counted them
}

// An item is an event on its way through a round.
type item struct {
	*Event
	began      time.Time
	kind       *tidings.EventType
	sendAt     time.Time // not before it; zero: at once
	shifted    bool      // sendAt is later than the event says, since the user's clock is put forward over that
	settled    bool      // out stands
	out        outcome
	leader     *item // an earlier item of the round with the same dedupe key, to be accepted first
	raced      bool  // another process accepted the key meanwhile
	outdated   bool  // its user was changed meanwhile, so it must be decided again
	acceptance *store.Acceptance
	demands    []admission.Demand // that the door let in
}

// A key is what callers' dedupe keys are unique in.
type key struct {
	app  string
	test bool
	key  string
}

func (i *item) settle(r Result)      { i.settled, i.out = true, outcome{result: r} }
func (i *item) refuse(r *Refusal)    { i.settle(Result{Refusal: r}) }
func (i *item) fail(err error)       { i.settled, i.out = true, outcome{err: err} }
func (i *item) remembers() bool      { return i.DedupeKey != "" && !i.DryRun }
func (i *item) key() key             { return key{i.App, i.Test, i.DedupeKey} }
func (i *item) same(h [32]byte) bool { return i.Hash == h }

// round takes posts through one round. The end of ctx does not stop it, for its work is shared.
func (in *Intake) round(ctx context.Context, class store.Class, posts []post) []outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTimeout)
	defer cancel()
	r := in.newRound(class, posts)
	r.run(ctx)
	outcomes := make([]outcome, len(posts))
	for n := range r.items {
		outcomes[n] = r.items[n].out
		in.observe(outcomes[n], posts[n].began)
	}
	return outcomes
}

func (in *Intake) newRound(class store.Class, posts []post) *round {
	catalogue, version := in.Catalogue()
	r := &round{
		in: in, class: class, now: time.Now().UTC().Truncate(time.Microsecond),
		catalogue: catalogue, version: version,
		items: make([]item, len(posts)),
		keys:  map[key]*item{},
		room:  rooms{lanes: in.Lanes, door: in.Door},
	}
	r.noBulkSpace, r.noSpace = in.Door.Space()
	for n, p := range posts {
		r.items[n].Event, r.items[n].began = p.event, p.began
	}
	return r
}

func (r *round) run(ctx context.Context) {
	if err := r.recall(ctx); err != nil {
		r.failOpen(fmt.Errorf("look up dedupe keys: %w", err))
		return
	}
	r.check()
	if err := r.meet(ctx); err != nil {
		r.failOpen(fmt.Errorf("load facts: %w", err))
		return
	}
	for _, load := range []func(context.Context) error{r.told, r.gathered} {
		if err := load(ctx); err != nil {
			r.failOpen(err)
			return
		}
	}
	r.decide()
	r.commit(ctx)
	r.follow(ctx)
	r.describe(ctx)
}

// recall settles the items whose key was accepted before.
func (r *round) recall(ctx context.Context) error {
	asked := map[key][]string{} // by app and mode
	for n := range r.items {
		if i := &r.items[n]; i.remembers() {
			k := key{app: i.App, test: i.Test}
			asked[k] = append(asked[k], i.DedupeKey)
		}
	}
	for k, keys := range asked {
		remembered, err := r.in.Store.Remembered(ctx, k.app, k.test, keys, r.now)
		if err != nil {
			return err
		}
		for n := range r.items {
			i := &r.items[n]
			if m, ok := remembered[i.DedupeKey]; ok && i.remembers() && i.App == k.app && i.Test == k.test {
				i.replay(m.ID, i.same(m.Hash))
			}
		}
	}
	return nil
}

// replay answers an item whose key belongs to an accepted notification.
func (i *item) replay(first tidings.NotificationID, same bool) {
	if same {
		i.settle(Result{ID: first, Duplicate: true})
		return
	}
	i.refuse(dedupeConflict())
}

// meet loads the facts about all users of the round in one query, and what is known of the contacts that they bring.
func (r *round) meet(ctx context.Context) error {
	r.people = map[string]*person{}
	var users []string
	for n := range r.items {
		i := &r.items[n]
		if !i.settled && r.people[i.User.ID] == nil {
			r.people[i.User.ID] = &person{}
			users = append(users, i.User.ID)
		}
	}
	if len(users) == 0 {
		return nil
	}
	facts, damaged, err := r.in.Store.Facts(ctx, users)
	if err != nil {
		return err
	}
	r.refuseDamaged(damaged)
	for id, p := range r.people {
		if f := facts[id]; f != nil {
			p.facts, p.seen = *f, f.User
		}
		p.facts.Providers = r.in.Providers
	}
	return r.meetContacts(ctx)
}

// meetContacts finds out to which of the contacts that the events bring nothing may be sent.
func (r *round) meetContacts(ctx context.Context) error {
	var brought []store.Contact
	for n := range r.items {
		if i := &r.items[n]; !i.settled {
			brought = r.people[i.User.ID].brings(i.User, brought)
		}
	}
	if len(brought) == 0 {
		return nil
	}
	suppressed, err := r.in.Store.Suppressions(ctx, brought)
	for _, p := range r.people {
		p.suppressed = suppressed
	}
	return err
}

// refuseDamaged refuses the events of users whose stored preferences cannot be read: they may have
// refused them. Those of all others go on.
func (r *round) refuseDamaged(users []string) {
	if len(users) == 0 {
		return
	}
	events := 0
	for n := range r.items {
		if i := &r.items[n]; !i.settled && slices.Contains(users, i.User.ID) {
			i.refuse(&Refusal{Code: "internal", Detail: "the stored preferences of this user are damaged, so nobody knows what may be sent; set them anew"})
			events++
		}
	}
	r.in.Log.Error("stored preferences are damaged", "users", len(users), "events_refused", events)
}

// failOpen fails every item that is not settled.
func (r *round) failOpen(err error) {
	for n := range r.items {
		if i := &r.items[n]; !i.settled {
			i.fail(err)
		}
	}
}
