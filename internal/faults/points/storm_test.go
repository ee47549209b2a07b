package points

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tidings"
	"tidings/internal/config"
	"tidings/internal/faults"
	"tidings/internal/testkit"
)

const (
	// stormsVariable says how many seeds are tried, or "=SEED" for one alone.
	stormsVariable = "TIDINGS_STORMS"
	fewStorms      = 2
	stormUsers     = 8
	stormPosts     = 40
	afterStorm     = 30 * time.Minute // in which everything must come to its end
)

// Whatever fails, and however often: once it is over, everything comes to its end.
func TestAfterAStormEverythingComesToItsEnd(t *testing.T) {
	keys := t.TempDir()
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			for _, seed := range seeds(t) {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					storm(t, e, setup{keys: keys, database: e.url(t), edit: impatient}, seed)
				})
			}
		})
	}
}

func impatient(c *config.Config) { c.Workers.Delivery.RetryCap = time.Minute }

// seeds are those to try, new ones each time.
func seeds(t *testing.T) (all []uint64) {
	wanted := os.Getenv(stormsVariable)
	if len(wanted) > 1 && wanted[0] == '=' {
		seed, err := strconv.ParseUint(wanted[1:], 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", stormsVariable, err)
		}
		return []uint64{seed}
	}
	n, err := strconv.Atoi(wanted)
	if err != nil {
		n = fewStorms
	}
	for range n {
		all = append(all, rand.Uint64N(1_000_000))
	}
	return all
}

// storm lets many things happen while much fails.
func storm(t *testing.T, e engine, set setup, seed uint64) {
	settings := faults.DiceSettings{Seed: seed, Most: 80, Deaths: seed%2 == 0, Errors: faults.ServerErrors(), Server: true}
	if e.name == "sqlite" {
		errors, err := faults.FileErrors(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		settings.Errors, settings.Server = errors, false
	}
	dice := faults.NewDice(settings)
	dice.PutAway(true)
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, set, dice.Judge)
		defer w.close()
		for i := range stormUsers {
			w.device(user(i), i)
			w.contact(user(i), i)
		}
		dice.PutAway(false)
		w.faults(`[{"provider":"apns","share":0.1,"do":{"status":503}},{"provider":"apns","share":0.05,"do":{"reset":"after"}},
			{"provider":"twilio","share":0.1,"do":{"status":500}},{"provider":"twilio","share":0.05,"do":{"hang":"20s"}},
			{"provider":"twilio","share":0.1,"do":{"status":429,"headers":{"Retry-After":"7"}}},
			{"provider":"smtp","share":0.1,"do":{"status":451,"at":"rcpt"}},{"provider":"smtp","share":0.1,"do":{"reset":"after"}}]`)
		w.live(rand.New(rand.NewPCG(seed, 1)))
		dice.PutAway(true)
		w.sim.ClearFaults()
		w.rest(afterStorm)
		time.Sleep(calm)
		synctest.Wait()
		v := w.verdict(faults.LongestDelay + 2*time.Second)
		t.Logf("%d deaths, %v; %+v", len(w.deaths), dice.Drawn(), v.Figures)
		for _, broken := range v.Violations {
			w.show(broken)
			t.Errorf("%v (%s==%d tries it again)", broken, stormsVariable, seed)
		}
	})
}

func user(i int) string { return fmt.Sprint("u_", i) }

// live lets users get, miss and refuse messages for a while.
func (w *world) live(dice *rand.Rand) {
	var ids []string
	for range stormPosts {
		u := user(dice.IntN(stormUsers))
		event := []func(string) map[string]any{shipped, code, owed, offer}[dice.IntN(4)](u)
		switch dice.IntN(10) {
		case 0:
			event["send_at"] = time.Now().Add(time.Duration(dice.IntN(20)) * time.Second).UTC().Format(time.RFC3339)
		case 1:
			event["expires_in"] = "30s"
		}
		ids = append(ids, w.post(event))
		switch dice.IntN(15) {
		case 0:
			w.do(http.MethodPost, "/v1/notifications/"+ids[dice.IntN(len(ids))]+"/cancel", nil, nil)
		case 1:
			w.optOut(u, []string{"orders", "offers"}[dice.IntN(2)])
		}
		time.Sleep(time.Duration(dice.IntN(3000)) * time.Millisecond)
	}
}

// show logs the trail that a violation is about.
func (w *world) show(v faults.Violation) {
	n := v.Notification
	if n.IsZero() {
		n = tidings.NotificationOf(v.Delivery)
	}
	var trail json.RawMessage
	if w.do(http.MethodGet, "/v1/notifications/"+n.String(), nil, &trail) == http.StatusOK {
		w.t.Logf("%s", trail)
	}
}
