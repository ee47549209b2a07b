package store

import (
	"context"
	"fmt"
	"time"
)

// errCommitUnknown says that the answer to a COMMIT was lost: nobody knows whether it took place.
var errCommitUnknown = fmt.Errorf("%w: the answer to a commit was lost", ErrUnavailable)

// commitChecks is how often it is asked whether a commit took place whose answer was lost.
const commitChecks = 5

// tookPlace asks, on another connection, for a row that only the transaction in question can have
// written. False also says that the log does not answer.
func (s *Store) tookPlace(ctx context.Context, query string, args ...any) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verbTimeout)
	defer cancel()
	for try := range commitChecks {
		var found bool
		err := s.read(ctx, func(t *tx) (err error) {
			var one int64
			found, err = t.one(query, args, &one)
			return err
		})
		if err == nil {
			return found
		}
		time.Sleep(time.Duration(try+1) * 100 * time.Millisecond)
	}
	return false
}
