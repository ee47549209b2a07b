package app_test

import (
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tidings/api/wire"
	"tidings/deploy"
	"tidings/internal/config"
)

const aDay = 24 * time.Hour

// shortLived is the sample catalogue, in which orders are kept for three days and comments for one,
// though these may wait for their digest for four.
var shortLived = strings.NewReplacer(
	"  orders:\n", "  orders:\n    retention: 72h\n", "  social:\n", "  social:\n    retention: 24h\n",
	"window: 10m, max: 50", "window: 96h, max: 50",
)

func keepShort(t *testing.T) func(c *config.Config) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "catalog")
	text, err := fs.ReadFile(deploy.Catalogue(), "catalog.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, deploy.Catalogue()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(shortLived.Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *config.Config) { c.Catalog = dir }
}

// gone fails unless exactly those are forgotten that are wanted.
func (w *world) gone(when string, ids map[string]string, want ...string) {
	w.t.Helper()
	got, wanted := map[string]bool{}, map[string]bool{}
	for name, id := range ids {
		if w.forgotten(id) {
			got[name] = true
		}
	}
	for _, name := range want {
		wanted[name] = true
	}
	if !maps.Equal(got, wanted) {
		w.t.Errorf("%s, gone are %v, want %v", when, got, wanted)
	}
}

// The detail of a notification goes after the days of its own category, its sums stay, and what is
// held, parked or waits for a digest stays until it has ended for a day.
func TestDetailGoesAfterTheDaysOfItsCategoryAndNeverWhileItLives(t *testing.T) {
	onEachDatabase(t, keepShort(t), func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.do(http.MethodPut, "/v1/users/u_1", map[string]any{"phone": "+15550123001"}, nil)
		first := time.Now().UTC()
		long := map[string]any{"expires_in": "240h"}
		ids := map[string]string{
			"sent": w.post(shipped("u_1", nil)),
			"owed": w.post(map[string]any{"type": "payment.failed", "user": "u_1", "channels": []string{"sms"}, "data": map[string]any{"amount": 5, "currency": "EUR"}}),
			"held": w.post(shipped("u_1", map[string]any{"send_at": first.Add(8 * aDay).Format(time.RFC3339)})),
		}
		w.until(ids["sent"], "sent", time.Minute)
		w.until(ids["owed"], "delivered", time.Minute)
		w.do(http.MethodPost, "/v1/lanes/push.bulk/pause", nil, nil)
		ids["parked"] = w.post(shipped("u_1", long))
		said := comment("Bread", 1)
		maps.Copy(said, long)
		ids["gathered"] = w.post(said)
		sums := w.statistics(day(first, "orders"))
		w.away(3*aDay + time.Hour)
		w.gone("after three days", ids, "sent")
		if after := w.statistics(day(first, "orders")); len(sums) != 2 || len(after) != 2 || sums[0] != after[0] || sums[1] != after[1] {
			t.Errorf("counted %+v before the detail went, and %+v after", sums, after)
		}
		w.away(aDay) // the digest closes
		ids["digest"] = w.trail(ids["gathered"]).Digest
		w.away(3 * aDay)
		w.gone("after a week in which the lane was paused", ids, "sent")
		w.do(http.MethodPost, "/v1/lanes/push.bulk/resume", nil, nil)
		for _, name := range []string{"parked", "digest", "gathered"} {
			w.until(ids[name], "sent", 2*time.Minute)
		}
		w.away(aDay + time.Hour) // the hold is released
		w.until(ids["held"], "sent", 2*time.Minute)
		w.gone("a day after they were sent", ids, "sent", "parked", "digest", "gathered")
		w.away(aDay + time.Hour)
		w.gone("at the end", ids, "sent", "parked", "digest", "gathered", "held")
		if n := countOf(w.statistics(day(first, ""))); n != 4 {
			t.Errorf("%d deliveries of the first day are counted at the end, want 4", n)
		}
	})
}

// day asks for the sums of a day, of a category or of all.
func day(at time.Time, category string) string {
	query := "?since=" + at.Format(time.DateOnly) + "&until=" + at.AddDate(0, 0, 1).Format(time.DateOnly)
	if category != "" {
		query += "&category=" + category
	}
	return query
}

func countOf(list []wire.Statistic) (n int64) {
	for _, s := range list {
		n += int64(s.Deliveries)
	}
	return n
}
