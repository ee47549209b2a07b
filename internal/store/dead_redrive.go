package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// A Redrive asks for deliveries that came to a bad end to be tried again.
type Redrive struct {
	IDs  []tidings.DeliveryID
	From tidings.Status // Dead, Failed or Unknown: those that ended otherwise, or live, stay as they are
	Now  time.Time
	// Rate is how many of them are due in a second; 0: all at once.
	Rate float64
	// Ahead is how many were put on their way before these, at that rate, from the same Now.
	Ahead int
}

// Redriven is what a Redrive came to. What is in none of the numbers did not end as From, or would
// have its turn only after it has expired: it stays as it is.
type Redriven struct {
	Parked    int       // to be tried again
	Expired   int       // of no more use
	Cancelled int       // called off meanwhile, or a newer one took its place
	Last      time.Time // when the last of them is due; zero: none is
}

// Redrive parks deliveries for another try with all of their tries and providers, in the order of
// their keys. Whether they may still be sent is decided anew when they are claimed. Done twice at
// once, it moves each delivery once.
func (s *Store) Redrive(ctx context.Context, r Redrive) (Redriven, error) {
	r.IDs = slices.Clone(r.IDs)
	slices.SortFunc(r.IDs, compareIDs)
	r.IDs = slices.Compact(r.IDs)
	var out Redriven
	err := s.write(ctx, Background, func(t *tx) error {
		q := redriving{tx: t, Redrive: r}
		err := q.run()
		out = q.done
		return err
	})
	if err != nil {
		return Redriven{}, fmt.Errorf("redrive: %w", err)
	}
	return out, nil
}

// redriving is one run of the transaction that redrives.
type redriving struct {
	*tx
	Redrive
	newer map[tidings.DeliveryID]tidings.NotificationID // what took their places meanwhile
	done  Redriven
	moved []tidings.DeliveryID
	next  []standing
	ended []tidings.NotificationID // whose sensitive data may be needed no more
}

func (q *redriving) run() error {
	key := func(i int) []any { return keyArgs(q.IDs[i]) }
	keyed, err := q.keyed(q.IDs)
	if err != nil {
		return err
	}
	if err := q.lockKeys(keyed); err != nil {
		return err
	}
	if err := q.lock("delivery_lock", len(q.IDs), key); err != nil {
		return err
	}
	if q.newer, err = q.tx.newer(keyed); err != nil {
		return err
	}
	if err := q.each("settle_facts", len(q.IDs), key, q.decide); err != nil {
		return err
	}
	return q.settle()
}

// settle writes what was decided, and tells it.
func (q *redriving) settle() error {
	if err := q.deaths(q.moved); err != nil {
		return err
	}
	err := q.each("delivery_settle", len(q.moved), func(i int) []any { return settleArgs(q.moved[i], q.next[i]) }, nil)
	if err != nil {
		return err
	}
	if err := q.each("timeline_add", len(q.moved), q.moment, nil); err != nil {
		return err
	}
	return q.eraseData(q.ended)
}

// moment is what the timeline says of one that was moved.
func (q *redriving) moment(i int) []any {
	ntf, kind, text := tidings.NotificationOf(q.moved[i]), "redriven", "an operator asked for another try"
	if q.next[i].reason == tidings.ReasonSuperseded {
		kind, text = "cancelled", because("superseded", q.newer[q.moved[i]])
	}
	return []any{ntf[:], q.Now.UnixMicro(), kind, int64(tidings.OrdinalOf(q.moved[i])), text}
}

// decide reads one delivery and says what becomes of it.
func (q *redriving) decide(i int, r row) error {
	var lane tidings.Lane
	f, sensitive, err := scanStanding(r, &lane)
	if err != nil || f.status != q.From || f.live() {
		return err
	}
	due := RedriveTurn(q.Now, q.Ahead+q.done.Parked, q.Rate)
	_, superseded := q.newer[q.IDs[i]]
	after := f.redriven(superseded, due, q.Now)
	if after.status == tidings.Parked && !due.Before(f.expiresAt) {
		return nil // at this rate its turn would come too late: a faster redrive may still save it
	}
	switch after.status {
	case tidings.Parked:
		q.done.Parked++
		q.done.Last = after.dueAt
	case tidings.Expired:
		q.done.Expired++
	default:
		q.done.Cancelled++
	}
	q.moved, q.next = append(q.moved, q.IDs[i]), append(q.next, after)
	q.noteEnd(lane, "", f, after)
	if sensitive && !after.live() {
		q.ended = append(q.ended, tidings.NotificationOf(q.IDs[i]))
	}
	return nil
}

// never is a turn after all that is in the log has expired.
const never = 10 * 365 * 24 * time.Hour

// RedriveTurn is when a redriven delivery enters its lane that has n before it, at so many a second; rate 0: at once.
func RedriveTurn(now time.Time, n int, rate float64) time.Time {
	if rate <= 0 || n == 0 {
		return now
	}
	return now.Add(time.Duration(min(float64(n)/rate, never.Seconds()) * float64(time.Second)))
}

// redriven is the standing of an ended delivery that is to be tried again, as often and with the
// same providers as a new one. Its claims count on, so that news of older ones stays news of older ones.
func (s standing) redriven(superseded bool, due, now time.Time) standing {
	s.tries, s.tried, s.finishedAt = 0, "", time.Time{}
	switch {
	case s.mark() != "": // a cancel goes before all else
	case !now.Before(s.expiresAt):
		return s.move(tidings.Expired, tidings.ReasonExpired, time.Time{}, now)
	case superseded:
		return s.move(tidings.Cancelled, tidings.ReasonSuperseded, time.Time{}, now)
	}
	return s.move(tidings.Parked, tidings.ReasonRedriven, due, now)
}
