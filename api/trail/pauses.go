package trail

import (
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
)

// brief is a pause too short to be told of.
const brief = time.Second

// pauseNow is the pause that keeps a delivery waiting; nil: none does. Where another provider may
// take it, it has to have waited for a while.
func (t *telling) pauseNow(d *store.TrailDelivery, since time.Time) *store.Pause {
	var found *store.Pause
	for i := range t.trail.Pauses {
		p := &t.trail.Pauses[i]
		switch {
		case !p.Over.IsZero() || !t.concerns(p, d):
		case p.Cause == store.PauseOperator:
			return p
		case t.onlyOne(p, d) || t.now.Sub(since) >= brief:
			found = p
		}
	}
	return found
}

// concerns reports whether a pause may keep a delivery waiting.
func (t *telling) concerns(p *store.Pause, d *store.TrailDelivery) bool {
	switch {
	case p.Cause == store.PauseOperator:
		return p.Name == string(d.Lane)
	case t.trail.Notification.Test: // it calls nobody
		return false
	}
	return p.Channel == d.Channel && t.mayTake(p.Name, d)
}

// mayTake reports whether a provider of the channel of a delivery may take it: the one that its address
// names, else one of its route. Of what is configured no more, and of addresses that were erased,
// nobody knows.
func (t *telling) mayTake(name string, d *store.TrailDelivery) bool {
	if d.Provider != "" {
		return name == d.Provider
	}
	carries := t.Providers[name].Carries
	return carries == nil || d.Address == "" || carries(&tidings.Address{Channel: d.Channel, Value: d.Address})
}

// onlyOne reports whether no provider but the one of the pause can take the delivery.
func (t *telling) onlyOne(p *store.Pause, d *store.TrailDelivery) bool {
	for name, other := range t.Providers {
		if name != p.Name && other.Channel == d.Channel && t.mayTake(name, d) {
			return false
		}
	}
	return true
}

// pauseText is why there is a pause that lasts, and until when.
func (t *telling) pauseText(p *store.Pause) string {
	who, since := vendor(p.Name, t.Providers), at(p.Since, t.now)
	switch {
	case p.Cause == store.PauseOperator:
		return "an operator paused the lane " + p.Name + " at " + since + "; it is sent once the lane is resumed"
	case p.Cause == store.PauseAsked && p.Until.After(t.now):
		return who + " asked for a pause, so it is left alone until " + at(p.Until, t.now)
	case p.Cause == store.PauseAsked:
		return who + " asked for a pause, which is over; single calls find out whether it takes more"
	case p.Until.After(t.now):
		return "calls to " + who + " fail, so it is left alone since " + since + " and called again from " + at(p.Until, t.now) + " on"
	}
	return "calls to " + who + " fail, so it is left alone since " + since + " but for single calls that find out whether it works again"
}

// pastText is why something waited that waits for it no more, since the pause is over or what waited
// has come to its end.
func (t *telling) pastText(p *store.Pause) string {
	who := vendor(p.Name, t.Providers)
	text := "calls to " + who + " failed, so it was left alone"
	switch p.Cause {
	case store.PauseOperator:
		text = "an operator had paused the lane " + p.Name
	case store.PauseAsked:
		text = who + " asked for a pause, so it was left alone"
	}
	if p.Over.IsZero() {
		return text
	}
	return text + " until " + t.clock(p.Over)
}

// waited tells of the pauses that kept a delivery waiting, each once.
func (w *teller) waited(d *store.TrailDelivery, which string) {
	spans := w.spans(d)
	still := slices.ContainsFunc(spans, func(s span) bool { return s.lasts })
	for _, p := range merged(w.trail.Pauses) {
		if !w.concerns(&p, d) {
			continue
		}
		over := orElse(p.Over, w.now)
		for _, s := range spans {
			begin, end := later(s.begin, p.Since), earlier(s.end, over)
			if end.Sub(begin) < brief && !(p.Over.IsZero() && s.lasts && !begin.After(end)) {
				continue
			}
			text := w.pastText(&p)
			if still && p.Over.IsZero() {
				text = w.pauseText(&p)
			}
			w.add(begin, kindQueued, d, sentence(which+" waits: "+text))
			break
		}
	}
}

// merged are the pauses of which several processes tell, as one each.
func merged(pauses []store.Pause) (out []store.Pause) {
	for _, p := range slices.SortedStableFunc(slices.Values(pauses), func(a, b store.Pause) int { return a.Since.Compare(b.Since) }) {
		i := slices.IndexFunc(out, func(o store.Pause) bool {
			return o.Name == p.Name && o.Cause == p.Cause && (o.Over.IsZero() || !p.Since.After(o.Over))
		})
		switch {
		case i < 0:
			out = append(out, p)
		case p.Over.IsZero() || !out[i].Over.IsZero() && p.Over.After(out[i].Over):
			out[i].Over, out[i].Until = p.Over, p.Until
		}
	}
	return out
}
