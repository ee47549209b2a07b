// Package workers runs what has no caller: the senders of each lane, the dispatcher of what is due
// and the keeper, which deletes what is old.
//
// It promises that nothing is sent without a claim, that permits are taken before the claim,
// and that every claim is recorded. It must never make a notification: released holds go to
// intake.
package workers

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/lanes"
	"tidings/internal/links"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// Config is the operator's part. The tags above, least and most bound what can be set.
type Config struct {
	Delivery Delivery              `yaml:"delivery"`
	Lanes    map[string]LaneConfig `yaml:"lanes"` // by channel ("sms") or lane ("sms.bulk")
	Breaker  Breaker               `yaml:"breaker"`
	// Retention is how long the detail of notifications is kept; categories may say less.
	Retention time.Duration `yaml:"retention" least:"24h"`
}

// Delivery says how deliveries are retried and leased.
type Delivery struct {
	RetryBase    time.Duration `yaml:"retry_base" above:"0"`
	RetryCap     time.Duration `yaml:"retry_cap" above:"0"`
	MaxAttempts  int           `yaml:"max_attempts" least:"1"`
	Lease        time.Duration `yaml:"lease" above:"0"`
	Sweep        time.Duration `yaml:"sweep" above:"0"`
	DedupeWindow time.Duration `yaml:"dedupe_window" least:"1s" most:"720h"`
	ExpiresIn    time.Duration `yaml:"expires_in" least:"1s" most:"720h"`
	// ReleaseSpread is how far what waited for the same instant is spread after it.
	ReleaseSpread time.Duration `yaml:"release_spread" least:"0s" most:"24h"`
}

// LaneConfig says how one lane is worked.
type LaneConfig struct {
	Limit   int           `yaml:"limit" least:"1"`    // deliveries that may wait in the log
	MaxWait time.Duration `yaml:"max_wait" above:"0"` // longest acceptable wait
	Workers int           `yaml:"workers" least:"1"`  // calls at once
	AckWait time.Duration `yaml:"ack_wait" above:"0"`
	// SideRate is how many late deliveries a second, over all processes, go out beside fresh work;
	// when nothing fresh waits there is no limit.
	SideRate float64 `yaml:"side_rate" above:"0"`
}

// Breaker says when a provider is left alone.
type Breaker struct {
	Failures int           `yaml:"failures" least:"1"`
	Window   time.Duration `yaml:"window" above:"0"`
	OpenFor  time.Duration `yaml:"open_for" above:"0"`
	Slow     float64       `yaml:"slow" least:"0" most:"1"` // part of its time-out from which a call counts as a failure; 0: none does
}

// A Provider is a configured provider with what is known of it.
type Provider struct {
	Name        string
	Type        string
	Channel     tidings.Channel
	Traits      channels.Traits
	Provider    channels.Provider
	Timeout     time.Duration
	Concurrency int
	PerSecond   float64 // 0: no limit
}

// A Route lists the providers that may carry a channel to countries (calling codes' ISO names, or "*").
type Route struct {
	Countries []string
	Providers []Weighted
}

// Weighted is a provider of a route: the first is drawn by weight, the rest follow in order.
type Weighted struct {
	Name   string
	Weight int // all zero: strictly in order
}

// Settings wire the workers.
type Settings struct {
	Config    Config
	Store     *store.Store
	Lanes     *lanes.Lanes
	Catalogue func(version int64) (*templates.Catalogue, error)
	Current   func() (*templates.Catalogue, int64) // the version that holds; nil: no category has a retention of its own
	Providers []Provider
	Routes    map[tidings.Channel][]Route // a channel without: its providers in configured order
	Zones     *preferences.Zones          // nil: all users live by UTC
	Links     *links.Signer               // nil: mails carry no links to unsubscribe
	Release   func(ctx context.Context, holds []tidings.Hold, of []tidings.Notification, now time.Time) error
	Digests   func(ctx context.Context, now time.Time) (more bool, err error) // flushes those that are due
	Metrics   *observe.Metrics
	Log       *slog.Logger
}

// Workers are the running senders and the dispatcher.
type Workers struct {
	Settings
	router   *router
	gates    map[string]*gate
	senders  map[tidings.Lane]*sender
	dispatch *dispatcher
	recorder map[store.Class]*recorder
	live     live
	crew     *crew

	stopping atomic.Bool
	skew     atomic.Int64 // of this clock to the log's, as an amount in nanoseconds

	calls    context.Context // of the provider calls; ends when Stop runs out of time
	endCalls context.CancelFunc
	stop     context.CancelFunc // ends the loops
	loops    sync.WaitGroup     // senders and dispatcher
	beats    sync.WaitGroup     // heartbeats of entries in hand
	endBeats context.CancelFunc
	inFlight sync.WaitGroup // deliveries between claim and record
}

// Start starts them; Stop ends them. Spans that contradict each other are refused.
func Start(ctx context.Context, s Settings) (*Workers, error) {
	if err := s.Config.validateWith(s.Providers); err != nil {
		return nil, err
	}
	router, err := newRouter(s.Providers, s.Routes)
	if err != nil {
		return nil, err
	}
	w := &Workers{Settings: s, router: router, gates: map[string]*gate{}, senders: map[tidings.Lane]*sender{}}
	w.live.claims = map[tidings.DeliveryID]int{}
	if err := w.measureSkew(ctx); err != nil {
		return nil, err
	}
	w.crew = newCrew(s.Store)
	if err := w.join(ctx); err != nil {
		return nil, err
	}
	w.build()
	w.run(context.WithoutCancel(ctx))
	return w, nil
}

func (w *Workers) build() {
	for _, p := range w.Providers {
		w.gates[p.Name] = w.newGate(p, time.Now())
	}
	for _, lane := range w.Lanes.Names() {
		w.senders[lane] = newSender(w, lane)
	}
	w.recorder = map[store.Class]*recorder{store.Urgent: newRecorder(w, store.Urgent), store.Normal: newRecorder(w, store.Normal)}
	w.dispatch = newDispatcher(w)
}

func (w *Workers) run(ctx context.Context) {
	w.calls, w.endCalls = context.WithCancel(ctx)
	var loops, beats context.Context
	loops, w.stop = context.WithCancel(ctx)
	beats, w.endBeats = context.WithCancel(ctx)
	w.dispatch.lookAround(ctx, time.Now()) // what is paused must not begin
	for _, s := range w.senders {
		w.loops.Go(func() { s.run(loops) })
		w.beats.Go(func() { s.hands.beat(beats, s.config.AckWait/3, w.Config.Delivery.Lease) })
	}
	w.loops.Go(func() { w.dispatch.run(loops) })
	w.loops.Go(func() { w.keepJoined(loops) })
	w.loops.Go(func() { newKeeper(w).run(loops) })
}

// Stop stops fetching, lets what is in flight end until ctx ends, and gives the rest back. When
// ctx ends first, calls under way are cut and recorded as their providers say.
func (w *Workers) Stop(ctx context.Context) error {
	w.stopping.Store(true)
	w.stop()
	cut := context.AfterFunc(ctx, w.endCalls)
	w.loops.Wait()
	w.inFlight.Wait()
	cut()
	w.endCalls()
	for _, r := range w.recorder {
		r.group.Close()
	}
	w.endBeats()
	w.beats.Wait()
	for _, s := range w.senders {
		s.hands.giveBack()
	}
	w.leave(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stop workers: calls under way were cut: %w", err)
	}
	return nil
}

// Wake tells the dispatcher that something is due at that time.
func (w *Workers) Wake(at time.Time) {
	for lane := range w.senders {
		w.dispatch.wakeLane(lane, at)
	}
}

// LanesChanged takes over which lanes operators have paused and the rates that they set; once it
// returns, no more of a paused lane is handed to a provider by this process. What is not told
// here is found out within a second.
func (w *Workers) LanesChanged(ctx context.Context) { w.dispatch.lookAround(ctx, time.Now()) }

// poke tells the senders of a channel that there may be permits again.
func (w *Workers) poke(c tidings.Channel) {
	for _, p := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
		if s := w.senders[tidings.LaneOf(c, p)]; s != nil {
			s.wake()
		}
	}
}

func (w *Workers) measureSkew(ctx context.Context) error {
	skew, err := w.Store.Skew(ctx)
	if err != nil {
		return fmt.Errorf("compare clocks with the log: %w", err)
	}
	w.skew.Store(int64(min(skew.Abs(), maxSkew)))
	return nil
}

// maxSkew is how far clocks are believed to be apart. A process that is further off is not
// ready; whoever lets it run all the same gets useless copies in the lanes, not a standstill.
const maxSkew = 2 * time.Second

// policy is how a delivery of an event type is retried on a channel.
func (w *Workers) policy(e *tidings.EventType, c tidings.Channel) channels.Policy {
	d := w.Config.Delivery
	return channels.Policy{Base: d.RetryBase, Cap: d.RetryCap, MaxAttempts: d.MaxAttempts, Unknown: e.Unknown(c)}
}
