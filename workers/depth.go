package workers

import (
	"math"
	"time"

	"tidings/internal/lanes"
)

const (
	// laneSpan is what a lane holds, as a span of its drain. What is in a lane is behind nothing
	// that comes later, be it another app's or more urgent to its app, so the rest of a backlog
	// stays in the log.
	laneSpan = 5 * time.Second
	// firstCalls is how many calls of each worker a lane is filled for while its drain is not known.
	firstCalls = 20
	// topUp is the part of its depth that a lane is filled up by while a backlog waits, since few
	// large moves cost less than many small ones.
	topUp = 4
)

// A pull is how fast a lane is emptied, by all processes together.
type pull struct {
	workers int     // calls at once
	drain   float64 // finished a second, lately
	rate    float64 // that it is held to, a second; 0: none
	known   bool    // that more waited than was finished all the while, so that drain is all it can
}

// depth is how many deliveries a lane is to hold: about as many as drain within laneSpan, and never
// so few that workers wait for the dispatcher.
func (p pull) depth() int {
	least := max(p.workers, lanes.MaxChunk)
	if !p.known {
		least = p.workers * firstCalls
	}
	most := max(least, int(p.drain*laneSpan.Seconds()))
	if p.rate > 0 {
		most = min(most, int(math.Ceil(p.rate*laneSpan.Seconds())))
	}
	return most
}

// pull is how fast the sender's lane is emptied. Of the other processes it is taken that they do as this one does.
func (s *sender) pull(now time.Time, known bool) pull {
	live := float64(s.w.crew.live.Load())
	p := pull{workers: s.config.Workers * int(live), drain: s.meter.lately(now, int64(laneSpan/time.Second)) * live, known: known}
	if share := s.pace.perSecond(); share > 0 {
		p.rate = share * live
	}
	if cap := s.providersRate(); cap > 0 && (p.rate == 0 || cap < p.rate) {
		p.rate = cap
	}
	return p
}

// providersRate is what the providers of the lane take a second, together; 0 when one has no limit.
func (s *sender) providersRate() (sum float64) {
	for _, g := range s.gates {
		if g.PerSecond <= 0 {
			return 0
		}
		sum += g.PerSecond
	}
	return sum
}
