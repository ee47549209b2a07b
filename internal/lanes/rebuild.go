package lanes

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"tidings"
)

// The JetStream error codes that say that what a broker has stored of a stream or a consumer
// cannot be used (nats-server server/errors.json): what it holds is of no use, nor is waiting.
var damaged = map[jetstream.ErrorCode]bool{
	10012: true, // JSConsumerCreateErrF
	10049: true, // JSStreamCreateErrF
	10052: true, // JSStreamInvalidConfigF: it exists, as something that a lane cannot become
	10058: true, // JSStreamNameExistErr
	10069: true, // JSStreamUpdateErrF
	10104: true, // JSConsumerStoreFailedErrF
}

// Rebuild makes a lane again, empty. What was in it is queued in the log, whose dispatcher finds
// out that the lane holds it no more and publishes it again within a sweep; what was handed out
// already goes its way. Any number of processes may do it at once.
func (l *Lanes) Rebuild(ctx context.Context, name tidings.Lane) error {
	lane, err := l.lane(name)
	if err != nil {
		return err
	}
	if err := l.hold(ctx, lane); err != nil {
		return err
	}
	defer lane.release()
	return l.remake(ctx, lane)
}

// remake deletes a stream with all it holds and makes it again. The caller holds the lane.
func (l *Lanes) remake(ctx context.Context, lane *lane) error {
	if err := l.js.DeleteStream(ctx, lane.streamName()); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("delete lane %s: %w", lane.Lane, unavailable(err))
	}
	lane.room.Store(lane.bound.Load())
	return l.make(ctx, lane)
}

func beyondRepair(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && damaged[api.ErrorCode]
}
