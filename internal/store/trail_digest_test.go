package store

import (
	"testing"

	"tidings"
)

// A part tells of its digest what a trail tells of itself, on the channels on which it waited for it.
func TestATrailKnowsWhatCameOfTheTriesOfItsDigest(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ids := tell(t, s,
			tale{app: "shop", user: "u_1", kind: "post.commented", at: morning(), holds: []string{"push digested released"}},
			tale{app: "shop", user: "u_1", kind: "post.commented", at: morning(), deliveries: []string{"email.bulk sent", "push.bulk failed provider_rejected"}})
		part, digest := ids[0], ids[1]
		at := morning().UnixMicro()
		raw(t, s, `INSERT INTO digests (id, app, test, user_id, type, key, state, size, opened_at, closes_at, ntf)
			VALUES ($1, 'shop', 0, 'u_1', 'post.commented', 'push:', 'flushed', 1, $2, $2, $1)`, digest[:], at)
		raw(t, s, "INSERT INTO digest_items (digest, ntf) VALUES ($1, $2)", digest[:], part[:])
		for n, outcome := range []string{"ok", "unknown"} {
			raw(t, s, `INSERT INTO attempts (ntf, n, claim_no, late, provider, started_at, ended_at, outcome, http_status, code, text, retry_at, ref)
				VALUES ($1, $2, 1, 0, 'apns', $3, $3, $4, 0, '', '', NULL, '')`, digest[:], n, at, outcome)
			raw(t, s, `INSERT INTO receipts (ntf, n, claim_no, status, at, provider, ref, outcome, code, received_at)
				VALUES ($1, $2, 1, 'failed', $3, 'apns', '', '', '', $3)`, digest[:], n, at)
		}
		trail, err := s.Trail(t.Context(), "shop", part)
		if err != nil || len(trail.Digests) != 1 || len(trail.Digests[0].Deliveries) != 1 {
			t.Fatalf("%+v, %v: want one digest with one delivery on push", trail, err)
		}
		d := trail.Digests[0].Deliveries[0]
		if d.ID != tidings.DeliveryOf(digest, 1) || len(d.Attempts) != 1 || len(d.Receipts) != 1 {
			t.Fatalf("delivery = %+v", d)
		}
		if a := d.Attempts[0]; a.Outcome != tidings.OutcomeUnknown || !a.Refused {
			t.Errorf("attempt = %+v, want one without an answer that a receipt refused", a)
		}
	})
}
