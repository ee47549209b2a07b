package store_test

import (
	"errors"
	"slices"

	"pgregory.net/rapid"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

func (m *machine) giveBack(r *rapid.T) {
	c := pick(r, m.claims, "claim")
	m.must(m.s.GiveBack(m.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, Lane: m.lane, ClaimNo: c.Delivery.ClaimNo, DueAt: m.now}}))
	if d := m.byID[c.Delivery.ID]; d.is(tidings.Sending) && d.claimNo == c.Delivery.ClaimNo {
		d.tries--
		d.park(m.now)
	}
}

func (m *machine) cancel(r *rapid.T) {
	note := pick(r, m.notes, "notification")
	some := note.cancelled || note.hold == tidings.HoldWaiting || slices.ContainsFunc(note.all, func(d *modelled) bool { return d.live() || d.is(tidings.Dead) })
	_, err := m.s.Cancel(m.Context(), "", note.id, m.now)
	if errors.Is(err, store.ErrNothing) == some || !some && err == nil || some && err != nil {
		m.Fatalf("cancel says %v; there was something: %v", err, some)
	}
	if !some || note.cancelled {
		return
	}
	note.cancelled = true
	if note.hold == tidings.HoldWaiting {
		note.hold = tidings.HoldCancelled
	}
	for _, d := range note.all {
		if d.is(tidings.Parked, tidings.Queued, tidings.Dead) {
			d.end(tidings.Cancelled)
		}
	}
}

// redrive is an operator, or two, who want what ended badly tried again.
func (m *machine) redrive(r *rapid.T) {
	d := pick(r, m.all, "delivery")
	from := pick(r, []tidings.Status{tidings.Dead, tidings.Dead, tidings.Failed, tidings.Unknown}, "from")
	for range rapid.IntRange(1, 2).Draw(r, "clicks") {
		_, err := m.s.Redrive(m.Context(), store.Redrive{IDs: []tidings.DeliveryID{d.id}, From: from, Now: m.now})
		m.must(err)
	}
	if !d.is(from) || d.live() {
		return
	}
	d.tries, d.redriven = 0, true
	if !m.now.Before(d.of.expires) && !d.of.cancelled {
		d.end(tidings.Expired)
		return
	}
	d.park(m.now)
}

// release is two processes that found the same hold due.
func (m *machine) release(*rapid.T) {
	holds, _, err := m.s.DueHolds(m.Context(), m.now, 100_000)
	m.must(err)
	for _, note := range m.notes {
		i := slices.IndexFunc(holds, func(h tidings.Hold) bool { return h.Notification == note.id })
		if due := note.hold == tidings.HoldWaiting && !note.until.After(m.now); due != (i >= 0) {
			m.Fatalf("a hold is due: %v, want %v", !due, due)
		}
		if i < 0 {
			continue
		}
		a := store.Acceptance{Notification: tidings.Notification{ID: note.id, App: "shop", UserID: m.user, ExpiresAt: note.expires}, Release: &holds[i],
			Deliveries: []store.NewDelivery{{Lane: m.lane, Address: m.addresses[0].ID, Status: tidings.Parked, DueAt: m.now}}}
		m.write(note, a)
		again, err := m.s.Accept(m.Context(), store.Background, []store.Acceptance{a})
		m.must(err)
		if !again[0].Consumed {
			m.Fatal("a hold was released twice")
		}
		note.hold = tidings.HoldReleased
	}
}

func (m *machine) pause(r *rapid.T) {
	m.must(m.s.SetLanePaused(m.Context(), m.lane, rapid.Bool().Draw(r, "paused"), m.now)) // changes no delivery
}

func (m *machine) optOut(r *rapid.T) {
	m.optedOut = rapid.IntRange(0, 2).Draw(r, "out") == 0
	_, _, err := m.s.ChangePreferences(m.Context(), m.user, -1, m.now, func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
		p.Channels = map[tidings.Channel]bool{tidings.Push: !m.optedOut}
		return nil, nil
	})
	m.must(err)
}

func (m *machine) moveAddress(r *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(r, "address")
	a, to := m.addresses[i], m.user
	switch rapid.IntRange(0, 3).Draw(r, "to") {
	case 0:
		to = m.user + "_other"
	case 1:
		if !m.moved[i] {
			m.must(m.s.RetireAddress(m.Context(), m.user, a.ID, m.now))
			m.moved[i] = true
		}
		return
	}
	_, _, err := m.s.RegisterAddress(m.Context(), tidings.Address{UserID: to, Channel: tidings.Push, Provider: "apns", Value: a.Value}, m.now)
	m.must(err)
	m.moved[i] = to != m.user
}

func (m *machine) sayStop(r *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(r, "address")
	if m.stopped[i] = rapid.IntRange(0, 2).Draw(r, "stop") == 0; m.stopped[i] {
		m.must(m.s.Suppress(m.Context(), tidings.Push, m.addresses[i].Value, tidings.ReasonOptedOutChannel, "support", m.now))
		return
	}
	m.must(m.s.Unsuppress(m.Context(), tidings.Push, m.addresses[i].Value))
}
