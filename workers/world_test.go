package workers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tidings"
	"tidings/deploy"
	"tidings/internal/lanes"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/internal/testkit"
	"tidings/templates"
)

func TestMain(m *testing.M) {
	testkit.PrepareBubbles()
	os.Exit(m.Run())
}

// A world is a real log, a real broker and workers with scripted providers, in virtual time.
type world struct {
	t         testing.TB
	dir       string
	log       store.Settings
	config    Config
	providers []Provider
	routes    map[tidings.Channel][]Route
	metrics   *observe.Metrics
	store     *store.Store
	lanes     *lanes.Lanes
	catalogue *templates.Catalogue
	users     int
	running   []*Workers
	all       []tidings.DeliveryID // ever accepted
}

// inWorld runs f with a world on SQLite, in a bubble.
func inWorld(t *testing.T, providers []Provider, f func(t *testing.T, w *world)) {
	t.Helper()
	inWorldOn(t, storetest.SQLite(t), providers, f)
}

// inEachWorld runs f on SQLite and on PostgreSQL.
func inEachWorld(t *testing.T, providers func() []Provider, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { inWorldOn(t, storetest.SQLite(t), providers(), f) })
	t.Run("postgres", func(t *testing.T) { inWorldOn(t, storetest.Postgres(t), providers(), f) })
}

func inWorldOn(t *testing.T, log store.Settings, providers []Provider, f func(t *testing.T, w *world)) {
	t.Helper()
	catalogue, dir := sample(t), t.TempDir()
	testkit.Bubble(t, func(t *testing.T) {
		w := &world{t: t, dir: dir, log: log, config: DefaultConfig(), providers: providers, catalogue: catalogue}
		w.open()
		t.Cleanup(func() { // also when f gives up half-way
			for _, workers := range w.running {
				w.stop(workers)
			}
			w.close()
		})
		f(t, w)
	})
}

// pass lets time go by, and all that falls due in it come to rest.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func sample(t testing.TB) *templates.Catalogue {
	t.Helper()
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := templates.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	return catalogue
}

func (w *world) open() {
	w.t.Helper()
	var err error
	log := slog.New(slog.DiscardHandler)
	var shown []observe.Provider
	for _, p := range w.providers {
		shown = append(shown, observe.Provider{Name: p.Name, Channel: string(p.Channel)})
	}
	w.metrics = observe.NewMetrics("test", shown, nil)
	w.log.Ended = w.metrics.Ended
	w.store, err = store.Open(w.t.Context(), w.log)
	if err != nil {
		w.t.Fatal(err)
	}
	s := lanes.Settings{Dir: filepath.Join(w.dir, "nats"), Log: log}
	for _, channel := range []tidings.Channel{tidings.Push, tidings.SMS, tidings.Email} {
		for _, p := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
			s.Lanes = append(s.Lanes, w.config.Spec(tidings.LaneOf(channel, p)))
		}
	}
	if w.lanes, err = lanes.Open(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close() {
	w.t.Helper()
	if err := w.lanes.Close(); err != nil {
		w.t.Error(err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

// start starts workers; they are stopped after the test, if the test does not.
func (w *world) start() *Workers {
	w.t.Helper()
	return w.startWith(w.settings())
}

func (w *world) startWith(s Settings) *Workers {
	w.t.Helper()
	workers, err := Start(w.t.Context(), s)
	if err != nil {
		w.t.Fatal(err)
	}
	w.running = append(w.running, workers)
	return workers
}

func (w *world) settings() Settings {
	return Settings{
		Config: w.config, Store: w.store, Lanes: w.lanes, Providers: w.providers, Routes: w.routes,
		Catalogue: func(int64) (*templates.Catalogue, error) { return w.catalogue, nil },
		Release:   func(context.Context, []tidings.Hold, []tidings.Notification, time.Time) error { return nil },
		Digests:   func(context.Context, time.Time) (bool, error) { return false, nil },
		Metrics:   w.metrics,
		Log:       slog.New(slog.DiscardHandler),
	}
}

func (w *world) stop(workers *Workers) {
	w.t.Helper()
	w.running = slices.DeleteFunc(slices.Clone(w.running), func(r *Workers) bool { return r == workers })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := workers.Stop(ctx); err != nil {
		w.t.Error(err)
	}
}

// An order is what accept is to make.
type order struct {
	event   string
	channel tidings.Channel
	value   string // of the address; empty: one that is made up
	token   string // provider of a push token
	data    string
	test    bool
	expires time.Duration
	version int64         // of the catalogue; 0: 1
	unsent  bool          // accepted and not published, as when the process died between
	ahead   time.Duration // how far the stamp is ahead of the clock
	fresh   time.Duration // how long it is fresh work; 0: always
}

// accept makes n notifications of one delivery each and puts them into their lane.
func (w *world) accept(n int, o order) []tidings.DeliveryID {
	w.t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	lane := tidings.LaneOf(o.channel, w.catalogue.Events[o.event].Priority)
	var group []store.Acceptance
	for range n {
		group = append(group, w.acceptance(o, lane, now))
	}
	accepted, err := w.store.Accept(w.t.Context(), store.Normal, group)
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []tidings.DeliveryID
	for _, a := range accepted {
		ids = append(ids, a.Deliveries...)
	}
	w.all = append(w.all, ids...)
	if o.unsent {
		return ids
	}
	if failed, _ := w.lanes.Publish(w.t.Context(), lane, now, ids); len(failed) > 0 { // as intake does
		if err := w.store.Unqueue(w.t.Context(), failed, now, now.Add(publishGrace)); err != nil {
			w.t.Fatal(err)
		}
	}
	return ids
}

func (w *world) acceptance(o order, lane tidings.Lane, now time.Time) store.Acceptance {
	w.users++
	user := fmt.Sprintf("u_%d", w.users)
	address := tidings.Address{ID: tidings.NewAddressID(now), UserID: user, Channel: o.channel, Provider: o.token, Value: o.value,
		Status: tidings.AddressActive, RegisteredAt: now}
	if address.Value == "" {
		address.Value = fmt.Sprintf("+1555%07d", w.users)
	}
	if o.expires == 0 {
		o.expires = 24 * time.Hour
	}
	if o.data == "" {
		o.data = `{"order":"4711","carrier":"UPS","code":"482913","amount":"9.99","currency":"EUR","headline":"Less"}`
	}
	event := w.catalogue.Events[o.event]
	var fresh time.Time
	if o.fresh > 0 {
		fresh = now.Add(o.fresh)
	}
	return store.Acceptance{
		Notification: tidings.Notification{ID: tidings.NewNotificationID(now), App: "shop", Test: o.test, Type: o.event, UserID: user,
			Category: event.Category.Name, CatalogVersion: cmp.Or(o.version, 1), Data: json.RawMessage(o.data), Sensitive: event.Sensitive,
			AcceptedAt: now, ExpiresAt: now.Add(o.expires)},
		User:         &tidings.User{ID: user, CreatedAt: now, UpdatedAt: now},
		NewAddresses: []tidings.Address{address},
		Deliveries:   []store.NewDelivery{{Lane: lane, Address: address.ID, Status: tidings.Queued, DueAt: now.Add(o.ahead), FreshUntil: fresh}},
	}
}

// delivery is the delivery with its attempts.
func (w *world) delivery(id tidings.DeliveryID) store.TrailDelivery {
	w.t.Helper()
	trail, err := w.store.Trail(w.t.Context(), "", tidings.NotificationOf(id))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range trail.Deliveries {
		if d.ID == id {
			return d
		}
	}
	w.t.Fatalf("delivery %v is not in its trail", id)
	return store.TrailDelivery{}
}

// ends checks what deliveries ended as.
func (w *world) ends(status tidings.Status, reason tidings.Reason, ids ...tidings.DeliveryID) {
	w.t.Helper()
	for _, id := range ids {
		if d := w.delivery(id); d.Status != status || d.Reason != reason || !d.DueAt.IsZero() {
			w.t.Errorf("delivery is %s (%s), due %v; want %s (%s); attempts %+v", d.Status, d.Reason, d.DueAt, status, reason, d.Attempts)
		}
	}
}

// outcomes are those of a delivery's attempts, in order.
func (w *world) outcomes(id tidings.DeliveryID) (all []string) {
	w.t.Helper()
	for _, a := range w.delivery(id).Attempts {
		all = append(all, a.Provider+":"+string(a.Outcome))
	}
	return all
}
