package preferences

import (
	"slices"
	"time"

	"tidings"
)

// A rule is one line of Decide's table. Its judge gives the reason for which nothing may go out,
// or none; a rule about time postpones the question instead.
type rule struct {
	name  string
	judge func(q *question) tidings.Reason
}

// ask asks the rule. A cause of an earlier one is not its own.
func (r *rule) ask(q *question) tidings.Reason {
	q.refusal = ""
	return r.judge(q)
}

// rules is Decide's table, in its order.
var rules = [...]rule{
	{"requested", (*question).requested},
	{"provider", (*question).provider},
	{"expiry", (*question).expiry},
	{"all", (*question).all},
	{"channel", (*question).channelChoice},
	{"category", (*question).category},
	{"thread", (*question).thread},
	{"consent", (*question).consent},
	{"address", (*question).address},
	{"brake", (*question).brake},
	{"schedule", (*question).schedule},
	{"digest", (*question).digest},
	{"quiet_hours", (*question).quietHours},
	{"limits", (*question).limits},
}

func (q *question) requested() tidings.Reason {
	if q.Channels != nil && !slices.Contains(q.Channels, q.channel) {
		return tidings.ReasonNotRequested
	}
	return ""
}

// provider sees whom the channel reaches, which address tells.
func (q *question) provider() tidings.Reason {
	q.to, q.nobody = reachable(q.Facts, q.channel)
	switch {
	case q.Providers[q.channel] == nil:
		return tidings.ReasonNoProvider
	case q.nobody == tidings.ReasonNoProvider:
		q.refusal = tidings.CauseRoute
		return tidings.ReasonNoProvider
	}
	return ""
}

func (q *question) expiry() tidings.Reason {
	if expired(q.ExpiresAt, later(q.now, q.SendAt)) {
		return tidings.ReasonExpired
	}
	return ""
}

func (q *question) critical() bool { return q.Event.Category.Kind == tidings.Critical }

func (q *question) all() tidings.Reason {
	if q.critical() {
		return ""
	}
	return q.Preferences.refusesAll()
}

func (q *question) channelChoice() tidings.Reason {
	if q.critical() {
		return ""
	}
	return q.Preferences.refusesChannel(q.channel)
}

func (q *question) category() tidings.Reason {
	if q.critical() {
		return ""
	}
	return q.Preferences.refusesCategory(q.Event.Category.Name, q.channel)
}

func (q *question) thread() tidings.Reason {
	if q.critical() {
		return ""
	}
	q.refusal = tidings.CauseThread
	return q.Preferences.refusesThread(q.Event.Category.Name, q.Thread)
}

func (q *question) consent() tidings.Reason {
	q.refusal = q.Preferences.consentCause(&q.Event.Category)
	return q.Preferences.lacksConsent(&q.Event.Category, q.channel)
}

func (q *question) address() tidings.Reason {
	if q.nobody == tidings.ReasonNoProvider {
		return "" // there is one; provider has said what it lacks
	}
	return q.nobody
}

func (q *question) brake() tidings.Reason {
	if q.Braked {
		return tidings.ReasonLoopBrake
	}
	return ""
}

func (q *question) schedule() tidings.Reason {
	q.postpone(q.SendAt, tidings.ReasonScheduled, "")
	return ""
}

// digest holds what is to be told with others. What is scheduled joins a digest when its time comes.
func (q *question) digest() tidings.Reason {
	d := q.Event.Digest
	if d == nil || q.Digest || q.at.After(q.now) || !slices.Contains(d.Channels, q.channel) {
		return ""
	}
	closes := q.now.Add(d.Window)
	if !q.Closes.IsZero() {
		closes = later(q.Closes, q.now.Add(time.Microsecond)) // also where it is full: it is sent with others, not at once
	}
	q.postpone(closes, tidings.ReasonDigested, "")
	return ""
}

// quietHours are not asked of what joins a digest: they are when it closes.
func (q *question) quietHours() tidings.Reason {
	if q.reason == tidings.ReasonDigested {
		return ""
	}
	calm := q.Preferences.calmOf(q.Event, q.channel, q.zone())
	if regulated(q.Event, q.channel) {
		for i := range q.to {
			calm.call(q.Event, q.to[i].Value, q.called(q.to[i].Value))
		}
	}
	until, by, ever := calm.until(q.at)
	if !ever || until.After(q.at) && q.Event.Category.QuietHours == tidings.QuietDrop {
		q.refusal = by
		return tidings.ReasonQuietHours
	}
	q.postpone(until, tidings.ReasonQuietHours, by)
	return ""
}

// limits count what is sent now; what is sent later is counted then.
func (q *question) limits() tidings.Reason {
	if q.critical() || q.Continued || q.at.After(q.now) {
		return ""
	}
	for i := range q.Event.Limits {
		l := &q.Event.Limits[i]
		free := l.Free(q.Told[l.Scope], q.now)
		switch {
		case !free.After(q.now):
		case !l.Hold:
			return l.Reason
		default:
			q.postpone(free, l.Reason, "")
		}
	}
	if q.at.After(q.now) {
		return q.quietHours()
	}
	return ""
}
