package workers

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/templates"
)

// schedules is how many histories are tried, and firstSchedule is the seed of the first.
var (
	schedules     = flag.Int("schedules", 40, "how many histories of crashes, stalls and losses to try")
	firstSchedule = flag.Uint64("schedule", 1, "the seed of the first history")
)

const scheduleLane = tidings.Lane("sms.bulk")

func TestWhateverFailsNothingIsLostAndNothingIsSentTwiceUnlessTheTrailSays(t *testing.T) {
	log := storetest.Open(t, storetest.Hasty(t))
	seen := map[string]int{}
	for i := range uint64(*schedules) {
		seed := *firstSchedule + i
		h := newHistory(t, log, seed, i)
		h.run()
		h.judge(seen)
		if t.Failed() {
			t.Fatalf("repeat it with -schedules 1 -schedule %d", seed)
		}
	}
	t.Logf("%d histories: %v", *schedules, seen)
	for _, must := range []string{"sent", "doubled", "unknown", "expired", "cancelled", "late"} {
		if seen[must] == 0 && *schedules >= 40 {
			t.Errorf("in no history anything was %s: they prove nothing about that", must)
		}
	}
}

// A history is what a seed makes of one lane: processes that crash and stall, a broker that loses
// and doubles, a provider whose answers get lost, and people who change their minds.
type history struct {
	t         *testing.T
	rng       *rand.Rand
	log       *store.Store
	catalogue *templates.Catalogue
	config    Config
	now       time.Time
	lane      *lossyLane
	processes []*fickle

	all       []tidings.DeliveryID
	expires   map[tidings.DeliveryID]time.Time
	accepted  map[tidings.DeliveryID]int       // by the provider, whatever it said
	told      map[tidings.DeliveryID]bool      // the log was told that it accepted
	pauses    map[tidings.DeliveryID]time.Time // until when it may not be tried again
	cancelled map[tidings.NotificationID]bool
	receipts  []tidings.Receipt // on their way
}

func newHistory(t *testing.T, log *store.Store, seed, place uint64) *history {
	h := &history{t: t, rng: rand.New(rand.NewPCG(seed, 7)), log: log, config: DefaultConfig(),
		now:     time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(place) * 24 * time.Hour),
		expires: map[tidings.DeliveryID]time.Time{}, accepted: map[tidings.DeliveryID]int{}, told: map[tidings.DeliveryID]bool{},
		pauses: map[tidings.DeliveryID]time.Time{}, cancelled: map[tidings.NotificationID]bool{}}
	h.config.Delivery.MaxAttempts, h.config.Delivery.RetryBase = 6, 8*time.Second
	category := tidings.Category{Name: "orders", Kind: tidings.Transactional}
	h.catalogue = &templates.Catalogue{Events: map[string]*tidings.EventType{
		"retry": {Name: "retry", Category: category, OnUnknown: &tidings.OnUnknown{Retry: true}},
		"wait":  {Name: "wait", Category: category, OnUnknown: &tidings.OnUnknown{Wait: 40 * time.Second, Retry: true}},
		"give":  {Name: "give", Category: category, OnUnknown: &tidings.OnUnknown{}},
	}}
	h.lane = &lossyLane{rng: h.rng, ackWait: h.config.Lane(scheduleLane).AckWait}
	for range 3 {
		h.processes = append(h.processes, newFickle(h, time.Duration(h.rng.IntN(2000))*time.Millisecond-time.Second))
	}
	return h
}

func (h *history) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// run is a time of trouble, and then as much calm as anything may need to end.
func (h *history) run() {
	for range 900 {
		h.pass(600)
		switch n := h.rng.IntN(100); {
		case n < 3:
			h.accept()
		case n < 4:
			h.cancel()
		case n < 6:
			h.hear()
		case n == 6 && h.rng.IntN(6) == 0:
			h.lane.forget()
		default:
			h.processes[h.rng.IntN(len(h.processes))].step()
		}
	}
	h.lane.calm = true
	for i := 0; i < 20_000 && (i%50 != 0 || h.unfinished() > 0); i++ {
		h.pass(400)
		h.hear()
		h.processes[h.rng.IntN(len(h.processes))].step()
	}
}

func (h *history) pass(most int) {
	h.now = h.now.Add(time.Duration(1+h.rng.IntN(most*1000)) * time.Microsecond)
}

// accept posts a notification, and publishes it unless the process dies before.
func (h *history) accept() {
	f := h.processes[h.rng.IntN(len(h.processes))]
	stamp := f.now()
	n := tidings.Notification{ID: tidings.NewNotificationID(stamp), App: "shop", UserID: "u_1", Category: "orders", AcceptedAt: stamp,
		Type: []string{"retry", "wait", "give"}[h.rng.IntN(3)], ExpiresAt: stamp.Add(time.Duration(30+h.rng.IntN(600)) * time.Second)}
	a := store.Acceptance{Notification: n}
	for range 1 + h.rng.IntN(2) {
		address := tidings.Address{ID: tidings.NewAddressID(stamp), UserID: "u_1", Channel: tidings.SMS, Value: "+15550100"}
		a.NewAddresses = append(a.NewAddresses, address)
		a.Deliveries = append(a.Deliveries, store.NewDelivery{Lane: scheduleLane, Address: address.ID, Status: tidings.Queued, DueAt: stamp})
	}
	got, err := h.log.Accept(h.t.Context(), store.Background, []store.Acceptance{a})
	h.must(err)
	ids := got[0].Deliveries
	h.all = append(h.all, ids...)
	for _, id := range ids {
		h.expires[id] = n.ExpiresAt
	}
	if h.rng.IntN(10) > 0 && !h.lane.publish(ids, stamp, h.now) {
		h.must(h.log.Unqueue(h.t.Context(), ids, stamp, stamp.Add(publishGrace)))
	}
}

func (h *history) cancel() {
	if len(h.all) == 0 {
		return
	}
	id := tidings.NotificationOf(h.all[h.rng.IntN(len(h.all))])
	if _, err := h.log.Cancel(h.t.Context(), "", id, h.now); err == nil {
		h.cancelled[id] = true
	}
}

// expectReceipt puts news of an accepted call on its way, which may take long or never come.
func (h *history) expectReceipt(c *store.Claimed) {
	if h.rng.IntN(3) > 0 {
		return
	}
	r := tidings.Receipt{Provider: "apns", Delivery: c.Delivery.ID, Attempt: c.Delivery.ClaimNo, Status: tidings.ReceiptDelivered,
		At: h.now, ReceivedAt: h.now.Add(time.Duration(h.rng.IntN(120)) * time.Second)}
	h.receipts = append(h.receipts, r)
}

func (h *history) hear() {
	for i, r := range h.receipts {
		if r.ReceivedAt.After(h.now) {
			continue
		}
		_, err := h.log.ApplyReceipts(h.t.Context(), []tidings.Receipt{r})
		h.must(err)
		h.receipts = append(h.receipts[:i:i], h.receipts[i+1:]...)
		h.told[r.Delivery] = true
		return
	}
}

func (h *history) unfinished() (n int) {
	stats, err := h.log.LaneStats(h.t.Context(), h.now)
	h.must(err)
	s := stats[scheduleLane]
	n = s.Parked + s.Due + s.Queued + s.Sending + s.Unknown + len(h.receipts)
	for _, f := range h.processes {
		n += len(f.calls)
	}
	return n
}

// judge looks at every end with what the provider knows.
func (h *history) judge(seen map[string]int) {
	for _, id := range h.all {
		trail, err := h.log.Trail(h.t.Context(), "", tidings.NotificationOf(id))
		h.must(err)
		d := trail.Deliveries[tidings.OrdinalOf(id)]
		unclear, calls := 0, h.accepted[id]
		for _, a := range d.Attempts {
			if a.Outcome == tidings.OutcomeUnknown {
				unclear++
			}
			if a.Late {
				seen["late"]++
			}
		}
		seen[string(d.Status)]++
		if calls > 1 {
			seen["doubled"]++
		}
		if wrong := h.wrong(&d, calls, unclear); wrong != "" {
			h.t.Errorf("%s: %s (%s), accepted %d times, %d unclear attempts of %d", wrong, d.Status, d.Reason, calls, unclear, len(d.Attempts))
		}
	}
}

func (h *history) wrong(d *store.TrailDelivery, calls, unclear int) string {
	reached := d.Status == tidings.Sent || d.Status == tidings.Delivered
	switch {
	case !d.DueAt.IsZero():
		return "stuck"
	case reached && calls == 0:
		return "the log says that it was accepted, and it was not"
	case h.told[d.ID] && !reached:
		return "the log was told that it was accepted, and forgot"
	case calls > 1+unclear, calls > 0 && !reached && unclear == 0:
		return "it was accepted, and the trail does not tell"
	case d.Status == tidings.Expired && d.FinishedAt.Before(h.expires[d.ID].Add(-maxSkew)):
		return "expired too early"
	case d.Status == tidings.Cancelled && !h.cancelled[tidings.NotificationOf(d.ID)]:
		return "cancelled by nobody"
	case d.Status == tidings.Unknown && unclear == 0:
		return "unknown, and no attempt was"
	case d.Status == tidings.Dead && d.Reason == tidings.ReasonPoison && unclear < maxDeaths:
		return "stopped as poison, and too few of its claims died"
	case d.Status == tidings.Dead && d.Reason != tidings.ReasonPoison && d.Tries < h.config.Delivery.MaxAttempts:
		return "dead with tries left"
	case d.Status == tidings.Suppressed, d.Status == tidings.Bounced:
		return "nobody asked for this end"
	}
	return ""
}
