package store

import (
	"slices"
	"time"

	"tidings"
)

// A Pause is a span in which a provider was left alone, or in which a lane stood still.
type Pause struct {
	Name    string // of the provider, or of the lane
	Channel tidings.Channel
	Cause   PauseCause
	Since   time.Time
	Until   time.Time // when the provider is called again; zero: nobody knows
	Over    time.Time // zero: it lasts
}

// A PauseCause says why there is a pause.
type PauseCause string

// The causes of pauses.
const (
	PauseFailing  PauseCause = "failing"  // calls to the provider failed, one after the other
	PauseAsked    PauseCause = "asked"    // the provider asked to be left alone
	PauseOperator PauseCause = "operator" // an operator paused the lane
)

// pausesKept is for how long pauses are told of: as long as a notification may live.
const pausesKept = 31 * 24 * time.Hour

// tellPauses takes note of the pauses of a process, those that last and those that are over.
func (t *tx) tellPauses(id ProcessID, pauses []Pause, now time.Time) error {
	if len(pauses) == 0 {
		return nil
	}
	err := t.each("pause_seen", len(pauses), func(i int) []any {
		p := &pauses[i]
		return []any{p.Name, id[:], p.Since.UnixMicro(), string(p.Channel), string(p.Cause), micros(p.Until), now.UnixMicro(), micros(p.Over)}
	}, nil)
	if err != nil {
		return err
	}
	_, err = t.exec("pauses_forget", now.Add(-pausesKept).UnixMicro())
	return err
}

// endLanePause keeps the pause of a lane that is about to end.
func (t *tx) endLanePause(lane tidings.Lane, now time.Time) error {
	_, err := t.exec("pause_end", string(lane), []byte{}, string(lane.Channel()), now.UnixMicro())
	return err
}

// pauses reads what may have kept the notifications' deliveries waiting: pauses that were not
// over when they were accepted, and what operators have set for the lanes. A pause of a process that
// is gone was over when it was last heard of.
func (all trails) pauses(t *tx) error {
	oldest := slices.MinFunc(all, func(a, b *Trail) int { return a.Notification.AcceptedAt.Compare(b.Notification.AcceptedAt) })
	err := t.query("trail_pauses", []any{oldest.Notification.AcceptedAt.UnixMicro()}, func(r row) error {
		var p Pause
		var seen time.Time
		var alive bool
		err := r.Scan(&p.Name, &p.Channel, &p.Cause, instant{&p.Since}, instant{&p.Until}, instant{&seen}, instant{&p.Over}, truth{&alive})
		if p.Over.IsZero() && !alive {
			p.Over = seen
		}
		for _, l := range all {
			if !seen.Before(l.Notification.AcceptedAt) {
				l.Pauses = append(l.Pauses, p)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return all.set(t)
}

// set reads what operators have set for the lanes, and whether anybody works there.
func (all trails) set(t *tx) error {
	states, err := t.laneStates()
	if err != nil {
		return err
	}
	rates, paused := map[tidings.Lane]float64{}, []Pause(nil)
	for _, s := range states {
		rates[s.Lane] = s.Rate
		if s.Paused {
			paused = append(paused, Pause{Name: string(s.Lane), Channel: s.Lane.Channel(), Cause: PauseOperator, Since: s.Since})
		}
	}
	var worked time.Time
	if _, err := t.one("processes_seen", nil, instant{&worked}); err != nil {
		return err
	}
	for _, l := range all {
		l.Rates, l.WorkedAt, l.Pauses = rates, worked, append(l.Pauses, paused...)
	}
	return nil
}
