package workers

import (
	"time"

	"tidings/internal/store"
)

// pauseGoesOn is how soon after a pause another one counts as the same, so that a provider that
// comes and goes is told of in one line.
const pauseGoesOn = time.Minute

// notePause takes note of what the breaker has come to, for the trails of what waits. With g.mu held.
func (g *gate) notePause(now time.Time) {
	p, open := &g.pause, !g.breaker.openUntil.IsZero()
	lasts := !p.Since.IsZero() && p.Over.IsZero()
	switch {
	case !open && lasts:
		p.Over = now
	case !open, lasts && p.Cause == g.cause() && p.Until.Equal(g.breaker.openUntil):
		return
	case open && !lasts && (p.Cause != g.cause() || now.Sub(p.Over) > pauseGoesOn):
		*p = store.Pause{Name: g.Name, Channel: g.Channel, Since: g.breaker.opened}
	}
	if open {
		p.Cause, p.Until, p.Over = g.cause(), g.breaker.openUntil, time.Time{}
	}
}

func (g *gate) cause() store.PauseCause {
	if g.breaker.asked {
		return store.PauseAsked
	}
	return store.PauseFailing
}

// news is the pause that the log must hear of: one that lasts, again and again, and once that it
// is over.
func (g *gate) news() (p store.Pause, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	lasts := !g.pause.Since.IsZero() && g.pause.Over.IsZero()
	return g.pause, lasts || g.pause != g.told
}

// heardOf takes note that the log knows of a pause.
func (g *gate) heardOf(p store.Pause) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = p
}

// pauses are those that the log must hear of; heard is called once it has.
func (w *Workers) pauses() (all []store.Pause, heard func()) {
	for _, g := range w.gates {
		if p, ok := g.news(); ok {
			all = append(all, p)
		}
	}
	return all, func() {
		for _, p := range all {
			w.gates[p.Name].heardOf(p)
		}
	}
}
