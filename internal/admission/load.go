package admission

import (
	"fmt"
	"math"
	"time"

	"tidings"
)

const (
	// leastAfter and mostAfter bound what callers are told to wait.
	leastAfter = time.Second
	mostAfter  = 5 * time.Minute
	// blindAfter is what they are told while nothing drains, so that nobody can know.
	blindAfter = 10 * time.Second
)

// A load is how much waits for a lane, as the log last told and with what this process accepted
// since. It is guarded by the door.
type load struct {
	lane  tidings.Lane
	bound Bound
	total int            // as counted
	turn  int            // what of that waits for its turn at a provider
	late  int            // what waits beside that, since fresh work goes first
	apps  map[string]int // the same by app; nil: not told apart
	since map[string]int // committed by this process since the count began, by app
	open  map[string]int // let in and not settled, by app
	more  int            // the sum of since and open
	drain drain
}

func newLoad(lane tidings.Lane, b Bound) *load {
	return &load{lane: lane, bound: b, since: map[string]int{}, open: map[string]int{}}
}

// waiting is how many deliveries wait.
func (l *load) waiting() int { return l.total + l.more }

// add counts n deliveries of an app more in since or open.
func (l *load) add(in map[string]int, app string, n int) {
	in[app] += n
	l.more += n
}

// take counts n deliveries of an app less in since or open, or as many as there are.
func (l *load) take(from map[string]int, app string, n int) {
	n = min(n, from[app])
	l.more -= n
	if from[app] -= n; from[app] == 0 {
		delete(from, app)
	}
}

// of is how many of an app wait.
func (l *load) of(app string) int { return l.apps[app] + l.since[app] + l.open[app] }

// limit is how many deliveries may wait: the limit, or fewer where the lane is so slow that they
// would wait for too long. What waits for its turn at a provider says nothing about the lane: others
// of its providers may be quick.
func (l *load) limit() int {
	limit := l.bound.Limit
	if l.drain.full > 0 && l.bound.MaxWait > 0 {
		limit = min(limit, max(1, int(l.drain.full*l.bound.MaxWait.Seconds()))+l.turn)
	}
	return limit
}

// contended reports whether more than half of what may wait, or of what the lane itself holds,
// is there: from then on apps are told apart.
func (l *load) contended() bool { return l.waiting() > min(l.limit(), l.bound.Short)/2 }

// active is how many apps have or want something in the lane; 1 while they are not told apart.
func (l *load) active(app string) int {
	if l.apps == nil && l.total > 0 {
		return 1
	}
	apps := map[string]bool{app: true}
	for _, known := range [...]map[string]int{l.apps, l.since, l.open} {
		for other := range known {
			apps[other] = true
		}
	}
	return len(apps)
}

// refusal says why n more deliveries of an app may not wait for the lane; nil: they may.
func (l *load) refusal(app string, c Class, n int) *Refusal {
	limit, waiting := l.limit(), l.waiting()
	allowed := c.of(limit)
	if l.late >= allowed {
		return &Refusal{
			Code:   CodeLaneFull,
			Detail: fmt.Sprintf("%d deliveries of %s are late and wait for newer ones, and %d may; post it again later", l.late, l.lane, allowed),
			After:  l.after(l.late + n - allowed),
		}
	}
	if waiting+n <= limit/2 {
		return nil
	}
	active, mine := l.active(app), l.of(app)
	share := max(1, allowed/active)
	switch {
	case active > 1 && mine+n > share:
		return &Refusal{
			Code:   CodeQuotaExceeded,
			Detail: fmt.Sprintf("%d deliveries of app %s wait for %s, and %d may while %d apps share the lane; post it again later", mine, app, l.lane, share, active),
			After:  l.after((mine + n - share) * active),
		}
	case waiting+n <= allowed:
		return nil
	case active > 1 && waiting+n <= 2*allowed: // others filled the lane, and this app has not had its share
		return nil
	}
	return &Refusal{
		Code:   CodeLaneFull,
		Detail: fmt.Sprintf("%d deliveries wait for %s, and %d may; post it again later", waiting, l.lane, allowed),
		After:  l.after(waiting + n - allowed),
	}
}

// direct reports whether the app's part of the lane itself has room for n more.
func (l *load) direct(app string, n int) bool {
	if l.waiting()+n <= l.bound.Short/2 {
		return true
	}
	active := l.active(app)
	return active == 1 || l.of(app)+n <= l.bound.Short/active
}

// after is how long it takes until so many have left, in whole seconds.
func (l *load) after(n int) time.Duration {
	rate := l.drain.perSecond
	if rate <= 0 {
		return blindAfter
	}
	seconds := min(math.Ceil(float64(n)/rate), mostAfter.Seconds())
	return max(leastAfter, time.Duration(seconds)*time.Second)
}
