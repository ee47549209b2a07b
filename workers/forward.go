package workers

import (
	"context"
	"math"
	"time"

	"tidings/internal/store"
)

// forward brings turns forward for which the providers need not be waited for so long, since those that
// had the turns before wait no more: they were set aside, or are called off, or over. What is late comes
// once nothing fresh waits.
func (d *dispatcher) forward(ctx context.Context, s *sender, head store.LaneStats, now time.Time) {
	if shut, _ := s.shut(now); shut || s.paused.Load() {
		return
	}
	fresh, late := 0.0, 0.0
	for _, g := range s.gates {
		if !head.Turns {
			g.nobody(s.lane.Priority())
		}
		f, l := g.early(s.lane.Priority(), now)
		fresh, late = fresh+f, late+l
	}
	perSecond := fresh
	if !head.Turns {
		perSecond = late
	}
	if perSecond *= float64(max(1, d.w.crew.live.Load())); perSecond <= 0 {
		return
	}
	n := min(int(math.Ceil(perSecond*look.Seconds())), feedChunk)
	if err := d.w.Store.Advance(ctx, s.lane, !head.Turns, now.UTC().Truncate(time.Microsecond), perSecond, n); err != nil {
		d.trouble(ctx, "bring turns forward", err)
		return
	}
	for i := range n {
		d.wakeLane(s.lane, now.Add(time.Duration(float64(i+1)/perSecond*float64(time.Second))))
	}
}
