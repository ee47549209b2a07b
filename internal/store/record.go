package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// Record writes what claims came to. Each Recorded stands at its Result's place. The attempt is
// kept in any case; only the claim that still holds, or better news, moves the delivery. The end
// of an attempt is the instant of all that follows from it.
func (s *Store) Record(ctx context.Context, c Class, group []Result) ([]Recorded, error) {
	var out []Recorded
	err := s.write(ctx, c, func(t *tx) error {
		out = make([]Recorded, len(group))
		for _, round := range rounds(group) {
			r := recording{tx: t, category: s.category, group: group, places: round, out: out}
			if err := r.run(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return out, nil
}

// rounds sorts the places of a group by delivery. A second result of one delivery goes into a
// round of its own, since it must see what the first one did.
func rounds(group []Result) [][]int {
	places := make([]int, len(group))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		x, y := group[a].Attempt.Delivery, group[b].Attempt.Delivery
		return bytes.Compare(x[:], y[:])
	})
	var out [][]int
	for len(places) > 0 {
		var round, rest []int
		for i, p := range places {
			if i > 0 && group[p].Attempt.Delivery == group[places[i-1]].Attempt.Delivery {
				rest = append(rest, p)
				continue
			}
			round = append(round, p)
		}
		out, places = append(out, round), rest
	}
	return out
}

// recording is one run of the transaction that records results of different deliveries.
type recording struct {
	*tx
	category func(name string) (tidings.Category, bool)

	group  []Result
	places []int // of the results, in key order
	out    []Recorded

	rows []recordRow // by index into places
	news []stray     // receipts that waited for an attempt
}

// A recordRow is what Record must know of a delivery.
type recordRow struct {
	standing
	sensitive bool
	receipts  bool // there are some
	strays    bool // there are some with the reference of the result
	found     bool
	known     bool // the very same attempt is kept already
	lates     int  // how much late news of this attempt is kept already
	evidence  evidence
}

func (r *recording) result(k int) *Result { return &r.group[r.places[k]] }

func (r *recording) run() error {
	r.rows = make([]recordRow, len(r.places))
	steps := []func() error{r.effects, r.lockRows, r.facts, r.proof, r.strays, r.attempts, r.settle, r.strayEffects}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) effects() error {
	effects := make([]effect, len(r.places))
	for k := range effects {
		p := r.result(k)
		effects[k] = effect{AddressEffect: p.Effect, address: p.Address, channel: p.Lane.Channel(), delivery: p.Attempt.Delivery, reason: effectReason(p.Effect.Kind),
			source: p.Attempt.Provider, at: p.Attempt.EndedAt, retired: &r.out[r.places[k]].Retired}
	}
	return r.apply(effects, r.category)
}

func effectReason(k EffectKind) tidings.Reason {
	switch k {
	case EffectRetire, EffectStrikeOut:
		return tidings.ReasonRecipientDead
	case EffectStrike:
		return tidings.ReasonQuarantined
	case EffectSuppress:
		return tidings.ReasonOptedOutChannel
	}
	return ""
}

func (r *recording) lockRows() error {
	return r.lock("delivery_lock", len(r.places), r.key)
}

func (r *recording) key(k int) []any { return keyArgs(r.result(k).Attempt.Delivery) }

func (r *recording) facts() error {
	var cancelled time.Time
	return r.each("record_facts", len(r.places), func(k int) []any {
		a := &r.result(k).Attempt
		return keyArgs(a.Delivery, a.Provider, a.Ref)
	}, func(k int, row row) error {
		f := &r.rows[k]
		f.found = true
		err := row.Scan(&f.status, &f.reason, instant{&f.dueAt}, &f.claimNo, &f.tries, &f.tried, instant{&f.finishedAt},
			instant{&f.expiresAt}, instant{&cancelled}, truth{&f.sensitive}, truth{&f.receipts}, truth{&f.strays})
		f.cancelled = !cancelled.IsZero()
		return err
	})
}

// A stray is a receipt that came by reference before the attempt of the result at that place was known.
type stray struct {
	tidings.Receipt
	place int
}

// strays takes in the receipts that waited for their attempt, in the order in which they came.
func (r *recording) strays() error {
	found, err := r.takeStrays()
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b stray) int { return a.ReceivedAt.Compare(b.ReceivedAt) })
	var fresh []tidings.Receipt
	for _, s := range found {
		e := &r.rows[s.place].evidence
		if e.knows(s.Receipt) {
			continue
		}
		e.receipts = append(e.receipts, s.Receipt)
		r.news, fresh = append(r.news, s), append(fresh, s.Receipt)
	}
	return r.addReceipts(fresh)
}

func (r *recording) takeStrays() (found []stray, err error) {
	var refs []int
	for k := range r.places {
		if r.rows[k].strays && r.result(k).Attempt.Ref != "" {
			refs = append(refs, k)
		}
	}
	err = r.each("stray_take", len(refs), func(i int) []any {
		a := &r.result(refs[i]).Attempt
		return []any{a.Provider, a.Ref}
	}, func(i int, row row) error {
		a := &r.result(refs[i]).Attempt
		s := stray{tidings.Receipt{Provider: a.Provider, Ref: a.Ref, Delivery: a.Delivery, Attempt: a.Number}, refs[i]}
		err := row.Scan(&s.Status, instant{&s.At}, &s.Outcome, &s.Code, instant{&s.ReceivedAt})
		found = append(found, s)
		return err
	})
	return found, err
}

// proof reads the earlier attempts and receipts where there can be any.
func (r *recording) proof() error {
	var tried, told []int
	for k := range r.places {
		f := &r.rows[k]
		if f.found && (f.claimNo > 1 || !f.held(r.result(k))) {
			tried = append(tried, k)
		}
		if f.receipts {
			told = append(told, k)
		}
	}
	err := r.each("attempt_outcomes", len(tried), func(i int) []any { return r.key(tried[i]) }, func(i int, row row) error {
		a, ended, err := scanOutcome(row)
		f, now := &r.rows[tried[i]], &r.result(tried[i]).Attempt
		f.evidence.attempts = append(f.evidence.attempts, a)
		if a.Number == now.Number && a.Late {
			f.lates++
		}
		if a.Number == now.Number && a.Outcome == now.Outcome && ended.Equal(now.EndedAt.Truncate(time.Microsecond)) {
			f.known = true
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.each("receipt_statuses", len(told), func(i int) []any { return r.key(told[i]) }, func(i int, row row) error {
		s, err := scanReceiptStatus(row)
		e := &r.rows[told[i]].evidence
		e.receipts = append(e.receipts, s)
		return err
	})
}

func scanOutcome(r row) (a tidings.Attempt, ended time.Time, err error) {
	err = r.Scan(&a.Number, truth{&a.Late}, &a.Outcome, instant{&ended})
	return a, ended, err
}

func scanReceiptStatus(r row) (s tidings.Receipt, err error) {
	err = r.Scan(&s.Attempt, &s.Status, &s.Outcome)
	return s, err
}

func (r *recording) attempts() error {
	var fresh []int
	for k := range r.places {
		f, p := &r.rows[k], r.result(k)
		late := !f.held(p)
		r.out[r.places[k]].Late = late
		if f.found && !f.known && !(late && p.OnlyHeld) {
			fresh = append(fresh, k)
		}
		f.evidence.attempts = append(f.evidence.attempts, p.Attempt)
	}
	return r.each("attempt_add", len(fresh), func(i int) []any {
		a := &r.result(fresh[i]).Attempt
		late, retry := 0, a.RetryAt
		if r.out[r.places[fresh[i]]].Late {
			late = r.rows[fresh[i]].lates + 1
		}
		if f := &r.rows[fresh[i]]; f.cancelled || f.reason == tidings.ReasonSuperseded {
			retry = time.Time{} // what was to be tried again ends instead
		}
		return keyArgs(a.Delivery, int64(a.Number), int64(late), a.Provider, a.StartedAt.UnixMicro(), a.EndedAt.UnixMicro(), string(a.Outcome),
			int64(a.HTTPStatus), a.Code, a.Text, micros(retry), a.Ref)
	}, nil)
}

func (r *recording) settle() error {
	var moved []int
	var risen []tidings.DeliveryID
	var ended []tidings.NotificationID
	next := make([]standing, len(r.places))
	for k := range r.places {
		f, p := &r.rows[k], r.result(k)
		if !f.found {
			continue
		}
		next[k] = f.afterRecord(p, f.evidence, p.Attempt.EndedAt)
		out := &r.out[r.places[k]]
		out.Status = next[k].status
		r.noteEnd(p.Lane, p.Called, f.standing, next[k])
		if next[k] != f.standing {
			moved = append(moved, k)
		}
		if f.rises(next[k]) {
			risen = append(risen, p.Attempt.Delivery)
		}
		if f.sensitive && !next[k].live() {
			ended = append(ended, tidings.NotificationOf(p.Attempt.Delivery))
		}
	}
	if err := r.deaths(risen); err != nil {
		return err
	}
	err := r.each("delivery_settle", len(moved), func(i int) []any {
		return settleArgs(r.result(moved[i]).Attempt.Delivery, next[moved[i]])
	}, nil)
	if err != nil {
		return err
	}
	return r.eraseData(ended)
}

// strayEffects does to the addresses what the strays say of them.
func (r *recording) strayEffects() error {
	effects := make([]effect, len(r.news))
	for i, s := range r.news {
		p := r.result(s.place)
		effects[i] = effectOf(s.Receipt, p.Lane.Channel(), p.Address)
	}
	return r.apply(effects, r.category)
}
