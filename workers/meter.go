package workers

import (
	"sync"
	"time"
)

// span is the time that a meter looks back, in seconds.
const span = 60

// A meter counts what finishes, second by second, over the last minute.
type meter struct {
	mu      sync.Mutex
	start   int64       // second of the first count; guarded by mu, as all below
	last    int64       // second that was counted last
	seconds [span]int32 // by second modulo span
	untold  int         // not told to the other processes yet
}

// add counts n at now.
func (m *meter) add(n int, now time.Time) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(now.Unix())
	m.seconds[m.last%span] += int32(n)
	m.untold += n
}

// tell takes what the other processes were not told yet.
func (m *meter) tell() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.untold
	m.untold = 0
	return n
}

// keep puts back what they could not be told.
func (m *meter) keep(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.untold += n
}

// lately is the mean over the last few seconds, the one under way left out.
func (m *meter) lately(now time.Time, seconds int64) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.start == 0 {
		return 0
	}
	m.turn(now.Unix())
	seconds = min(seconds, max(1, m.last-m.start))
	var sum int64
	for s := m.last - seconds; s < m.last; s++ {
		sum += int64(m.seconds[(s%span+span)%span])
	}
	return float64(sum) / float64(seconds)
}

// perSecond is the mean over the last minute, or since the first count when that is shorter.
func (m *meter) perSecond(now time.Time) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.start == 0 {
		return 0
	}
	m.turn(now.Unix())
	var sum int64
	for _, n := range m.seconds {
		sum += int64(n)
	}
	return float64(sum) / float64(min(span, m.last-m.start+1))
}

// turn forgets the seconds that are over a minute old.
func (m *meter) turn(now int64) {
	if m.start == 0 {
		m.start, m.last = now, now
	}
	for s := max(m.last, now-span) + 1; s <= now; s++ {
		m.seconds[s%span] = 0
	}
	m.last = max(m.last, now)
}
