package workers

import "time"

const (
	// doubtSpan is how far back answers about addresses count, in slots of a minute.
	doubtSpan = 10
	// Above so many answers in the span that call an address bad, a fifth of all, and four times the
	// usual share, it is more likely that our set-up is wrong than that so many addresses are.
	doubtMost  = 20
	doubtShare = 5
	doubtTimes = 4
	// doubtHolds is how long a doubt lasts after it was last renewed.
	doubtHolds = 2 * time.Minute
	// usualMost bounds the memory of what is usual, in answers.
	usualMost = 200_000
)

// A doubt keeps a provider's word that addresses are dead from emptying the table: a wrong
// environment or project makes every token look dead. While it lasts no address is taken out of
// use. It ends by itself when the share of such answers is ordinary again. It is not safe for
// concurrent use.
type doubt struct {
	slots [doubtSpan]tally // by minute modulo doubtSpan
	last  int64            // minute of the newest slot
	usual tally            // of the time before, but for times of doubt
	until time.Time
	lasts bool
}

// A tally counts answers, and those of them that call an address bad.
type tally struct{ bad, all int }

// heard takes note of an answer, and reports whether to doubt what the provider says of addresses.
func (d *doubt) heard(bad bool, now time.Time) bool {
	d.turn(now.Unix() / 60)
	slot := &d.slots[d.last%doubtSpan]
	slot.all++
	if bad {
		slot.bad++
	}
	whole := tally{}
	for _, s := range d.slots {
		whole.bad, whole.all = whole.bad+s.bad, whole.all+s.all
	}
	if d.unusual(*slot) || d.unusual(whole) { // the minute alone too: a long good time must not hide a bad minute
		d.until = now.Add(doubtHolds)
	}
	d.lasts = now.Before(d.until)
	return d.lasts
}

// turn makes room for the present minute.
func (d *doubt) turn(minute int64) {
	for m := max(d.last, minute-doubtSpan) + 1; m <= minute; m++ {
		slot := &d.slots[m%doubtSpan]
		if !d.lasts {
			d.remember(*slot)
		}
		*slot = tally{}
	}
	d.last = max(d.last, minute)
}

// remember adds to what is usual; the older counts less.
func (d *doubt) remember(t tally) {
	d.usual.bad, d.usual.all = d.usual.bad+t.bad, d.usual.all+t.all
	if d.usual.all > usualMost {
		d.usual.bad, d.usual.all = d.usual.bad/2, d.usual.all/2
	}
}

func (d *doubt) unusual(now tally) bool {
	return now.bad > doubtMost && now.bad*doubtShare > now.all && now.bad*d.usual.all >= doubtTimes*d.usual.bad*now.all
}
