package intake_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
	"tidings/internal/store"
)

func TestAnEventMakesItsUserAndReachesItsLane(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		res := r.accept(t, shipped("u_1", ""))
		if want := "push:suppress:0:no_address email:send:1: "; describe(res.Decisions) != want || res.Status != tidings.NotificationAccepted {
			t.Errorf("decisions %q, status %s; want %q, accepted", describe(res.Decisions), res.Status, want)
		}
		trail := r.trail(t, res.ID)
		n := trail.Notification
		if n.App != "shop" || n.UserID != "u_1" || n.Category != "orders" || n.CatalogVersion != version || string(n.Data) != `{"order":"4711","carrier":"UPS"}` {
			t.Errorf("notification = %+v", n)
		}
		if got := n.ExpiresAt.Sub(n.AcceptedAt); got != 24*time.Hour {
			t.Errorf("expires after %v, want the default of 24h", got)
		}
		if len(trail.Deliveries) != 1 || trail.Deliveries[0].Status != tidings.Queued || trail.Deliveries[0].Lane != "email.bulk" {
			t.Fatalf("deliveries = %+v, want one queued in email.bulk", trail.Deliveries)
		}
		if ids := r.published(t, "email.bulk", 1); ids[0] != trail.Deliveries[0].ID {
			t.Errorf("lane holds %v, want %v", ids, trail.Deliveries[0].ID)
		}
		addresses, err := r.store.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		if err != nil || len(addresses) != 1 || addresses[0].Value != "u_1@example.test" || addresses[0].ID != trail.Deliveries[0].AddressID {
			t.Errorf("addresses = %+v, %v; want the e-mail that the delivery goes to", addresses, err)
		}
		if got := r.counted(t, "tidings_events_total", "accepted"); got != 1 {
			t.Errorf("accepted events counted %v, want 1", got)
		}
	})
}

func TestAnUrgentEventTakesThePriorityLane(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		res := r.accept(t, loginCode("u_1"))
		r.published(t, "sms.priority", 1)
		trail := r.trail(t, res.ID)
		if !trail.Notification.Sensitive || trail.Notification.Data != nil {
			t.Errorf("trail shows data %s of a sensitive event", trail.Notification.Data)
		}
		if got := trail.Notification.ExpiresAt.Sub(trail.Notification.AcceptedAt); got != 5*time.Minute {
			t.Errorf("expires after %v, want the event type's 5m", got)
		}
	})
}

func TestARefusedEventLeavesNoTrace(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		missing := shipped("u_1", "k")
		missing.Data = json.RawMessage(`{"order":"4711"}`)
		unreachable := shipped("u_1", "k")
		unreachable.Data, unreachable.User.Email = json.RawMessage(`{"order":"4711"}`), nil
		unknown := shipped("u_1", "k")
		unknown.Type = "order.eaten"
		wide := shipped("u_1", "k")
		wide.Channels = []tidings.Channel{tidings.Email, tidings.SMS}
		late := shipped("u_1", "k")
		late.SendAt = time.Now().Add(30*24*time.Hour - 23*time.Hour)
		for _, c := range []struct {
			why           string
			event         intake.Event
			code, pointer string
		}{
			{"a name the template uses is missing", missing, "missing_data", "/data/carrier"},
			{"it would be missing for the next user, though this one has no address", unreachable, "missing_data", "/data/carrier"},
			{"a type nobody has declared", unknown, "unknown_event_type", "/type"},
			{"channels can only narrow", wide, "invalid_input", "/channels/1"},
			{"its record would be gone before it is sent", late, "invalid_input", "/send_at"},
		} {
			res := r.post(t, c.event)
			if res.Refusal == nil || res.Refusal.Code != c.code || res.Refusal.Pointer != c.pointer || res.Refusal.Detail == "" {
				t.Errorf("%s: refusal = %+v, want %s at %s", c.why, res.Refusal, c.code, c.pointer)
			}
		}
		if n := r.notifications(t); n != 0 {
			t.Errorf("the log holds %d notifications, want none", n)
		}
		if _, err := r.store.User(t.Context(), "u_1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("user = %v, want not found", err)
		}
		r.accept(t, shipped("u_1", "k")) // the key is still free
	})
}

func TestADryRunDecidesAndRendersAndWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		e := shipped("u_1", "k")
		e.DryRun, e.At, e.SendAt = true, time.Now().Add(time.Hour), time.Now().Add(30*time.Minute)
		res := r.post(t, e)
		if res.Refusal != nil || !res.ID.IsZero() || describe(res.Decisions) != "push:suppress:0:no_address email:send:1: " {
			t.Errorf("dry run = %+v, want decisions for its instant and no id", res)
		}
		if c := res.Rendered[tidings.Email]; c.Subject != "Order 4711" || c.HTML != "<p>Order 4711 has left with UPS.</p>" || len(res.Rendered) != 1 {
			t.Errorf("rendered = %+v, want the e-mail", res.Rendered)
		}
		if n := r.notifications(t); n != 0 {
			t.Errorf("the log holds %d notifications, want none", n)
		}
		if _, err := r.store.User(t.Context(), "u_1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("user = %v, want not found", err)
		}
		r.accept(t, shipped("u_1", "k")) // the key is still free
	})
}

func TestEventsOfABatchStandEachForItself(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		missing := shipped("u_2", "")
		missing.Data = nil
		dry := shipped("u_3", "")
		dry.DryRun = true
		other := shipped("u_5", "a")
		results, err := r.PostBatch(t.Context(), []intake.Event{shipped("u_1", "a"), missing, dry, shipped("u_1", "a"), other, loginCode("u_4")})
		if err != nil {
			t.Fatal(err)
		}
		if results[0].ID.IsZero() || results[0].Refusal != nil {
			t.Errorf("first = %+v, want it accepted", results[0])
		}
		if results[1].Refusal == nil || results[1].Refusal.Code != "missing_data" {
			t.Errorf("event without its data = %+v, want missing_data", results[1])
		}
		if results[2].Refusal != nil || !results[2].ID.IsZero() || results[2].Decisions == nil {
			t.Errorf("dry run = %+v, want decisions alone", results[2])
		}
		if !results[3].Duplicate || results[3].ID != results[0].ID || results[3].Status != tidings.NotificationAccepted {
			t.Errorf("the same again = %+v, want a duplicate of the first", results[3])
		}
		if results[4].Refusal == nil || results[4].Refusal.Code != "dedupe_conflict" {
			t.Errorf("another under the same key = %+v, want dedupe_conflict", results[4])
		}
		if results[5].Status != tidings.NotificationAccepted {
			t.Errorf("urgent event = %+v, want it accepted", results[5])
		}
		if n := r.notifications(t); n != 2 {
			t.Errorf("the log holds %d notifications, want 2", n)
		}
	})
}

func TestLaterEventsOfABatchSeeWhatEarlierOnesChanged(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		named := hashed(intake.Event{App: "shop", Type: "order.paid", User: intake.UserPatch{ID: "u_1", Attributes: json.RawMessage(`{"name":"Ann","plan":"free"}`)}})
		bare := hashed(intake.Event{App: "shop", Type: "order.paid", User: intake.UserPatch{ID: "u_1", Attributes: json.RawMessage(`{"plan":"paid"}`)}})
		results, err := r.PostBatch(t.Context(), []intake.Event{named, shipped("u_1", ""), bare})
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range []string{"email:suppress:0:no_address ", "push:suppress:0:no_address email:send:1: ", "email:send:1: "} {
			if results[n].Refusal != nil || describe(results[n].Decisions) != want {
				t.Errorf("event %d = %+v %v, want %q", n, results[n], results[n].Refusal, want)
			}
		}
		u, err := r.store.User(t.Context(), "u_1")
		if err != nil || u.Email != "u_1@example.test" || string(u.Attributes) != `{"name":"Ann","plan":"paid"}` {
			t.Errorf("user = %+v, %v; want all three events merged", u, err)
		}
	})
}

func TestAChangedEmailTakesThePlaceOfTheOldOne(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.accept(t, shipped("u_1", ""))
		e := shipped("u_1", "")
		email := "ann@new.example.test"
		e.User.Email = &email
		res := r.accept(t, e)
		if describe(res.Decisions) != "push:suppress:0:no_address email:send:1: " {
			t.Errorf("decisions = %q, want the new e-mail alone", describe(res.Decisions))
		}
		addresses, err := r.store.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		if err != nil || len(addresses) != 2 {
			t.Fatalf("addresses = %+v, %v; want two", addresses, err)
		}
		if addresses[1].Status != tidings.AddressRetired || addresses[0].Status != tidings.AddressActive || addresses[0].Value != email {
			t.Errorf("addresses = %+v, want the old one retired and the new one active", addresses)
		}
		old := r.accept(t, shipped("u_1", "")) // and back again
		if describe(old.Decisions) != "push:suppress:0:no_address email:send:1: " {
			t.Errorf("decisions = %q, want the old e-mail alone", describe(old.Decisions))
		}
		if d := r.trail(t, old.ID).Deliveries; len(d) != 1 || d[0].AddressID != addresses[1].ID {
			t.Errorf("deliveries = %+v, want one to the first address", d)
		}
	})
}

func TestIdsOfABatchSortAsItsEvents(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		events := make([]intake.Event, 600)
		for i := range events {
			events[i] = shipped("u_1", "")
		}
		results, err := r.PostBatch(t.Context(), events)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(results); i++ {
			if results[i].ID.String() <= results[i-1].ID.String() {
				t.Fatalf("id %d is %s, not above %s", i, results[i].ID, results[i-1].ID)
			}
		}
	})
}
