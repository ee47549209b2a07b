package store_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"tidings"
	"tidings/internal/store"
)

func (m *machine) due(r *rapid.T) {
	got, err := m.s.Due(m.Context(), m.lane, m.now, 100_000)
	m.must(err)
	for _, d := range m.all {
		due := d.is(tidings.Parked) && !d.due.After(m.now)
		if due {
			d.move(tidings.Queued, m.now)
		}
		if slices.Contains(got, d.id) != due {
			m.Fatalf("taken: %v, want %v", !due, due)
		}
	}
}

func (m *machine) lost(r *rapid.T) {
	horizon := m.now.Add(-time.Duration(rapid.IntRange(0, 20).Draw(r, "seconds")) * time.Second)
	_, err := m.s.Lost(m.Context(), m.lane, horizon, m.now, 100_000)
	m.must(err)
	for _, d := range m.all {
		if d.is(tidings.Queued) && d.due.Before(horizon) {
			d.move(tidings.Parked, m.now)
		}
	}
}

func (m *machine) unqueue(r *rapid.T) {
	d := pick(r, m.all, "delivery")
	stamp := pick(r, m.all, "stamp").due
	if stamp.IsZero() {
		r.Skip("no stamp")
	}
	m.must(m.s.Unqueue(m.Context(), []tidings.DeliveryID{d.id}, stamp, m.now.Add(5*time.Second)))
	if d.is(tidings.Queued) && d.due.Equal(stamp) {
		d.move(tidings.Parked, m.now.Add(5*time.Second))
	}
}

func (m *machine) expire(*rapid.T) {
	_, err := m.s.Expire(m.Context(), m.now, 100_000)
	m.must(err)
	for _, d := range m.all {
		if d.is(tidings.Parked, tidings.Queued) && !d.of.expires.After(m.now) {
			d.end(tidings.Expired)
		}
	}
}

// overdue is a dispatcher, or two that saw the same.
func (m *machine) overdue(r *rapid.T) {
	late, err := m.s.Overdue(m.Context(), m.now, 100_000)
	m.must(err)
	v := verdicts()[rapid.IntRange(3, 5).Draw(r, "rule")]
	listed := map[tidings.DeliveryID]bool{}
	for _, o := range late {
		d := m.byID[o.Delivery.ID]
		if d == nil {
			continue // of another machine
		}
		listed[d.id] = true
		for range rapid.IntRange(1, 2).Draw(r, "dispatchers") {
			m.close(d, o.Delivery.Status, o.Delivery.ClaimNo, v)
		}
	}
	for _, d := range m.all {
		if d.is(tidings.Sending, tidings.Unknown) && d.live() && !d.due.After(m.now) && !listed[d.id] {
			m.Fatalf("%s is overdue and not listed", d.status)
		}
	}
}

func (m *machine) close(d *modelled, saw tidings.Status, n int, v verdict) {
	due := time.Time{}
	if v.status == tidings.Parked || v.wait > 0 {
		due = m.now.Add(v.wait)
	}
	if saw == tidings.Sending {
		held := d.is(tidings.Sending) && d.claimNo == n
		_, err := m.s.Record(m.Context(), store.Background, []store.Result{{Lane: m.lane, Status: v.status, DueAt: due, OnlyHeld: true,
			Attempt: tidings.Attempt{Delivery: d.id, Number: n, StartedAt: m.now, EndedAt: m.now, Outcome: tidings.OutcomeUnknown, Code: "lease_over"}}})
		m.must(err)
		if held {
			d.recorded(n, v, m.now)
		}
		return
	}
	if v.status == tidings.Unknown {
		due = time.Time{} // the wait is over
	}
	m.must(m.s.Resolve(m.Context(), []store.Resolution{{ID: d.id, Lane: m.lane, ClaimNo: n, Status: v.status, DueAt: due}}))
	switch {
	case !d.is(tidings.Unknown) || d.claimNo != n || !d.live():
	case v.status == tidings.Parked:
		d.park(due)
	default:
		d.end(tidings.Unknown)
	}
}
