package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
)

// A poison delivery harms whoever works on it. These bounds keep it from doing so for ever.
const (
	// maxDeaths is how many claims of a delivery in a row may die, with nobody telling what came
	// of them, before it needs a person.
	maxDeaths = 3
	// maxRefusals is how often the log may fail to claim a delivery that is alone in its claim.
	maxRefusals = 3
	// maxConvictions is how many deliveries of a lane end as poison with no claim between them that
	// works: beyond it the fault is not theirs.
	maxConvictions = 10
	// maxTimes is how often an entry may be handed out before its deliveries are claimed one by
	// one, each under a claim that stands in the log before anybody looks at it: somebody who held
	// it may have died of one of them, and what died is told by its claim. Entries that are returned
	// when a worker stops count too, so this alone must condemn nothing.
	maxTimes = 3
	// maxSuspects bounds how many deliveries are kept in mind that could not be claimed with others.
	maxSuspects = 1000
)

// A suspect is a delivery that could not be claimed with others.
type suspect struct {
	refusals int // of claims of it alone
	seized   int // number of its claim; 0: none
}

// wary reports whether the ticket's entry has come too often to be worked on as usual.
func (t ticket) wary() bool { return t.from.entry.Times > maxTimes }

// next is what is claimed next of what waits: at most n, and what is to be claimed alone, alone.
func next(waiting []ticket, n int) []ticket {
	if i := slices.IndexFunc(waiting[:n], ticket.wary); i >= 0 {
		return waiting[:max(i, 1)]
	}
	return waiting[:n]
}

// claimAll claims a batch and gives back the tickets that are to be claimed again. One that the
// log refuses is claimed in halves, so that one bad row costs no other.
func (s *sender) claimAll(ctx context.Context, batch []ticket) []ticket {
	seized, ok, err := s.seize(batch)
	if err == nil && ok {
		err = s.claim(batch, seized)
	}
	switch half := len(batch) / 2; {
	case err == nil:
		s.acquit(batch)
		return nil
	case errors.Is(err, store.ErrUnavailable), ctx.Err() != nil, s.w.calls.Err() != nil:
		s.w.Log.Error("claim failed", "lane", s.lane, "error", err)
		return batch
	case len(distinct(batch)) > 1:
		return slices.Concat(s.claimAll(ctx, batch[:half]), s.claimAll(ctx, batch[half:]))
	}
	return s.suspect(batch, seized, err)
}

// seize makes the claim of a wary ticket stand in the log before it is looked at; ok is false
// when there is nothing to claim. Other batches are not seized.
func (s *sender) seize(batch []ticket) (claimNo int, ok bool, err error) {
	if !batch[0].wary() {
		return 0, true, nil
	}
	id := batch[0].id
	if known := s.suspects[id]; known != nil && known.seized > 0 { // the claim itself was not possible then
		return known.seized, true, nil
	}
	claimNo, err = s.w.Store.Seize(s.w.calls, s.class, s.lane, id, time.Now().UTC().Add(s.w.Config.Delivery.Lease))
	switch {
	case err != nil:
		return 0, false, err
	case claimNo == 0:
		s.assign(batch, nil)
		return 0, false, nil
	}
	s.known(id).seized = claimNo
	return claimNo, true, nil
}

func (s *sender) known(id tidings.DeliveryID) *suspect {
	if s.suspects[id] == nil {
		if len(s.suspects) >= maxSuspects { // those of entries that went elsewhere
			clear(s.suspects)
		}
		s.suspects[id] = &suspect{}
	}
	return s.suspects[id]
}

// acquit forgets what was held against the deliveries of a claim that worked.
func (s *sender) acquit(batch []ticket) {
	s.convictions = 0
	if len(s.suspects) > 0 {
		for _, t := range batch {
			delete(s.suspects, t.id)
		}
	}
}

// suspect takes note that the log refused a delivery alone. After maxRefusals it ends as poison.
func (s *sender) suspect(batch []ticket, seized int, err error) []ticket {
	id := batch[0].id
	known := s.known(id)
	known.refusals++
	s.w.Log.Error("claim refused", "lane", s.lane, "delivery", id, "times", known.refusals, "error", err)
	if known.refusals < maxRefusals {
		return batch
	}
	delete(s.suspects, id)
	if s.convictions >= maxConvictions {
		s.hands.letGo(batch) // others may be claimed meanwhile, and show whose fault it is
		return nil
	}
	if err := s.condemn(id, seized); err != nil {
		s.w.Log.Error("poison is not ended", "lane", s.lane, "delivery", id, "error", err)
		s.hands.letGo(batch)
		return nil
	}
	s.convictions++
	s.assign(batch, nil)
	return nil
}

func (s *sender) condemn(id tidings.DeliveryID, seized int) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	dead, err := s.w.Store.Condemn(s.w.calls, s.class, id, seized, now)
	if err != nil {
		return err
	}
	if dead {
		s.meter.add(1, now)
	}
	return nil
}

// unharmed decides about a delivery; a panic is the delivery's fault and its end.
func (p *plan) unharmed(c *store.Claimed) (status tidings.Status, reason tidings.Reason, due time.Time) {
	defer func() {
		if fault := recover(); fault != nil {
			p.s.w.Log.Error("a check panicked", "lane", p.s.lane, "delivery", c.Delivery.ID, "panic", fmt.Sprint(fault))
			status, reason, due = tidings.Dead, tidings.ReasonPoison, time.Time{}
		}
	}()
	return p.decide(c)
}

// poisoned reports whether the claim that died was one too many. A redrive gives all tries back,
// and counts deaths anew with them.
func poisoned(o *store.Overdue) bool { return min(o.Died+1, o.Delivery.Tries) >= maxDeaths }
