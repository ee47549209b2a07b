package workers

import (
	"time"

	"tidings"
)

// newGate is the gate of a provider, in its place among the others of its channel.
func (w *Workers) newGate(p Provider, now time.Time) *gate {
	g := newGate(p, w.Config.Breaker, w.Config.Delivery.RetryCap, now)
	g.setRate(w.crew.share(p.PerSecond), now)
	others := -1
	for _, other := range w.Providers {
		if other.Channel == p.Channel {
			others++
		}
	}
	for _, priority := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
		g.most[priority] = most(w.Config.Lane(tidings.LaneOf(p.Channel, priority)).Workers, others)
	}
	g.poke, g.tell = func() { w.poke(p.Channel) }, w.changed
	return g
}

// most is how many of the calls of a lane one provider may have beside others: one that hangs
// must leave the others theirs.
func most(workers, others int) int {
	return max(1, workers-others*max(1, workers/reserve))
}

// changed tells the operator, once for each trouble.
func (w *Workers) changed(g *gate, c change, d time.Duration) {
	switch c {
	case tripped:
		w.Metrics.BreakerTrips.WithLabelValues(g.Name).Inc()
		w.Log.Warn("provider is left alone after failures in a row; probes will tell when it works again", "provider", g.Name)
	case mended:
		w.Log.Info("provider works again", "provider", g.Name, "after", d.Round(time.Second))
	case doubted:
		w.Metrics.AddressesDoubted.WithLabelValues(g.Name).Set(1)
		w.Log.Error("provider calls so many addresses dead that none is taken out of use: look at its topic, environment, project or key", "provider", g.Name)
	case trusted:
		w.Metrics.AddressesDoubted.WithLabelValues(g.Name).Set(0)
		w.Log.Info("provider calls as few addresses dead as usual: they are taken out of use again", "provider", g.Name)
	}
}
