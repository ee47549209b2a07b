package pages

import (
	"sync"
	"time"
)

// How many changes a person may make on their pages: so many at once, and one more in each span. What
// is refused, and what only repeats, counts for nothing.
const (
	burst    = 20
	oneMore  = 3 * time.Second
	maxNames = 10_000 // that are remembered; when there are more, all begin anew
)

// A limiter counts changes by user, in this process.
type limiter struct {
	mu    sync.Mutex
	spent map[string]spent // guarded by mu
}

// spent is how much was taken, as of an instant.
type spent struct {
	count float64
	at    time.Time
}

func newLimiter() *limiter { return &limiter{spent: map[string]spent{}} }

// take takes one, if there is one left.
func (l *limiter) take(user string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.spent) >= maxNames {
		clear(l.spent)
	}
	was := l.spent[user]
	left := max(0, was.count-float64(now.Sub(was.at))/float64(oneMore))
	if left+1 > burst {
		return false
	}
	l.spent[user] = spent{left + 1, now}
	return true
}

// giveBack gives back one that was taken, for a change that did not come about.
func (l *limiter) giveBack(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was, known := l.spent[user]; known {
		l.spent[user] = spent{max(0, was.count-1), was.at}
	}
}
