package store

import (
	"context"

	"tidings"
)

// An end is what a verb brought a delivery to, so that it is live no more, or ended otherwise than before.
type end struct {
	channel tidings.Channel
	by      string // the provider whose answer or report brought it there; empty: none
	status  tidings.Status
	reason  tidings.Reason
}

// noteEnd takes note of what became of a delivery, if that is an end which it was not at before.
func (t *tx) noteEnd(lane tidings.Lane, by string, before, after standing) {
	if !after.live() && (before.live() || after.status != before.status) {
		t.ends = append(t.ends, end{lane.Channel(), by, after.status, after.reason})
	}
}

// endAll runs a statement that ends deliveries without any provider's word, and gives the lane of each.
func (t *tx) endAll(name string, args []any, status tidings.Status, reason tidings.Reason) error {
	return t.query(name, args, func(r row) error {
		var lane tidings.Lane
		err := r.Scan(&lane)
		t.ends = append(t.ends, end{channel: lane.Channel(), status: status, reason: reason})
		return err
	})
}

// write runs fn in one transaction, see engine.write, and tells of the ends that it brought once they stand.
func (s *Store) write(ctx context.Context, c Class, fn func(t *tx) error) error {
	ends, err := s.run(ctx, c, fn)
	if err == nil {
		s.tell(ends)
	}
	return err
}

// run is write for verbs that find out what became of a commit whose answer was lost: they tell of
// the ends themselves.
func (s *Store) run(ctx context.Context, c Class, fn func(t *tx) error) (ends []end, err error) {
	err = s.engine.write(ctx, c, func(t *tx) error {
		t.ends = nil // of an earlier run, or of the verb before it in the transaction
		err := fn(t)
		ends = t.ends
		return err
	})
	return ends, err
}

func (s *Store) tell(ends []end) {
	if s.ended == nil {
		return
	}
	for _, e := range ends {
		s.ended(e.channel, e.by, e.status, e.reason)
	}
}
