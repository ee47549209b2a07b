package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/config"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// Erika is a person of whom everything says so: each word of hers that is kept has her name in it,
// but for the number and the token.
const (
	erika      = "u_erika.testfrau"
	erikaMail  = "Erika.Testfrau@example.test"
	erikaPhone = "+15550142876"
)

// TestNothingOfAnErasedUserIsLeft walks all tables, whatever they are, and all files: after an
// erasure none of them names the person, and what was on its way has ended with a reason.
func TestNothingOfAnErasedUserIsLeft(t *testing.T) {
	var cfg config.Config
	onEachDatabase(t, func(c *config.Config) { cfg = *c }, func(t *testing.T, w *world) {
		settings := store.Settings{Dir: cfg.DataDir, URL: string(cfg.DatabaseURL)}
		token := w.device(erika, 77)
		under := w.livesOfErika()
		search := traces(token)

		found := search.tables(storetest.Dump(t, settings))
		for _, table := range []string{"users", "addresses", "preferences", "consents", "notifications", "dedupe_keys", "counters", "digests"} {
			if !slices.Contains(found, table) {
				t.Errorf("she is not in the table %s before: the test shows nothing", table)
			}
		}
		w.do(http.MethodDelete, "/v1/users/"+erika, nil, nil)
		if found := search.tables(storetest.Dump(t, settings)); len(found) > 0 {
			t.Errorf("she is still in %v", found)
		}
		if found := search.files(t, cfg.DataDir); len(found) > 0 {
			t.Errorf("she is still in %v", found)
		}
		time.Sleep(4 * time.Minute)
		for name, id := range under {
			w.endedForErasure(name, id)
		}
		cells := storetest.Dump(t, settings)
		if found := search.tables(cells); len(found) > 0 {
			t.Errorf("minutes later she is in %v", found)
		}
		if !slices.ContainsFunc(cells, func(c storetest.Cell) bool { return c.Table == "suppressions" }) {
			t.Error("her opt-out is forgotten")
		}
		w.stop()
		if found := search.files(t, cfg.DataDir); len(found) > 0 {
			t.Errorf("once stopped, she is in %v", found)
		}
		w.start()
	})
}

// livesOfErika brings notifications of hers into every state in which something is on its way,
// and gives their ids by that state.
func (w *world) livesOfErika() map[string]string {
	w.t.Helper()
	w.do(http.MethodPut, "/v1/users/"+erika, map[string]any{"email": erikaMail, "phone": erikaPhone, "attributes": map[string]any{"name": "Erika"}}, nil)
	w.do(http.MethodPatch, "/v1/users/"+erika+"/preferences", map[string]any{"threads": map[string]any{"social": map[string]any{"erika-thread": false}}}, nil)
	w.do(http.MethodPost, "/v1/users/"+erika+"/consents", map[string]any{"category": "offers", "action": "give", "wording": "Erika agrees", "version": "1"}, nil)
	data := map[string]any{"order": "of Erika", "carrier": "UPS", "amount": 1, "currency": "erika", "headline": "For Erika", "code": "123456"}
	event := func(kind, channel string, more map[string]any) string {
		e := map[string]any{"type": kind, "user": erika, "channels": []string{channel}, "data": data}
		for k, v := range more {
			e[k] = v
		}
		return w.post(e)
	}
	w.until(event("order.shipped", "push", map[string]any{"dedupe_key": "erika-1", "collapse_key": "erika-2"}), "sent", time.Minute)
	w.until(event("offer.weekly", "email", nil), "sent", time.Minute)
	under := map[string]string{
		"held":     event("order.shipped", "push", map[string]any{"send_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}),
		"digested": event("comment.created", "push", map[string]any{"data": map[string]any{"post": "Erika", "author": "Ann", "text": "Hello Erika"}}),
	}
	w.faults(`[{"provider":"twilio","do":{"reset":"after"},"receipts":{"none":true}},{"provider":"aws_sms","do":{"reset":"after"},"receipts":{"none":true}}]`)
	under["waiting for a receipt"] = event("payment.failed", "sms", nil)
	time.Sleep(5 * time.Second)
	w.faults(`[{"provider":"twilio","do":{"status":503}},{"provider":"aws_sms","do":{"status":503}}]`)
	under["sealed"] = event("login.code", "sms", nil)
	under["retrying"] = event("payment.failed", "sms", nil)
	w.do(http.MethodPost, "/v1/lanes/email.bulk/pause", nil, nil)
	under["queued"] = event("order.shipped", "email", nil)
	time.Sleep(5 * time.Second)
	err := w.app.Store.Suppress(context.Background(), tidings.SMS, erikaPhone, tidings.ReasonOptedOutChannel, "stop", time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return under
}

func (w *world) endedForErasure(name, id string) {
	w.t.Helper()
	s := w.trail(id)
	if s.Status != "cancelled" && (name != "waiting for a receipt" || s.Status != "failed") {
		w.t.Errorf("what was %s is %s: %s", name, s.Status, s.Summary)
	}
	for _, d := range s.Deliveries {
		if !d.Final || d.Reason == "" {
			w.t.Errorf("what was %s is %s, reason %q, final %v", name, d.Status, d.Reason, d.Final)
		}
	}
	if len(s.Deliveries) == 0 && !bytes.Contains([]byte(s.Summary), []byte("erased")) {
		w.t.Errorf("of what was %s is said: %s", name, s.Summary)
	}
}

// A trace is what gives a person away.
type trace [][]byte

// traces are hers, in plain and by hashes that anybody can make.
func traces(token string) trace {
	list := trace{[]byte("erika"), []byte(erikaPhone[1:]), []byte(token)}
	for _, plain := range []string{erika, erikaMail, string(bytes.ToLower([]byte(erikaMail))), erikaPhone, token} {
		sum := sha256.Sum256([]byte(plain))
		list = append(list, sum[:])
	}
	return list
}

func (list trace) in(b []byte) bool {
	lower := bytes.ToLower(b)
	return slices.ContainsFunc(list, func(t []byte) bool { return bytes.Contains(b, t) || bytes.Contains(lower, t) })
}

// tables are the names of those that hold a trace.
func (list trace) tables(cells []storetest.Cell) (found []string) {
	for _, c := range cells {
		if list.in(c.Value) && !slices.Contains(found, c.Table) {
			found = append(found, c.Table)
		}
	}
	return found
}

// files are the names of those in a folder that hold a trace.
func (list trace) files(t *testing.T, dir string) (found []string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if list.in(b) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Errorf("looked through %d files: %v", seen, err)
	}
	return found
}
