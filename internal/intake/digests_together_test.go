package intake_test

import (
	"fmt"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// On two channels, with a least interval that a second digest would not keep.
var paired = map[string]string{
	"catalog.yaml": `
categories:
  social: {kind: transactional}
events:
  comment.created: {category: social, channels: [push, email], cooldown: 1h, digest: {window: 10m, max: 2}}
`,
	"templates/comment.created/push.en.yaml":  "title: Comments\nbody: \"{{.digest.count}}\"\n",
	"templates/comment.created/email.en.yaml": "subject: Comments\n",
	"templates/comment.created/email.en.txt":  "{{.digest.count}}",
}

func TestChannelsThatAreReleasedTogetherWaitForOneDigest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r := newRig(t, s)
		r.files = paired
		r.Intake, r.metrics = r.another(t)
		r.withDevice(t, "u_1")
		due := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		var ids []tidings.NotificationID
		for n := range 3 {
			e := comment("u_1", "bread", n)
			e.SendAt = due
			ids = append(ids, r.accept(t, hashed(e)).ID)
		}
		for more := true; more; {
			holds, of, err := s.DueHolds(t.Context(), due, 5) // a page that ends within a notification
			if err == nil {
				err = r.Release(t.Context(), holds, of, due)
			}
			if err != nil {
				t.Fatal(err)
			}
			more = len(holds) > 0
		}
		r.flush(t, due.Add(10*time.Minute))
		var told []string
		for _, d := range r.digests(t) {
			told = append(told, fmt.Sprintf("%d of %d", len(d.Deliveries), len(d.Parts)))
		}
		if fmt.Sprint(told) != "[0 of 1 2 of 2]" { // the third came too late for the first digest, and too early for another
			t.Errorf("deliveries and parts of the digests: %q", told)
		}
		for _, id := range ids {
			if trail := r.trail(t, id); trail.Digest().IsZero() {
				t.Errorf("%s is in no digest: %+v", id, trail.Holds)
			}
		}
	})
}
