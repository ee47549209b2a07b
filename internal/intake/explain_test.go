package intake_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"tidings/internal/intake"
)

// explained is what the brake says of the next event of a type to a user, by both ways to ask.
func (r *rig) explained(t *testing.T, user, event string, at time.Time) (verdicts []string) {
	t.Helper()
	e := typed(user, event)
	e.DryRun, e.At = true, at
	answer, err := r.Explain(t.Context(), intake.Question{User: user, Type: event, At: at})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range slices.Concat(r.post(t, e).Explained, answer.Channels) {
		verdicts = append(verdicts, string(x.Decision.Action)+string(x.Decision.Reason))
	}
	return verdicts
}

func TestWhatTheBrakeWouldSayIsExplained(t *testing.T) {
	eachLimited(t, func(t *testing.T, r *rig) {
		r.files = maps.Clone(limited)
		r.files["catalog.yaml"] += "  loop.item: {category: rest, channels: [email], brake: 3/1m}\n"
		r.files["templates/loop.item/email.en.yaml"], r.files["templates/loop.item/email.en.txt"] = "subject: Loop\n", "Loop"
		r.Intake, r.metrics = r.another(t)
		for range 2 {
			r.accept(t, typed("u_1", "loop.item"))
		}
		if got := r.explained(t, "u_1", "loop.item", time.Time{}); !slices.Equal(got, []string{"send", "send"}) {
			t.Errorf("the third: %v", got)
		}
		for range 3 {
			r.accept(t, typed("u_1", "loop.item"))
		}
		if got := r.explained(t, "u_1", "loop.item", time.Time{}); !slices.Equal(got, []string{"suppressloop_brake", "suppressloop_brake"}) {
			t.Errorf("after five: %v", got)
		}
		if got := r.explained(t, "u_1", "loop.item", time.Now().Add(5*time.Minute).UTC()); !slices.Equal(got, []string{"send", "send"}) {
			t.Errorf("five minutes later: %v", got)
		}
	})
}
