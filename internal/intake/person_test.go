package intake

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

func known(now time.Time) person {
	email := tidings.Address{ID: tidings.NewAddressID(now), UserID: "u_1", Channel: tidings.Email, Value: "ann@example.test", Status: tidings.AddressActive}
	return person{facts: preferences.Facts{
		User:      tidings.User{ID: "u_1", Email: "ann@example.test", Attributes: json.RawMessage(`{"plan":"free"}`), CreatedAt: now, UpdatedAt: now},
		Addresses: []tidings.Address{email},
	}}
}

func text(s string) *string { return &s }

func TestAnEventThatRepeatsWhatIsKnownChangesNothing(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	p := known(now)
	p.facts.Addresses[0].Status = tidings.AddressRetired // it bounced
	q, refusal := p.with(UserPatch{ID: "u_1", Email: text("ann@example.test"), Attributes: json.RawMessage(`{"plan":"free"}`)}, now.Add(time.Hour))
	if refusal != nil {
		t.Fatal(refusal)
	}
	var a store.Acceptance
	q.into(&a)
	if a.User != nil || len(a.NewAddresses) > 0 || len(a.OldAddresses) > 0 {
		t.Errorf("acceptance changes user %v, addresses %v, %v; want nothing: a bounced address does not come back with each event", a.User, a.NewAddresses, a.OldAddresses)
	}
}

func TestANewEmailRetiresTheOldOneAndLeavesTheOriginalAlone(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	p := known(now)
	old := p.facts.Addresses[0].ID
	q, _ := p.with(UserPatch{ID: "u_1", Email: text("ann@new.example.test"), Phone: text("+15550100")}, now)
	var a store.Acceptance
	q.into(&a)
	if a.User == nil || a.User.Email != "ann@new.example.test" || a.User.Phone != "+15550100" {
		t.Errorf("user = %+v, want the new e-mail and phone", a.User)
	}
	if len(a.NewAddresses) != 2 || a.NewAddresses[0].Value != "ann@new.example.test" || a.NewAddresses[1].Channel != tidings.SMS {
		t.Errorf("new addresses = %+v, want the e-mail and the phone", a.NewAddresses)
	}
	if len(a.OldAddresses) != 1 || a.OldAddresses[0] != old {
		t.Errorf("old addresses = %v, want %v", a.OldAddresses, old)
	}
	if p.changed || p.facts.Addresses[0].Status != tidings.AddressActive || len(p.facts.Addresses) != 1 {
		t.Error("the person before the event changed, want it as it was: the event may be refused")
	}
	if q.facts.Addresses[0].Status != tidings.AddressRetired || len(q.facts.Addresses) != 3 {
		t.Errorf("addresses to decide with = %+v, want the old one retired and two more", q.facts.Addresses)
	}
}

func TestAnAddressThatGoesAndComesBackInOneRoundStays(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	p := known(now)
	old := p.facts.Addresses[0].ID
	q, _ := p.with(UserPatch{ID: "u_1", Email: text("b@example.test")}, now)
	q, _ = q.with(UserPatch{ID: "u_1", Email: text("ann@example.test")}, now)
	var a store.Acceptance
	q.into(&a)
	if len(a.NewAddresses) != 1 || a.NewAddresses[0].ID != old || a.NewAddresses[0].Status != tidings.AddressActive {
		t.Errorf("new addresses = %+v, want only the old one, active again", a.NewAddresses)
	}
	if len(a.OldAddresses) != 1 || a.OldAddresses[0] == old {
		t.Errorf("old addresses = %v, want only the one in between", a.OldAddresses)
	}
}

func TestAnUnknownUserIsMadeWithWhatTheEventSays(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	q, _ := person{}.with(UserPatch{ID: "u_9", Locale: text("de"), Timezone: text("Europe/Berlin")}, now)
	var a store.Acceptance
	q.into(&a)
	if u := a.User; u == nil || u.ID != "u_9" || u.Locale != "de" || u.Timezone != "Europe/Berlin" || !u.CreatedAt.Equal(now) {
		t.Errorf("user = %+v, want u_9 with its locale and zone, made now", u)
	}
}

func TestAttributesCannotGrowWithoutBound(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	p := known(now)
	p.facts.User.Attributes = json.RawMessage(`{"a":"` + strings.Repeat("x", 40<<10) + `"}`)
	_, refusal := p.with(UserPatch{ID: "u_1", Attributes: json.RawMessage(`{"b":"` + strings.Repeat("x", 40<<10) + `"}`)}, now)
	if refusal == nil || refusal.Code != "invalid_input" || refusal.Pointer != "/user/attributes" {
		t.Errorf("refusal = %+v, want invalid_input at /user/attributes", refusal)
	}
}
