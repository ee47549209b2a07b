package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tidings/channels"
	"tidings/internal/config"
	"tidings/internal/testkit"
)

// besideABroker runs a scenario with an external broker, on SQLite and on PostgreSQL.
func besideABroker(t *testing.T, scenario func(t *testing.T, w *world)) {
	for _, database := range []struct{ name, url string }{{"sqlite", ""}, {"postgres", testkit.Postgres(t)}} {
		t.Run(database.name, func(t *testing.T) {
			testkit.Bubble(t, func(t *testing.T) {
				broker := testkit.NewBroker(t)
				defer broker.Stop()
				w := newWorldBeside(t, broker, database.url, func(c *config.Config) { c.NATSURL = channels.Secret(broker.URL()) })
				defer w.close()
				scenario(t, w)
			})
		})
	}
}

func TestABrokerThatIsAwayForNinetySecondsCostsNobodyTheirPush(t *testing.T) {
	for why, comeBack := range map[string]func(*testkit.Broker){
		"on its files": (*testkit.Broker).Start,
		"on none":      func(b *testkit.Broker) { b.LoseFiles(); b.Start() },
	} {
		t.Run(why, func(t *testing.T) {
			besideABroker(t, func(t *testing.T, w *world) {
				w.device("u_1", 1)
				w.faults(`[{"provider":"apns","do":{"delay":"200ms"}}]`)
				var ids []string
				for range 300 { // some are in the lane when the broker goes
					ids = append(ids, w.post(shipped("u_1", nil)))
				}
				w.broker.Stop()
				for i := range 90 {
					ids = append(ids, w.post(shipped("u_1", nil)))
					if i%10 == 5 {
						if about := w.refused(http.MethodGet, "/readyz", nil); w.sqlite && !strings.Contains(about, "broker") {
							t.Errorf("readiness says %q", about)
						}
						if s := w.trail(ids[len(ids)-5]).Summary; !strings.Contains(s, "the broker cannot be used at present") {
							t.Errorf("the trail says %s", s)
						}
					}
					time.Sleep(time.Second)
				}
				comeBack(w.broker)
				back := time.Now()
				for _, id := range ids {
					w.until(id, "sent", 30*time.Second)
				}
				if took := time.Since(back); took > 30*time.Second {
					t.Errorf("all were sent %v after the broker was back", took)
				}
				if w.sqlite {
					w.do(http.MethodGet, "/readyz", nil, nil)
				}
				w.onceEach(len(ids))
			})
		})
	}
}

// Nothing but the clocks is wrong here: that of the bubble, and that of the database.
func TestAClockThatIsFarOffTurnsReadinessRed(t *testing.T) {
	url := testkit.Postgres(t)
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, url, nil)
		defer w.close()
		if about := w.refused(http.MethodGet, "/readyz", nil); !strings.Contains(about, "clock") {
			t.Errorf("readiness says %q", about)
		}
	})
}

func TestABrokerThatComesAndGoesAllTheTimeLosesAndRepeatsNothing(t *testing.T) {
	besideABroker(t, func(t *testing.T, w *world) {
		w.faults(`[{"provider":"apns","do":{"delay":"700ms"}}]`)
		var ids []string
		for i := range 200 {
			user := fmt.Sprintf("u_%d", i)
			w.device(user, i)
			ids = append(ids, w.post(shipped(user, nil)))
			switch i % 20 {
			case 5:
				w.broker.Stop()
			case 11:
				if i%40 > 20 {
					w.broker.LoseFiles()
				}
				w.broker.Start()
			}
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		for _, id := range ids {
			w.until(id, "sent", 5*time.Minute)
		}
		w.onceEach(len(ids))
	})
}
