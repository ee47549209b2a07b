package app_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"tidings/api/client"
	"tidings/api/wire"
	"tidings/internal/config"
)

// month is longer than the detail is kept.
const month = 31 * 24 * time.Hour

// away lets time pass while the service stands still, and gives the keeper its first round after it.
func (w *world) away(d time.Duration) {
	w.t.Helper()
	w.stop()
	time.Sleep(d)
	w.start()
	time.Sleep(2 * time.Minute)
}

// forgotten reports whether the trail of a notification is gone.
func (w *world) forgotten(id string) bool {
	w.t.Helper()
	var problem *client.Error
	err := w.api.Do(w.t.Context(), http.MethodGet, "/v1/notifications/"+id, nil, nil)
	if err != nil && (!errors.As(err, &problem) || problem.Status != http.StatusNotFound) {
		w.t.Fatal(err)
	}
	return err != nil
}

func (w *world) statistics(query string) []wire.Statistic {
	w.t.Helper()
	var s wire.Statistics
	w.do(http.MethodGet, "/v1/statistics"+query, nil, &s)
	return s.Data
}

func TestAfterAMonthTheDetailIsGoneAndTheSumsStay(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		first, day := w.post(shipped("u_1", nil)), time.Now().UTC()
		w.until(first, "sent", time.Minute)
		query := "?since=" + day.Format(time.DateOnly) + "&until=" + day.AddDate(0, 0, 1).Format(time.DateOnly)
		before := w.statistics(query)
		want := wire.Statistic{Day: day.Format(time.DateOnly), Channel: "push", Provider: "apns", Category: "orders", Status: "sent", Deliveries: 1}
		if len(before) != 1 || before[0] != want {
			t.Fatalf("counted %+v, want %+v", before, want)
		}
		w.away(month - 48*time.Hour) // 29 days
		if w.forgotten(first) {
			t.Error("the detail is gone too early")
		}
		second := w.post(shipped("u_1", nil))
		w.until(second, "sent", time.Minute)
		w.away(48 * time.Hour)
		if !w.forgotten(first) || w.forgotten(second) {
			t.Errorf("gone: the first %v, the second %v", w.forgotten(first), w.forgotten(second))
		}
		if after := w.statistics(query); len(after) != 1 || after[0] != want {
			t.Errorf("counted %+v after a month, want %+v", after, want)
		}
	})
}

// The operator has made the retention shorter than what is scheduled waits.
func TestWhatIsHeldOutlivesTheRetention(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		sent := w.post(shipped("u_1", nil))
		w.until(sent, "sent", time.Minute)
		at := time.Now().Add(20 * 24 * time.Hour).UTC().Truncate(time.Second)
		held := w.post(shipped("u_1", map[string]any{"send_at": at.Format(time.RFC3339)}))
		edit := w.edit
		w.edit = func(c *config.Config) {
			if edit != nil {
				edit(c)
			}
			c.Workers.Retention = 24 * time.Hour
		}
		w.away(3 * 24 * time.Hour)
		if !w.forgotten(sent) || w.forgotten(held) {
			t.Errorf("gone: what was sent %v, what is held %v", w.forgotten(sent), w.forgotten(held))
		}
		w.away(time.Until(at))
		w.until(held, "sent", time.Minute)
		w.away(25 * time.Hour)
		if !w.forgotten(held) {
			t.Error("it was released and sent, and is still there a day later")
		}
	})
}
