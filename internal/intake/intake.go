// Package intake is the only place that makes notifications and deliveries.
//
// It promises that a notification is durable before its result is returned, that equal
// requests give one notification, and that what is refused leaves no trace. It must never call
// a provider.
package intake

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tidings"
	"tidings/internal/admission"
	"tidings/internal/group"
	"tidings/internal/lanes"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// The bounds of what is under way at once.
const (
	roundEvents  = 128                  // single events of one group commit: while they are decided, those of the group before are answered
	roundWait    = 2 * time.Millisecond // longest wait of a single event for others
	waitingPosts = 4096                 // single events that wait for a group; further callers block
	batchEvents  = 250                  // events of a batch that are decided with the same facts
	batchesAtOne = 4                    // batches, dry runs and releases worked on at once
	batchesWait  = 64                   // batches and dry runs that wait for their turn; further ones are refused
	roundTimeout = 30 * time.Second     // for the facts and the commit of one round
	retryAfter   = time.Second          // what callers are told while events cannot be taken
)

// Settings wire an Intake.
type Settings struct {
	Store     *store.Store
	Lanes     *lanes.Lanes
	Door      *admission.Door                           // whether more may come in
	Catalogue func() (*templates.Catalogue, int64)      // the current version
	Version   func(int64) (*templates.Catalogue, error) // a pinned one
	Providers map[tidings.Channel]preferences.Carries   // of the channels with a configured provider
	Zones     *preferences.Zones                        // nil: all users live by UTC
	Spread    time.Duration                             // how far what waited for the same instant is spread after it
	PublicURL string                                    // below which dry runs show links that open nothing; empty: an example
	Defaults  Defaults
	Quota     func(app string, now time.Time) (wait time.Duration) // takes one event of the app's quota; above 0: spent for that long. nil: no quotas
	Metrics   *observe.Metrics
	Log       *slog.Logger
}

// Defaults hold where neither the event nor its type says otherwise.
type Defaults struct {
	ExpiresIn    time.Duration
	DedupeWindow time.Duration
	Retention    time.Duration // how long the detail is kept: what is scheduled must expire within it; 0: 30 days
	Brake        tidings.Cap   // above it, somebody posts in a circle; 0: never
}

// An Intake accepts events. It is safe for concurrent use.
type Intake struct {
	Settings
	urgent    *group.Group[post, outcome]
	bulk      *group.Group[post, outcome]
	outbox    *outbox
	brake     *brake
	waiting   atomic.Int32  // batches and dry runs that wait for a slot or have one
	slots     chan struct{} // holds one for each batch, dry run or release under way
	closing   chan struct{} // closed by Close
	replaying chan struct{} // holds one while a replay runs
	close     sync.Once
}

// A post is an event on its way in.
type post struct {
	event *Event
	began time.Time
}

// An outcome is what became of one event: a result, or an error when it is not known to be durable.
type outcome struct {
	result Result
	err    error
}

// New starts an Intake; Close ends it.
func New(s Settings) *Intake {
	in := &Intake{
		Settings:  s,
		outbox:    newOutbox(s),
		brake:     newBrake(),
		slots:     make(chan struct{}, batchesAtOne),
		closing:   make(chan struct{}),
		replaying: make(chan struct{}, 1),
	}
	bounds := group.Config{Max: roundEvents, Wait: roundWait, Queue: waitingPosts}
	in.urgent = group.New(bounds, in.flush(store.Urgent))
	in.bulk = group.New(bounds, in.flush(store.Background))
	return in
}

// Close waits for what is under way and refuses what comes later as not_ready.
func (in *Intake) Close() {
	in.close.Do(func() {
		close(in.closing)
		in.urgent.Close()
		in.bulk.Close()
		for range batchesAtOne {
			in.slots <- struct{}{}
		}
		in.outbox.close()
	})
}

// Post takes one event; it is grouped with others for the commit. An error means that it is not
// known to be durable; a refusal is in the Result.
func (in *Intake) Post(ctx context.Context, e Event) (Result, error) {
	if e.DryRun {
		return first(in.PostBatch(ctx, []Event{e}))
	}
	g, began := in.groupOf(&e), time.Now()
	if in.crowded(&e, g) {
		o := outcome{result: Result{Refusal: notReady()}}
		in.observe(o, began)
		return o.result, nil
	}
	o, err := g.Do(ctx, post{event: &e, began: began})
	switch {
	case errors.Is(err, group.ErrClosed):
		return Result{Refusal: notReady()}, nil
	case err != nil:
		return Result{}, err
	}
	return o.result, o.err
}

// PostBatch takes up to 1000 events, each for itself. An error means that none of them is known
// to be durable; one that alone is not is refused as not_ready.
func (in *Intake) PostBatch(ctx context.Context, events []Event) ([]Result, error) {
	began := time.Now()
	defer in.waiting.Add(-1)
	if in.waiting.Add(1) > batchesAtOne+batchesWait {
		return refuseAll(len(events)), nil
	}
	release, err := in.slot(ctx)
	if errors.Is(err, group.ErrClosed) {
		return refuseAll(len(events)), nil
	}
	if err != nil {
		return nil, err
	}
	defer release()
	results := make([]Result, 0, len(events))
	var failed error
	durable := false
	for len(events) > 0 {
		n := min(len(events), batchEvents)
		for _, o := range in.round(ctx, in.classOf(events[:n]), posts(events[:n], began)) {
			if o.err != nil {
				failed, o.result = o.err, Result{Refusal: notReady()}
			}
			durable = durable || o.err == nil
			results = append(results, o.result)
		}
		events = events[n:]
	}
	if !durable && failed != nil {
		return nil, failed
	}
	return results, nil
}

// slot waits for its turn among the batches under way; release ends it.
func (in *Intake) slot(ctx context.Context) (release func(), err error) {
	select {
	case <-in.closing:
		return nil, group.ErrClosed
	default:
	}
	select {
	case in.slots <- struct{}{}:
		return func() { <-in.slots }, nil
	case <-in.closing:
		return nil, group.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// flush is how a group takes the single events it collected.
func (in *Intake) flush(class store.Class) func([]post) ([]outcome, error) {
	return func(posts []post) ([]outcome, error) {
		return in.round(context.Background(), class, posts), nil
	}
}

// groupOf is the group that an event is committed with. Unknown types are refused there as well.
func (in *Intake) groupOf(e *Event) *group.Group[post, outcome] {
	catalogue, _ := in.Catalogue()
	if t := catalogue.Events[e.Type]; t != nil && t.Priority == tidings.Urgent {
		return in.urgent
	}
	return in.bulk
}

// classOf is the class of a batch: urgent when all of it is, else it waits as bulk does.
func (in *Intake) classOf(events []Event) store.Class {
	for i := range events {
		if in.groupOf(&events[i]) == in.bulk {
			return store.Background
		}
	}
	return store.Urgent
}

func posts(events []Event, began time.Time) []post {
	list := make([]post, len(events))
	for i := range events {
		list[i] = post{event: &events[i], began: began}
	}
	return list
}

func first(results []Result, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}
