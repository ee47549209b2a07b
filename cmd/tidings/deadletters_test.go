package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/store"
)

// serve starts the service with two deliveries that no provider can carry, and gives the flags
// that reach it.
func serve(t *testing.T) (a *app.App, reach []string) {
	t.Helper()
	dir := t.TempDir()
	cfg, err := config.Load("", []string{"TIDINGS_DATA_DIR=" + dir, "TIDINGS_SECRET_FILE=" + dir + "/secret", "TIDINGS_LISTEN=127.0.0.1:0"}, all.Vendors())
	if err != nil {
		t.Fatal(err)
	}
	a, err = app.New(t.Context(), cfg, app.Settings{Version: "test", Log: slog.New(slog.DiscardHandler), Vendors: all.Vendors()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	key, secret, err := app.NewKey("shop", []string{"operate"}, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Store.CreateKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return a, []string{"--url", a.URL(), "--key", key.ID + "." + secret}
}

// deadLetters makes deliveries that need a person: dead as their only try ends.
func deadLetters(t *testing.T, s *store.Store, users ...string) {
	t.Helper()
	start := time.Now().UTC()
	for i, user := range users {
		now := start.Add(time.Duration(i) * time.Millisecond) // so that ids follow the order of users
		address := tidings.Address{ID: tidings.NewAddressID(now), UserID: user, Channel: tidings.SMS, Value: "+1555010" + user[2:], Status: tidings.AddressActive, RegisteredAt: now}
		accepted, err := s.Accept(t.Context(), store.Normal, []store.Acceptance{{
			Notification: tidings.Notification{ID: tidings.NewNotificationID(now), App: "shop", Type: "payment.failed", UserID: user, Category: "billing",
				CatalogVersion: 1, Data: json.RawMessage(`{}`), AcceptedAt: now, ExpiresAt: now.Add(time.Hour)},
			User: &tidings.User{ID: user, CreatedAt: now, UpdatedAt: now}, NewAddresses: []tidings.Address{address},
			Deliveries: []store.NewDelivery{{Lane: "sms.priority", Address: address.ID, Status: tidings.Queued, DueAt: now}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: "sms.priority", IDs: accepted[0].Deliveries, Now: now, Lease: time.Minute,
			Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
				return tidings.Dead, tidings.ReasonNoProvider, time.Time{}
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a command line with an answer on stdin.
func run(t *testing.T, answer string, args ...string) (out, asked string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(answer))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err = root.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

func TestDeadLettersAreListedCountedAndTriedAgainOnceThePersonSaysYes(t *testing.T) {
	a, reach := serve(t)
	deadLetters(t, a.Store, "u_1001", "u_1002", "u_1003")
	command := func(answer string, args ...string) (string, string, error) {
		return run(t, answer, append(append([]string{"dead-letters"}, args...), reach...)...)
	}
	out, _, err := command("", "list", "--user", "u_1002")
	if err != nil || !strings.Contains(out, "u_1002") || strings.Contains(out, "u_1001") || !strings.Contains(out, "no_provider") {
		t.Errorf("listed %q, %v", out, err)
	}
	var page wire.DeadLetters
	out, _, err = command("", "list", "--json")
	if err != nil || json.Unmarshal([]byte(out), &page) != nil || len(page.Data) != 3 {
		t.Fatalf("listed %q, %v", out, err)
	}
	out, asked, err := command("", "redrive", "--dry-run")
	if err != nil || out != "3 of 3 dead letters would be tried again\n" || asked != "" {
		t.Errorf("a dry run: %q %q, %v", out, asked, err)
	}
	out, asked, err = command("n\n", "redrive", "--channel", "sms")
	if err != errDeclined || out != "" || asked != "3 of 3 dead letters would be tried again. Go on? [y/N] " {
		t.Errorf("no: %q %q, %v", out, asked, err)
	}
	if out, _, err = command("y\n", "redrive", page.Data[0].ID.String()); err != nil || out != "1 of 1 dead letters are tried again\n" {
		t.Errorf("one: %q, %v", out, err)
	}
	if out, asked, err = command("", "redrive", "--yes", "--user", "u_1001", "--json"); err != nil || !strings.Contains(out, `"redriven": 1`) || asked != "" {
		t.Errorf("without asking: %q %q, %v", out, asked, err)
	}
	if out, _, err = command("", "list", "--reason", "poison"); err != nil || out != "no dead letters\n" {
		t.Errorf("none: %q, %v", out, err)
	}
	for _, wrong := range [][]string{{"redrive", "ntf_x"}, {"redrive", "--since", "today"}, {"list", "--lane", "fax"}, {"redrive", "--rate", "-1", "--yes"}, {"redrive", "--limit", "0", "--yes"}} {
		if _, _, err := command("", wrong...); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
}
