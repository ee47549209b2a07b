package intake_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"tidings"
	"tidings/internal/admission"
	"tidings/internal/intake"
	"tidings/internal/lanes"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/preferences"
	"tidings/templates"
)

// files are a catalogue with one event type for each path through intake.
var files = map[string]string{
	"catalog.yaml": `default_locale: en
categories:
  security: {kind: critical}
  orders: {kind: transactional}
  offers: {kind: marketing, consent: opt_out}
events:
  login.code: {category: security, channels: [sms], lane: priority, sensitive: true, expires_in: 5m, on_unknown: retry}
  order.shipped: {category: orders, channels: [push, email]}
  order.paid: {category: orders, channels: [email]}
  offer.weekly: {category: offers, channels: [email]}
`,
	"templates/login.code/sms.en.txt":       `Your code is {{.data.code}}`,
	"templates/order.shipped/push.en.yaml":  "title: On its way\nbody: Order {{.data.order}} has left\n",
	"templates/order.shipped/email.en.yaml": "subject: Order {{.data.order}}\n",
	"templates/order.shipped/email.en.html": `<p>Order {{.data.order}} has left with {{.data.carrier}}.</p>`,
	"templates/order.paid/email.en.yaml":    "subject: Paid\n",
	"templates/order.paid/email.en.txt":     "Thanks, {{.user.attributes.name}}",
	"templates/offer.weekly/email.en.yaml":  "subject: This week\n",
	"templates/offer.weekly/email.en.txt":   "Apples are in",
}

const version = 1 // of the catalogue

// A rig is an intake with a real log, a real broker and a catalogue.
type rig struct {
	*intake.Intake
	store   *store.Store
	lanes   *lanes.Lanes
	metrics *observe.Metrics
	ended   *observe.Metrics                              // what the log told of ends
	bounds  map[tidings.Lane]admission.Bound              // none: everything may come in
	quota   func(app string, now time.Time) time.Duration // nil: none
	files   map[string]string                             // the catalogue
}

// each runs test with a rig on every engine.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	for name, settings := range map[string]store.Settings{"sqlite": storetest.SQLite(t), "postgres": storetest.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			ended := observe.NewMetrics("test", nil, nil)
			settings.Ended = ended.Ended
			r := newRig(t, storetest.Open(t, settings))
			r.ended = ended
			test(t, r)
		})
	}
}

func newRig(t testing.TB, s *store.Store) *rig { return newBoundRig(t, s, nil) }

// newBoundRig is a rig whose lanes take no more than bounds say.
func newBoundRig(t testing.TB, s *store.Store, bounds map[tidings.Lane]admission.Bound) *rig {
	t.Helper()
	var specs []lanes.Spec
	for _, l := range []tidings.Lane{"push.bulk", "email.bulk", "sms.priority", "sms.bulk"} {
		specs = append(specs, lanes.Spec{Lane: l, MaxIDs: 100_000, AckWait: time.Minute, MaxInHand: 100})
	}
	l, err := lanes.Open(t.Context(), lanes.Settings{Dir: t.TempDir(), Lanes: specs, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r := &rig{store: s, lanes: l, bounds: bounds, files: files}
	r.Intake, r.metrics = r.another(t)
	return r
}

// another is a second intake on the same log and lanes, as a second process has one.
func (r *rig) another(t testing.TB) (*intake.Intake, *observe.Metrics) {
	t.Helper()
	catalogue, err := templates.Parse(r.files)
	if err != nil {
		t.Fatal(err)
	}
	metrics := observe.NewMetrics("test", nil, nil)
	in := intake.New(intake.Settings{
		Store: r.store, Lanes: r.lanes, Door: r.door(t),
		Catalogue: func() (*templates.Catalogue, int64) { return catalogue, version },
		Version:   func(int64) (*templates.Catalogue, error) { return catalogue, nil },
		Providers: map[tidings.Channel]preferences.Carries{tidings.Push: anywhere, tidings.SMS: anywhere, tidings.Email: anywhere},
		Defaults:  intake.Defaults{ExpiresIn: 24 * time.Hour, DedupeWindow: 24 * time.Hour},
		Quota:     r.quota,
		Metrics:   metrics, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(in.Close)
	return in, metrics
}

// door is the way into the lanes, as wide as the rig says.
func (r *rig) door(t testing.TB) *admission.Door {
	t.Helper()
	d, err := admission.Open(t.Context(), admission.Settings{Store: r.store, Bounds: r.bounds, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// shipped is an event for a user who is known by e-mail alone.
func shipped(user, key string) intake.Event {
	email := user + "@example.test"
	return hashed(intake.Event{
		App: "shop", Type: "order.shipped", User: intake.UserPatch{ID: user, Email: &email},
		Data: json.RawMessage(`{"order":"4711","carrier":"UPS"}`), DedupeKey: key,
	})
}

func loginCode(user string) intake.Event {
	phone := "+15550100"
	return hashed(intake.Event{
		App: "shop", Type: "login.code", User: intake.UserPatch{ID: user, Phone: &phone}, Data: json.RawMessage(`{"code":"482913"}`),
	})
}

// hashed sets the hash as the API does: over all but the dedupe key.
func hashed(e intake.Event) intake.Event {
	key := e.DedupeKey
	e.DedupeKey, e.Hash = "", [32]byte{}
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	e.DedupeKey, e.Hash = key, sha256.Sum256(text)
	return e
}

func (r *rig) post(t *testing.T, e intake.Event) intake.Result {
	t.Helper()
	res, err := r.Post(t.Context(), e)
	if err != nil {
		t.Fatalf("Post = %v", err)
	}
	return res
}

// accept posts an event that must be accepted.
func (r *rig) accept(t *testing.T, e intake.Event) intake.Result {
	t.Helper()
	res := r.post(t, e)
	if res.Refusal != nil || res.ID.IsZero() || res.Duplicate {
		t.Fatalf("Post = %+v, refusal %v; want it accepted", res, res.Refusal)
	}
	return res
}

func (r *rig) trail(t *testing.T, id tidings.NotificationID) *store.Trail {
	t.Helper()
	trail, err := r.store.Trail(t.Context(), "", id)
	if err != nil {
		t.Fatalf("trail of %s: %v", id, err)
	}
	return trail
}

// notifications is how many the log holds.
func (r *rig) notifications(t *testing.T) int {
	t.Helper()
	list, _, err := r.store.List(t.Context(), store.Filter{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func (r *rig) stats(t *testing.T, lane tidings.Lane) store.LaneStats {
	t.Helper()
	stats, err := r.store.LaneStats(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return stats[lane]
}

// counted is the value of a counter's series with one label.
func (r *rig) counted(t *testing.T, name, label string) float64 {
	t.Helper()
	return counted(t, r.metrics, name, label)
}

func counted(t *testing.T, metrics *observe.Metrics, name, label string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// optOut makes a user refuse a channel.
func (r *rig) optOut(t *testing.T, user string, channel tidings.Channel) {
	t.Helper()
	_, _, err := r.store.ChangePreferences(t.Context(), user, -1, time.Now(), func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
		p.Channels = map[tidings.Channel]bool{channel: false}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// published waits for the ids in a lane.
func (r *rig) published(t *testing.T, lane tidings.Lane, want int) []tidings.DeliveryID {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var ids []tidings.DeliveryID
	for len(ids) < want {
		entries, err := r.lanes.Fetch(ctx, lane, 100)
		if err != nil || len(entries) == 0 {
			t.Fatalf("lane %s holds %d deliveries, want %d: %v", lane, len(ids), want, err)
		}
		for _, e := range entries {
			ids = append(ids, e.IDs...)
			_ = e.Ack()
		}
	}
	return ids
}

// describe is a result's decisions in short.
func describe(decisions []tidings.Decision) string {
	text := ""
	for _, d := range decisions {
		text += fmt.Sprintf("%s:%s:%d:%s ", d.Channel, d.Action, d.Addresses, d.Reason)
	}
	return text
}

// anywhere is what providers carry to that leave no address out.
func anywhere(*tidings.Address) bool { return true }
