package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"tidings/api/client"
	"tidings/internal/app"
	"tidings/internal/testkit"
)

// testKey is a client whose key sends nothing.
func (w *world) testKey() *client.Client {
	w.t.Helper()
	key, secret, err := app.NewKey("shop", []string{"all"}, true, time.Now())
	if err == nil {
		err = w.app.Store.CreateKey(context.Background(), key)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return client.New("http://"+serviceAddress, key.ID, secret, client.WithDial(w.net.Dial))
}

func TestTheMetricsCountEachEndOfADelivery(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, "", nil)
		defer w.close()
		for _, user := range []string{"u_1", "u_2"} {
			w.device(user, len(user)+int(user[2]))
		}
		w.until(w.post(shipped("u_1", nil)), "sent", time.Minute)

		live := w.api
		w.api = w.testKey()
		w.until(w.post(shipped("u_1", nil)), "sent", time.Minute)
		w.api.CloseIdleConnections()
		w.api = live

		w.do(http.MethodPost, "/v1/lanes/push.bulk/pause", nil, nil)
		off, late := w.post(shipped("u_1", nil)), w.post(shipped("u_1", map[string]any{"expires_in": "1s"}))
		w.post(shipped("u_2", nil))
		w.do(http.MethodPost, "/v1/notifications/"+off+"/cancel", nil, nil)
		w.do(http.MethodDelete, "/v1/users/u_2", nil, nil)
		time.Sleep(time.Minute)
		w.until(late, "expired", time.Second)

		page := w.page("/metrics")
		for _, line := range []string{
			`tidings_deliveries_total{channel="push",provider="apns",status="sent"} 1`,
			`tidings_deliveries_total{channel="push",provider="",status="sent"} 1`,
			`tidings_deliveries_total{channel="push",provider="",status="cancelled"} 2`,
			`tidings_deliveries_total{channel="push",provider="",status="expired"} 1`,
			`tidings_deliveries_total{channel="email",provider="",status="cancelled"} 0`,
			`tidings_attempts_total{channel="push",outcome="ok",provider="apns"} 1`,
		} {
			if !strings.Contains(page, line+"\n") {
				t.Errorf("the metrics lack %s", line)
			}
		}
	})
}
