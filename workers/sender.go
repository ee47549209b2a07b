package workers

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"tidings"
	"tidings/internal/lanes"
	"tidings/internal/store"
)

const (
	// maxClaim bounds the deliveries of one claim, so that nothing waits long behind it.
	maxClaim = 100
	// maxUnrecorded bounds the deliveries of a lane that were called and wait for their record.
	maxUnrecorded = 512
	// linger is how long a bulk lane waits for more permits, since a claim of one row costs
	// nearly what a claim of fifty does.
	linger = 2 * time.Millisecond
	// troubled is the pause after the log or the broker did not answer.
	troubled = 500 * time.Millisecond
)

// A sender works one lane: permits, entries, claims. Each claimed delivery goes its own way
// from there.
type sender struct {
	w      *Workers
	lane   tidings.Lane
	config LaneConfig
	class  store.Class
	gates  []*gate // of the channel's providers
	dry    []drought
	hands  hands
	meter  meter
	pace   pace

	// Only the loop touches what follows.
	reach       reach
	suspects    map[tidings.DeliveryID]*suspect
	convictions int // since a claim worked

	poke   chan struct{} // holds one token when permits may have come
	paused atomic.Bool   // by an operator
	calls  atomic.Int32  // under way
	open   atomic.Int32  // claimed and not recorded
}

func newSender(w *Workers, lane tidings.Lane) *sender {
	s := &sender{w: w, lane: lane, config: w.Config.Lane(lane), class: store.Normal, poke: make(chan struct{}, 1),
		reach: newReach(), hands: hands{log: w.Log, held: map[*held]struct{}{}}, suspects: map[tidings.DeliveryID]*suspect{}}
	if lane.Priority() == tidings.Urgent {
		s.class = store.Urgent
	}
	for _, p := range w.Providers {
		if p.Channel == lane.Channel() {
			s.gates = append(s.gates, w.gates[p.Name])
			s.dry = append(s.dry, drought{})
		}
	}
	return s
}

// run works the lane until ctx ends. Entries that it leaves in hand are for Stop.
func (s *sender) run(ctx context.Context) {
	var waiting []ticket
	for {
		n := s.permits(ctx, max(1, len(waiting)))
		switch {
		case n == 0:
			return
		case len(waiting) == 0:
			waiting = s.fetch(ctx, n) // takes its time, so permits are counted again
			continue
		}
		waiting = s.held(waiting)
		if len(waiting) == 0 {
			continue
		}
		batch := next(waiting, min(n, len(waiting), maxClaim))
		again := s.claimAll(ctx, batch)
		if len(again) == len(batch) {
			s.sleep(ctx, troubled)
		}
		if waiting = waiting[len(batch):]; len(again) > 0 {
			waiting = slices.Concat(waiting, again) // behind the others
		}
	}
}

// fetch takes as many entries in hand as their ids may find permits.
func (s *sender) fetch(ctx context.Context, n int) []ticket {
	chunk := lanes.MaxChunk
	if s.lane.Priority() == tidings.Urgent {
		chunk = 1
	}
	entries, err := s.w.Lanes.Fetch(ctx, s.lane, min(max(1, n/chunk), maxClaim))
	if err != nil {
		s.w.Log.Warn("fetch failed", "lane", s.lane, "error", err)
		s.sleep(ctx, troubled)
	}
	return s.hands.take(entries, time.Now())
}

// held drops the tickets of entries that were let go.
func (s *sender) held(waiting []ticket) []ticket {
	kept := waiting[:0]
	for _, t := range waiting {
		if s.hands.holds(t.from) {
			kept = append(kept, t)
		}
	}
	return kept
}

// permits waits until some of the wanted permits are free, and says how many; 0 when ctx ends.
// They are taken in the claim, where it is known of which provider.
func (s *sender) permits(ctx context.Context, want int) int {
	enough := 1
	if s.lane.Priority() != tidings.Urgent {
		enough = min(want, max(1, s.config.Workers/4), maxClaim)
	}
	var lingered bool
	for ctx.Err() == nil {
		n, again := s.free(time.Now())
		switch {
		case n >= enough, n > 0 && lingered:
			return n
		case n > 0:
			lingered = true
			s.sleep(ctx, linger)
		default:
			s.wait(ctx, again)
		}
	}
	return 0
}

// free is how many deliveries may be claimed now; when none, again is when to look, or zero:
// after a poke.
func (s *sender) free(now time.Time) (n int, again time.Time) {
	if s.paused.Load() {
		return 0, again
	}
	n = min(s.config.Workers-int(s.calls.Load()), maxUnrecorded-int(s.open.Load()))
	paced, next := s.pace.free(now)
	if n = min(n, paced); n <= 0 || len(s.gates) == 0 {
		return max(0, n), next
	}
	permits, again := s.survey(now)
	return min(n, permits), again
}

func (s *sender) wake() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// wait waits for a poke, and not beyond until when that is set.
func (s *sender) wait(ctx context.Context, until time.Time) {
	var timer <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-s.poke:
	case <-timer:
	case <-ctx.Done():
	}
}

func (s *sender) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
