package workers

import (
	"time"

	"tidings"
)

// sparedMost bounds the addresses that are remembered; when there are more, the rest is found out anew.
const sparedMost = 10_000

// Spared are the addresses to which a provider wants nothing sent for a while, because they were
// sent too much. It is not safe for concurrent use.
type spared map[tidings.AddressID]time.Time

// add spares an address until then.
func (s spared) add(a tidings.AddressID, until, now time.Time) {
	if len(s) >= sparedMost {
		for other, over := range s {
			if !over.After(now) {
				delete(s, other)
			}
		}
	}
	if len(s) < sparedMost {
		s[a] = latest(s[a], until)
	}
}

// until is when an address may be sent to again; zero: now.
func (s spared) until(a tidings.AddressID, now time.Time) time.Time {
	over, ok := s[a]
	if ok && !over.After(now) {
		delete(s, a)
		over = time.Time{}
	}
	return over
}
