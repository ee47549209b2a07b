package intake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// crowded is a catalogue whose push tells of every comment in full, of which four kilobytes have room
// for a few.
var crowded = map[string]string{
	"catalog.yaml": `
categories:
  social: {kind: transactional}
events:
  comment.created: {category: social, channels: [push, email], cooldown: 1h, digest: {key: post, window: 10m, max: 40}}
`,
	"templates/comment.created/push.en.yaml":  "title: Comments\nbody: \"{{range .digest.items}}{{.data.text}};{{end}}\"\n",
	"templates/comment.created/email.en.yaml": "subject: A comment\n",
	"templates/comment.created/email.en.txt":  "{{.digest.count}}",
}

func longComment(user string, n, length int) intake.Event {
	e := comment(user, "p", n)
	e.Data = json.RawMessage(fmt.Sprintf(`{"post":"p","text":"t%02d%s"}`, n, strings.Repeat("x", length-3)))
	return hashed(e)
}

func eachCrowd(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r := newRig(t, s)
		r.files = crowded
		r.Intake, r.metrics = r.another(t)
		r.withDevice(t, "u_1")
		test(t, r)
	})
}

func TestWhatDoesNotFitIntoADigestIsToldByTheNext(t *testing.T) {
	eachCrowd(t, func(t *testing.T, r *rig) {
		const posts = 20
		ids := make(map[tidings.NotificationID]int, posts)
		for i := range posts {
			ids[r.post(t, longComment("u_1", i, 1000)).ID] = 0
		}
		r.flush(t, time.Now().Add(11*time.Minute))
		digests := r.digests(t)
		if len(digests) < 2 || len(digests) > 10 {
			t.Fatalf("%d digests tell of %d events of a kilobyte each", len(digests), posts)
		}
		for _, d := range digests {
			items, err := tidings.ItemsOf(d.Notification.Data)
			if err != nil || len(items) != len(d.Parts) || d.Notification.Parts != len(items) || len(items) > 4 {
				t.Errorf("digest %s has %d items and %d parts: %v", d.Notification.ID, len(items), len(d.Parts), err)
			}
			if len(d.Deliveries) != 2 || d.Deliveries[0].Status != tidings.Queued { // also within the cooldown
				t.Errorf("digest %s has deliveries %+v", d.Notification.ID, d.Deliveries)
			}
			for _, item := range items {
				ids[item.ID]++
			}
		}
		for id, in := range ids {
			if in != 1 {
				t.Errorf("%s is in %d digests", id, in)
			}
		}
	})
}

func TestAnEventThatFitsAloneMayWaitForADigest(t *testing.T) {
	eachCrowd(t, func(t *testing.T, r *rig) {
		for i := range 2 {
			r.post(t, longComment("u_1", i, 3000))
		}
		r.flush(t, time.Now().Add(11*time.Minute))
		if digests := r.digests(t); len(digests) != 2 {
			t.Errorf("two events that do not fit together are told of by %d digests", len(digests))
		}
		res, err := r.Post(t.Context(), longComment("u_1", 3, 5000))
		if err != nil || res.Refusal == nil || res.Refusal.Code != "content_too_large" {
			t.Errorf("an event too large by itself: %+v, %v", res, err)
		}
	})
}
