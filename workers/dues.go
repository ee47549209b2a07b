package workers

import (
	"slices"
	"time"
)

// maxDues bounds the due times of a lane that are kept in mind, which is more than a minute of
// them. What is due later is found by looking.
const maxDues = 2048

// dues are the times, in order, at which something of a lane is due. Were only the first kept, what
// was put off in turns would come back in bursts, whenever the dispatcher looks, and all but a few of
// each burst be put off again.
type dues []time.Time

// add adds a time and reports whether it is the first now. Later ones are rounded up, so that what
// is due at nearly the same time costs one look.
func (d *dues) add(at time.Time) (first bool) {
	if len(*d) == 0 || at.Before((*d)[0]) {
		*d = slices.Insert(*d, 0, at)
		*d = (*d)[:min(len(*d), maxDues)]
		return true
	}
	if rounded := at.Truncate(feedAgain); rounded.Before(at) {
		at = rounded.Add(feedAgain)
	}
	i, known := slices.BinarySearchFunc(*d, at, time.Time.Compare)
	if !known && len(*d) < maxDues {
		*d = slices.Insert(*d, i, at)
	}
	return false
}

// take takes off what is due at now, and reports whether there was any.
func (d *dues) take(now time.Time) bool {
	n := 0
	for n < len(*d) && !(*d)[n].After(now) {
		n++
	}
	*d = slices.Delete(*d, 0, n)
	return n > 0
}
