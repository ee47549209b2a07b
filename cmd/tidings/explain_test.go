package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tidings/deploy"
	"tidings/internal/app"
	"tidings/internal/store"
)

// replayed writes the sample catalogue, with parts of catalog.yaml replaced in pairs, to a folder.
func replayed(t *testing.T, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, deploy.Catalogue()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "catalog.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDecisionsAreExplainedAndReplayed(t *testing.T) {
	a, reach := serve(t)
	key, secret, err := app.NewKey("shop", []string{"all"}, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Store.CreateKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	reach = []string{reach[0], reach[1], "--key", key.ID + "." + secret}
	if _, err := a.Store.PutUser(t.Context(), store.UserChange{ID: "u_1", Phone: "+15550123001"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	deadLetters(t, a.Store, "u_2")
	other := replayed(t, "billing:\n    kind: transactional", "billing:\n    kind: marketing\n    consent: opt_in")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"u_1", "payment.failed"}, "sms: suppress no_provider"},
		{[]string{"u_1", "payment.failed"}, "1 known: 1 can be used, 0 quarantined, 0 retired, 0 suppressed"},
		{[]string{"u_1", "payment.failed", "--at", "2026-12-01T08:00:00Z", "--channel", "sms"}, "payment.failed for u_1 at 2026-12-01 08:00:00 UTC: category billing, time zone America/New_York"},
		{[]string{"u_1", "payment.failed", "--json"}, `"rule":"provider","input":"no provider is configured","verdict":"suppress","reason":"no_provider"`},
		{[]string{"--catalog", replayed(t)}, "1 notifications since "},
		{[]string{"--catalog", replayed(t), "--since", "1h"}, ": 0 decisions differ from version 1"},
		{[]string{"--catalog", other, "--json"}, `"examined":1`},
	} {
		out, err := command(t, t.Context(), append(append([]string{"explain"}, c.args...), reach...)...)
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("explain %v: %v, and %q is not in\n%s", c.args, err, c.want, out)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "name the user and the event type"},
		{[]string{"u_1"}, "name the user and the event type"},
		{[]string{"u_1", "payment.failed", "--at", "soon"}, "no RFC 3339 time"},
		{[]string{"u_1", "payment.failed", "--since", "1h"}, "--since belongs to --catalog"},
		{[]string{"u_1", "--catalog", other}, "takes only --since"},
		{[]string{"--catalog", other, "--since", "0s"}, "must be above 0"},
		{[]string{"nobody", "payment.failed"}, "not_found"},
		{[]string{"u_1", "no.such"}, "unknown_event_type"},
		{[]string{"--catalog", replayed(t, "kind: transactional", "kind: kindly")}, "catalog.yaml:"},
		{[]string{"--catalog", t.TempDir()}, "catalog.yaml"},
	} {
		if out, err := command(t, t.Context(), append(append([]string{"explain"}, c.args...), reach...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("explain %v: %v, want %q; printed\n%s", c.args, err, c.want, out)
		}
	}
}
