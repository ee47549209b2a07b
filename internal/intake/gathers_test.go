package intake_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
)

// What a dry run says of a digest is what the event gets that is posted after it.
func TestADryRunKnowsOfTheDigestThatIsOpen(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		dry := func(e intake.Event) tidings.Decision {
			t.Helper()
			e.DryRun, e.DedupeKey = true, ""
			res := r.post(t, e)
			if res.Refusal != nil || len(res.Decisions) != 2 {
				t.Fatalf("dry run = %+v", res)
			}
			d := res.Decisions[1]
			if told := res.Explained[1].Decision; !told.Until.Equal(d.Until) || told.Reason != d.Reason {
				t.Errorf("decided %+v, explained %+v", d, told)
			}
			return d
		}
		first := r.post(t, comment("u_1", "p_1", 1)).Decisions[1].Until
		if got := dry(comment("u_1", "p_1", 2)).Until; !got.Equal(first) {
			t.Errorf("it would wait until %v, its digest closes at %v", got, first)
		}
		if got := r.post(t, comment("u_1", "p_1", 2)).Decisions[1].Until; !got.Equal(first) {
			t.Errorf("it waits until %v, its digest closes at %v", got, first)
		}
		for why, other := range map[string]intake.Event{"of another thread": comment("u_1", "p_2", 1), "of another user": comment("u_2", "p_1", 1)} {
			if got := dry(other).Until; !got.After(first) {
				t.Errorf("%s it would wait until %v, and a new digest closes after %v", why, got, first)
			}
		}
		later := comment("u_1", "p_1", 3)
		later.At = first.Add(time.Hour)
		if got := dry(later).Until; !got.Equal(later.At.Add(10 * time.Minute)) {
			t.Errorf("when that digest is gone it would wait until %v", got)
		}
		for n := 3; n < 40; n++ {
			r.post(t, comment("u_1", "p_1", n))
		}
		d := dry(comment("u_1", "p_1", 40))
		if d.Reason != tidings.ReasonDigested || time.Until(d.Until) > time.Second {
			t.Errorf("what fills a digest is decided %+v", d)
		}
		if left := r.digests(t); len(left) != 0 {
			t.Errorf("dry runs made %d digests", len(left))
		}
	})
}
