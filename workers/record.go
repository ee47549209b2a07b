package workers

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"tidings"
	"tidings/internal/group"
	"tidings/internal/observe"
	"tidings/internal/store"
)

// A recorder writes what claims came to, many in one commit.
type recorder struct {
	w     *Workers
	class store.Class
	group *group.Group[store.Result, store.Recorded]
}

const (
	maxGroup  = 200 // results of one commit
	groupWait = 2 * time.Millisecond
	firstWait = 50 * time.Millisecond // before a record that failed is repeated
	lastWait  = 2 * time.Second
)

func newRecorder(w *Workers, c store.Class) *recorder {
	r := &recorder{w: w, class: c}
	r.group = group.New(group.Config{Max: maxGroup, Wait: groupWait, Queue: maxUnrecorded}, r.flush)
	return r
}

// flush records a group, again and again while the log cannot be written: what is not recorded
// before its lease is over counts as unknown. A group that the log refuses is tried in halves,
// so that one bad row costs no other.
func (r *recorder) flush(results []store.Result) ([]store.Recorded, error) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		recorded, err := r.w.Store.Record(context.WithoutCancel(r.w.calls), r.class, results)
		if err == nil {
			return recorded, nil
		}
		r.w.Log.Error("record failed", "results", len(results), "error", err)
		if !errors.Is(err, store.ErrUnavailable) && wait > firstWait {
			return r.halves(results, err)
		}
		select {
		case <-time.After(wait):
		case <-r.w.calls.Done(): // out of time: the leases will tell
			return nil, err
		}
	}
}

func (r *recorder) halves(results []store.Result, err error) ([]store.Recorded, error) {
	if len(results) == 1 {
		r.w.Log.Error("result is lost", "delivery", results[0].Attempt.Delivery, "error", err)
		return []store.Recorded{{Late: true, Status: tidings.Unknown}}, nil
	}
	half := len(results) / 2
	first, err := r.flush(results[:half])
	if err != nil {
		return nil, err
	}
	second, err := r.flush(results[half:])
	return append(first, second...), err
}

// record records a result and does what follows from it.
func (s *sender) record(c *call, r *store.Result) {
	recorded, err := s.w.recorder[s.class].group.Do(context.WithoutCancel(s.w.calls), *r)
	s.release(c)
	if err != nil { // the entry comes again, the lease ends: both find out
		return
	}
	switch {
	case recorded.Late:
	case !r.DueAt.IsZero():
		s.w.dispatch.wakeLane(s.lane, r.DueAt)
	default:
		s.meter.add(1, time.Now())
	}
	s.hands.settle(c.from, 1)
	s.report(c, r, recorded)
}

// giveBack returns a claim for which no call was made.
func (s *sender) giveBack(c *call, why error, due time.Time) {
	err := s.w.Store.GiveBack(context.WithoutCancel(s.w.calls), s.class, []store.Return{
		{ID: c.Delivery.ID, Lane: s.lane, ClaimNo: c.Delivery.ClaimNo, DueAt: due.UTC(), At: time.Now().UTC(), Why: putBack(why)},
	})
	s.release(c)
	s.w.Log.Info("claim given back", "lane", s.lane, "delivery", c.Delivery.ID, "because", why, "error", err)
	if err != nil {
		return
	}
	s.hands.settle(c.from, 1)
	s.w.dispatch.wakeLane(s.lane, due)
}

// putBack is why a claim was given back, as the timeline tells it.
func putBack(why error) string {
	switch {
	case errors.Is(why, errOpened):
		return "not sent yet, since other calls to the provider failed and it is left alone for a while"
	case errors.Is(why, errStopping):
		return "not sent yet, since the process that was about to send it is stopping; it is taken up again"
	case errors.Is(why, errNoTime):
		return "not sent yet, since the process that was about to send it was held up; it is taken up again"
	}
	return "not sent yet; it is taken up again"
}

// release ends the claim for this process.
func (s *sender) release(c *call) {
	s.w.live.remove(c.Delivery.ID, c.Delivery.ClaimNo)
	s.open.Add(-1)
	s.wake()
}

// report counts an attempt and writes its line.
func (s *sender) report(c *call, r *store.Result, recorded store.Recorded) {
	m, a, channel := s.w.Metrics, &r.Attempt, string(c.Delivery.Channel)
	took := a.EndedAt.Sub(a.StartedAt)
	if c.called {
		m.Attempts.WithLabelValues(channel, a.Provider, string(a.Outcome)).Inc()
		m.AttemptSeconds.WithLabelValues(a.Provider).Observe(took.Seconds())
	}
	if a.Outcome == tidings.OutcomeUnknown {
		m.AttemptsUnknown.WithLabelValues(a.Provider).Inc()
	}
	if recorded.Retired {
		m.AddressesRetired.WithLabelValues(a.Provider).Inc()
	}
	level := slog.LevelInfo
	if a.Outcome == tidings.ConfigFault || a.Outcome == tidings.QuotaSpent {
		level = slog.LevelError // somebody must mend the set-up
	}
	s.w.Log.LogAttrs(context.Background(), level, "attempt",
		slog.String("delivery", c.Delivery.ID.String()), slog.String("notification", c.Notification.ID.String()),
		slog.String("app", c.Notification.App), slog.String("event", c.Notification.Type), slog.String("lane", string(s.lane)),
		slog.String("provider", a.Provider), slog.Int("attempt", a.Number), slog.String("outcome", string(a.Outcome)),
		slog.String("status", string(recorded.Status)), slog.String("reason", string(r.Reason)), slog.Bool("late", recorded.Late),
		slog.Int("http_status", a.HTTPStatus), slog.String("code", a.Code), slog.Duration("took", took),
		slog.Duration("waited", a.StartedAt.Sub(c.Delivery.QueuedAt)), slog.String("address", observe.Masked(c.Delivery.Channel, c.Address.Value)),
		slog.Bool("test", c.Notification.Test))
}
