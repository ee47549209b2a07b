package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// Claim takes the deliveries that are queued in the lane and pass the check, in key order; the
// others are settled as the check says, or left alone when they are not queued. Of the user only
// what templates see and the phone is given, of the address not how it fared, of the preferences no version.
func (s *Store) Claim(ctx context.Context, c Class, r ClaimRequest) ([]Claimed, error) {
	r.IDs = slices.Clone(r.IDs)
	slices.SortFunc(r.IDs, func(a, b tidings.DeliveryID) int { return bytes.Compare(a[:], b[:]) })
	r.IDs = slices.Compact(r.IDs)
	var out []Claimed
	ends, err := s.run(ctx, c, func(t *tx) error {
		q := claiming{tx: t, store: s, request: &r}
		if err := q.run(); err != nil {
			return err
		}
		out = q.taken
		return nil
	})
	if errors.Is(err, errCommitUnknown) && s.claimed(ctx, out) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	s.tell(ends)
	return out, nil
}

// claimed asks for one of the claims of a transaction, by its very lease: it stands for all of
// them. Were they left to their leases, what must not be repeated would never be sent.
func (s *Store) claimed(ctx context.Context, taken []Claimed) bool {
	if len(taken) == 0 {
		return false
	}
	d := &taken[0].Delivery
	return s.tookPlace(ctx, "claim_stands", keyArgs(d.ID, int64(d.ClaimNo), d.DueAt.UnixMicro())...)
}

// claiming is one run of the transaction that claims.
type claiming struct {
	*tx
	store   *Store
	request *ClaimRequest
	queued  []Claimed // with their facts
	taken   []Claimed
	refused []refusal
}

// A refusal is what the check made of a delivery that may not go out now.
type refusal struct {
	id        tidings.DeliveryID
	status    tidings.Status
	reason    tidings.Reason
	due       time.Time
	until     time.Time // the end of quiet hours; zero: they are not why
	sensitive bool
	why       string
	cause     tidings.Cause // of the reason
}

func (q *claiming) run() error {
	ids := q.request.IDs
	if err := q.lock("delivery_lock", len(ids), func(i int) []any { return keyArgs(ids[i]) }); err != nil {
		return err
	}
	if err := q.unseize(); err != nil {
		return err
	}
	if err := q.facts(); err != nil {
		return err
	}
	q.check()
	if err := q.thin(); err != nil {
		return err
	}
	now := q.request.Now
	lease := now.Add(q.request.Lease).UnixMicro()
	err := q.each("claim_take", len(q.taken), func(i int) []any { return keyArgs(q.taken[i].Delivery.ID, lease) }, nil)
	if err != nil {
		return err
	}
	err = q.each("claim_refuse", len(q.refused), func(i int) []any {
		f := q.refused[i]
		finished := now
		if f.status == tidings.Parked {
			finished = time.Time{}
		}
		return keyArgs(f.id, string(f.status), string(f.reason), micros(f.due), micros(finished))
	}, func(_ int, r row) error {
		e := end{channel: q.request.Lane.Channel()}
		err := r.Scan(&e.status, &e.reason)
		if e.status != tidings.Parked {
			q.ends = append(q.ends, e)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, step := range []func() error{q.tell, q.tellPutOff, q.erase, q.refundRefused} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// thin takes out of the digests that are claimed what they are not to tell of any more. Few are
// claimed at a time and fewer have aged, so each is seen to for itself.
func (q *claiming) thin() error {
	for i := range q.taken {
		n := &q.taken[i].Notification
		if n.Parts < 2 || q.request.Stale == nil {
			continue
		}
		if list := q.request.Stale(&q.taken[i]); len(list) > 0 {
			if err := q.thinOne(n, list); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *claiming) thinOne(n *tidings.Notification, list []Leaving) error {
	if err := q.lockDigest(n.ID, list); err != nil {
		return err
	}
	d, err := q.written(n.ID)
	if err != nil || d == nil {
		return err
	}
	if _, err := d.leave(list, q.request.Now); err != nil {
		return err
	}
	n.Parts, n.ExpiresAt = len(d.items), d.expires
	n.Data, err = tidings.DigestData(d.items, d.continued)
	return err
}

// tell writes into the timeline what the check said of deliveries that it put off, or ended.
func (q *claiming) tell() error {
	var told []remark
	for _, f := range q.refused {
		switch {
		case f.status == tidings.Parked && f.why != "":
			told = append(told, remark{f.id, q.request.Now, kindPutBack, f.why})
		case f.status != tidings.Parked && f.cause != "":
			told = append(told, remark{f.id, q.request.Now, kindCause, causeIs + string(f.cause)})
		}
	}
	return q.remark(told)
}

// unseize makes the one delivery that was seized before queued again, for as long as it is looked at.
func (q *claiming) unseize() error {
	if q.request.Seized == 0 {
		return nil
	}
	_, err := q.exec("claim_unseize", keyArgs(q.request.IDs[0], int64(q.request.Seized))...)
	return err
}

func (q *claiming) facts() error {
	ids, lane := q.request.IDs, string(q.request.Lane)
	q.queued = make([]Claimed, 0, len(ids))
	var f claimFacts
	dest := f.dest()
	return q.each("claim_facts", len(ids), func(i int) []any { return keyArgs(ids[i], lane) }, func(i int, r row) error {
		f = claimFacts{}
		if err := r.Scan(dest...); err != nil {
			return err
		}
		c, err := f.claimed(q.store, ids[i], q.request.Lane)
		if err != nil {
			return err
		}
		q.queued = append(q.queued, c)
		return nil
	})
}

// check asks for each delivery whether it may go out, and counts the claim of those that may.
func (q *claiming) check() {
	for i := range q.queued {
		c := &q.queued[i]
		status, reason, due := tidings.Status(""), tidings.Reason(""), time.Time{}
		if q.request.Check != nil {
			status, reason, due = q.request.Check(c)
		}
		if status != "" {
			q.refused = append(q.refused, q.refusal(c, status, reason, due))
			continue
		}
		c.Delivery.Status, c.Delivery.DueAt = tidings.Sending, q.request.Now.Add(q.request.Lease)
		c.Delivery.ClaimNo++
		c.Delivery.Tries++
		q.taken = append(q.taken, *c)
	}
}

func (q *claiming) erase() error {
	var ended []tidings.NotificationID
	for _, f := range q.refused {
		if f.sensitive && f.status != tidings.Parked {
			ended = append(ended, tidings.NotificationOf(f.id))
		}
	}
	return q.eraseData(ended)
}

// refundRefused takes back what was counted of what the check ended.
func (q *claiming) refundRefused() error {
	var ended []tidings.NotificationID
	for _, f := range q.refused {
		if f.status != tidings.Parked {
			ended = append(ended, tidings.NotificationOf(f.id))
		}
	}
	return q.refund(slices.Compact(ended))
}

// eraseData forgets the sensitive data of notifications that are through. Two transactions that
// end two deliveries of one notification at once may both leave it to the other; the sweep of
// expired deliveries then finds it.
func (t *tx) eraseData(ids []tidings.NotificationID) error {
	slices.SortFunc(ids, func(a, b tidings.NotificationID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	return t.each("erase_data", len(ids), func(i int) []any { return []any{ids[i][:]} }, nil)
}
