package store_test

import (
	"crypto/rand"
	"flag"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// modelFor is how long the log is compared with its model, on each engine. What fails is made
// small and printed with the seed that repeats it.
var modelFor = flag.Duration("model", 5*time.Second, "how long to compare each engine's log with the model")

func TestTheLogDoesWhatItsModelSays(t *testing.T) {
	eachTelling(t, func(t *testing.T, s *store.Store, told *ends) {
		began, failed, runs := time.Now(), false, 0
		rapid.Check(t, func(r *rapid.T) {
			if !failed && time.Since(began) > *modelFor {
				return
			}
			runs++
			defer func() { failed = failed || r.Failed() }()
			m := newMachine(r, s, runs)
			m.told = told
			m.forget()
			actions := m.actions()
			for range 3 { // a run of Repeat is short
				r.Repeat(actions)
			}
			m.finish()
		})
		t.Logf("%d histories", runs)
	})
}

// A machine does to the log what its model is told, and compares.
type machine struct {
	*rapid.T
	s    *store.Store
	lane tidings.Lane
	now  time.Time
	user string

	first tidings.NotificationID // none is older

	addresses []tidings.Address
	moved     []bool // by address: it is not the user's any more
	stopped   []bool // by address: the person said stop
	optedOut  bool

	notes  []*modelledNotification
	all    []*modelled
	byID   map[tidings.DeliveryID]*modelled
	claims []store.Claimed
	kept   []store.Result // recorded before, to be repeated
	strays map[string][]tidings.Receipt
	before map[tidings.DeliveryID]tidings.Delivery
	told   *ends
}

func newMachine(r *rapid.T, s *store.Store, run int) *machine {
	now := start().Add(time.Duration(run) * 24 * time.Hour)
	m := &machine{T: r, s: s, lane: bulk, now: now, user: "u_" + rand.Text(), first: tidings.NewNotificationID(now.Add(-time.Hour)),
		moved: make([]bool, 2), stopped: make([]bool, 2),
		byID: map[tidings.DeliveryID]*modelled{}, strays: map[string][]tidings.Receipt{}, before: map[tidings.DeliveryID]tidings.Delivery{}}
	for range 2 {
		a, _, err := s.RegisterAddress(r.Context(), tidings.Address{UserID: m.user, Channel: tidings.Push, Provider: "apns", Value: rand.Text()}, m.now)
		m.must(err)
		m.addresses = append(m.addresses, a)
	}
	return m
}

func (m *machine) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// actions are what may happen; what is named twice happens more often.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":       func(*rapid.T) { m.compare() },
		"accept": m.accept, "accept more": m.accept,
		"claim": m.claim, "claim more": m.claim, "claim again": m.claim,
		"record": m.record, "record more": m.record, "record again": m.repeat, "record both": m.record,
		"receipt": m.receipt, "receipt more": m.receipt, "receipt by reference": m.receiptByReference, "forged receipt": m.forged,
		"due": m.due, "due again": m.due, "lost": m.lost, "unqueue": m.unqueue, "expire": m.expire,
		"overdue": m.overdue, "overdue more": m.overdue, "give back": m.giveBack,
		"cancel": m.cancel, "redrive": m.redrive, "release": m.release, "pause": m.pause,
		"opt out": m.optOut, "move the address": m.moveAddress, "say stop": m.sayStop,
		"time": m.pass, "more time": m.pass,
	}
}

func (m *machine) pass(r *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 30_000).Draw(r, "ms")) * time.Millisecond)
}

func (m *machine) accept(r *rapid.T) {
	n := tidings.Notification{ID: tidings.NewNotificationID(m.now), App: "shop", Type: "order.shipped", UserID: m.user, Category: "orders",
		AcceptedAt: m.now, ExpiresAt: m.now.Add(time.Duration(rapid.IntRange(1, 200).Draw(r, "expires in")) * time.Second)}
	a := store.Acceptance{Notification: n}
	note := &modelledNotification{id: n.ID, expires: n.ExpiresAt}
	for i := range rapid.IntRange(1, 2).Draw(r, "deliveries") {
		d := store.NewDelivery{Lane: m.lane, Address: m.addresses[i].ID, Status: tidings.Queued, DueAt: m.now}
		if rapid.Bool().Draw(r, "parked") {
			d.Status = tidings.Parked
		}
		a.Deliveries = append(a.Deliveries, d)
	}
	if rapid.IntRange(0, 3).Draw(r, "held") == 0 {
		note.hold, note.until = tidings.HoldWaiting, m.now.Add(20*time.Second)
		a.Holds = []tidings.Hold{{ID: tidings.NewHoldID(m.now), Notification: n.ID, Channel: tidings.Push, Reason: tidings.ReasonQuietHours, Until: note.until}}
	}
	m.notes = append(m.notes, note)
	m.write(note, a)
}

// write accepts, and adds to the model what came to be.
func (m *machine) write(note *modelledNotification, a store.Acceptance) {
	got, err := m.s.Accept(m.Context(), store.Background, []store.Acceptance{a})
	m.must(err)
	for i, id := range got[0].Deliveries {
		d := &modelled{id: id, of: note, address: slices.IndexFunc(m.addresses, func(x tidings.Address) bool { return x.ID == a.Deliveries[i].Address }),
			status: a.Deliveries[i].Status, due: a.Deliveries[i].DueAt, attempts: map[answer]bool{}, told: map[int]*told{}}
		note.all, m.all, m.byID[id] = append(note.all, d), append(m.all, d), d
	}
}

// pick draws one; what there is none of does not happen.
func pick[T any](r *rapid.T, list []T, name string) T {
	if len(list) == 0 {
		r.Skip("none")
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(r, name)]
}

func (m *machine) claim(r *rapid.T) {
	var ids []tidings.DeliveryID
	for range rapid.IntRange(1, 4).Draw(r, "entries") {
		ids = append(ids, pick(r, m.all, "entry").id)
	}
	quiet := rapid.IntRange(0, 5).Draw(r, "quiet hours") == 0
	now := m.now.Add(time.Duration(rapid.IntRange(-2000, 2000).Draw(r, "the worker's clock")) * time.Millisecond)
	lease := 30 * time.Second
	got, err := m.s.Claim(m.Context(), store.Normal, store.ClaimRequest{Lane: m.lane, IDs: ids, Now: now, Lease: lease,
		Check: func(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
			status, reason, _ := preferences.Check(preferences.Recheck{Event: &tidings.EventType{Category: tidings.Category{Name: "orders", Kind: tidings.Transactional}}, Channel: tidings.Push, Preferences: c.Preferences,
				Address: c.Address, Owner: c.Notification.UserID, Suppressed: c.Suppressed, ExpiresAt: c.Notification.ExpiresAt, Cancelled: !c.Notification.CancelledAt.IsZero()}, now)
			if status == "" && quiet {
				return tidings.Parked, tidings.ReasonQuietHours, now.Add(5 * time.Second)
			}
			return status, reason, time.Time{}
		}})
	m.must(err)
	taken := map[tidings.DeliveryID]bool{}
	for _, c := range got {
		taken[c.Delivery.ID] = true
	}
	m.claims = append(m.claims, got...)
	for _, d := range m.all {
		if slices.Contains(ids, d.id) && d.is(tidings.Queued) {
			m.entry(d, quiet, now, lease)
		} else if taken[d.id] {
			m.Fatalf("claimed %s, which is %s", d.id, d.status)
		}
		if taken[d.id] && !d.is(tidings.Sending) {
			m.Fatalf("claimed, though it is to be %s", d.status)
		}
	}
}

// entry is what a worker makes of the lane entry of what is queued.
func (m *machine) entry(d *modelled, quiet bool, now time.Time, lease time.Duration) {
	switch {
	case !now.Before(d.of.expires):
		d.end(tidings.Expired)
	case m.optedOut, m.moved[d.address], m.stopped[d.address]:
		d.end(tidings.Suppressed)
	case quiet:
		d.redriven = false // other reasons count now
		d.move(tidings.Parked, now.Add(5*time.Second))
	default:
		d.move(tidings.Sending, now.Add(lease))
		d.claimNo, d.tries, d.redriven = d.claimNo+1, d.tries+1, false
	}
}

// compare looks at every delivery.
func (m *machine) compare() {
	now, err := m.s.Statuses(m.Context(), m.first)
	m.must(err)
	ended := 0
	for _, d := range m.all {
		got := now[d.id]
		if got.Status != d.status || !got.DueAt.Equal(d.due) || got.ClaimNo != d.claimNo || d.live() && got.Tries != d.tries {
			m.Fatalf("it is %s due %v, claim %d, tries %d; want %s due %v, claim %d, tries %d", got.Status, got.DueAt, got.ClaimNo, got.Tries, d.status, d.due, d.claimNo, d.tries)
		}
		if got.FinishedAt.IsZero() != d.live() {
			m.Fatalf("%s finished at %v", got.Status, got.FinishedAt)
		}
		old := m.before[d.id]
		if old.Status != "" && !tidings.CanBecome(old.Status, got.Status) {
			m.Fatalf("%s became %s, which the table of transitions forbids", old.Status, got.Status)
		}
		if !d.live() && (old.FinishedAt.IsZero() || old.Status != got.Status) {
			ended++
		}
		m.before[d.id] = got
	}
	if told := m.told.take(); len(told) != ended {
		m.Fatalf("%d ended, and the log told of %q", ended, told)
	}
}

// forget ends what a history left behind that failed.
func (m *machine) forget() {
	_, err := m.s.Expire(m.Context(), m.now, 100_000)
	m.must(err)
	m.told.take()
}

// finish lets time pass until nothing can be under way, and reads every trail.
func (m *machine) finish() {
	for range 4 {
		m.now = m.now.Add(10 * time.Minute)
		m.expire(nil)
		late, err := m.s.Overdue(m.Context(), m.now, 100_000)
		m.must(err)
		for _, o := range late {
			if d := m.byID[o.Delivery.ID]; d != nil {
				m.close(d, o.Delivery.Status, o.Delivery.ClaimNo, verdicts()[3])
			}
		}
		m.compare()
	}
	ids := make([]tidings.NotificationID, len(m.notes))
	for i, note := range m.notes {
		ids[i] = note.id
	}
	together, err := m.s.Trails(m.Context(), "shop", ids)
	m.must(err)
	for i, note := range m.notes {
		trail, err := m.s.Trail(m.Context(), "shop", note.id)
		m.must(err)
		if !reflect.DeepEqual(trail, together[i]) {
			m.Fatalf("read with others the trail is\n%+v\nalone\n%+v", together[i], trail)
		}
		for i, d := range note.all {
			m.ended(d, &trail.Deliveries[i])
		}
	}
}

// ended checks an end, and that all that was ever said of the delivery can be read.
func (m *machine) ended(d *modelled, got *store.TrailDelivery) {
	if d.live() {
		m.Fatalf("it is still %s", d.status)
	}
	if end := d.fold(); (end == tidings.Sent || end == tidings.Delivered) != d.is(tidings.Sent, tidings.Delivered) {
		m.Fatalf("the evidence says %q, and it is %s", end, d.status)
	}
	shown := map[answer]bool{}
	for _, a := range got.Attempts {
		if a.Code == store.CodeNotRecorded {
			continue // receipts tell of it, and nobody else did
		}
		shown[answer{a.Number, a.Outcome, a.EndedAt.UnixMicro()}] = true
	}
	if !maps.Equal(shown, d.attempts) {
		m.Fatalf("the trail shows attempts %v, want %v", shown, d.attempts)
	}
	receipts := 0
	for _, t := range d.told {
		receipts += len(t.receipts)
	}
	if len(got.Receipts) < receipts {
		m.Fatalf("the trail shows %d receipts, want %d", len(got.Receipts), receipts)
	}
}
