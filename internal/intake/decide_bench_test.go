package intake

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"tidings"
	"tidings/deploy"
	"tidings/internal/admission"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// BenchmarkDecide is the processor's part of a batch: decisions, proof that they render, and
// what is handed to the log. An operation is one event.
func BenchmarkDecide(b *testing.B) {
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		b.Fatal(err)
	}
	catalogue, err := templates.Parse(files)
	if err != nil {
		b.Fatal(err)
	}
	anywhere := func(*tidings.Address) bool { return true }
	in := &Intake{Settings: Settings{
		Door:      &admission.Door{}, // which lets everything in
		Catalogue: func() (*templates.Catalogue, int64) { return catalogue, 1 },
		Providers: map[tidings.Channel]preferences.Carries{tidings.Push: anywhere, tidings.Email: anywhere},
	}}
	now := time.Now().UTC().Truncate(time.Microsecond)
	posts, people := make([]post, batchEvents), map[string]*person{}
	for n := range posts {
		user := fmt.Sprintf("u_%06d", n)
		posts[n] = post{event: &Event{App: "shop", Type: "order.shipped", User: UserPatch{ID: user}, Data: json.RawMessage(`{"order":"4711","carrier":"UPS"}`)}}
		address := tidings.Address{ID: tidings.NewAddressID(now), UserID: user, Channel: tidings.Push, Status: tidings.AddressActive}
		people[user] = &person{facts: preferences.Facts{
			User: tidings.User{ID: user, CreatedAt: now}, Addresses: []tidings.Address{address}, Providers: in.Providers,
		}}
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += batchEvents {
		r := in.newRound(store.Background, posts)
		r.people = people
		r.room.left = map[tidings.Lane]int{"push.bulk": batchEvents}
		r.check()
		r.decide()
		for i := range r.items {
			if r.items[i].acceptance == nil {
				b.Fatalf("event %d was not accepted: %+v", i, r.items[i].out)
			}
		}
	}
}
