package workers

import (
	"slices"
	"time"
)

// publishGrace is how long after its stamp a delivery may reach its lane: a commit, a publish
// and its time-out.
const publishGrace = 5 * time.Second

// A sight is the horizon of a lane as it was seen at an instant.
type sight struct{ at, horizon time.Time }

// Sights are the horizons seen of a lane, oldest first. They tell which queued deliveries are
// in the lane no more: what was handed out and not claimed for claimWait, or never stored. It
// is not enough to look at the horizon as it is, since what was just handed out is behind it
// and in good hands.
type sights []sight

// see adds a sight and forgets those that are older than needed.
func (s *sights) see(at, horizon time.Time, claimWait time.Duration) {
	*s = append(*s, sight{at, horizon})
	if i := s.before(at.Add(-claimWait)); i > 0 {
		*s = slices.Delete(*s, 0, i)
	}
}

// before is the place of the newest sight that is not after at; -1: none.
func (s sights) before(at time.Time) int {
	for i, seen := range slices.Backward(s) {
		if !seen.at.After(at) {
			return i
		}
	}
	return -1
}

// lost says before which stamp a queued delivery is lost; ok is false while it is too early
// to tell. A lane without entries hides nothing, so no wait is needed there.
func (s sights) lost(now time.Time, claimWait, skew time.Duration, empty bool) (stamp time.Time, ok bool) {
	margin := publishGrace + 2*skew
	if empty {
		return now.Add(-margin), true
	}
	i := s.before(now.Add(-claimWait))
	if i < 0 {
		return time.Time{}, false
	}
	return s[i].horizon.Add(-margin), true
}
