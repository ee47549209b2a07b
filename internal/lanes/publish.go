package lanes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tidings"
)

const (
	// publishWait is how long the broker may take to answer a publish. The dispatcher's grace
	// before it takes a delivery for lost is longer.
	publishWait = 4 * time.Second
	// maxPending bounds the entries that wait for their answer at once, over all lanes.
	maxPending = 4096
	// codeFull is JetStream's error code for a stream that stores nothing (JSStreamStoreFailedF,
	// nats-server server/errors.json), with the reason in its description.
	codeFull = 10077
)

// Publish puts deliveries into a lane under one stamp: alone at urgent priority, else up to
// MaxChunk an entry. It gives back the ids that are not known to be stored; err says why. A
// full lane is ErrFull, a broker that does not answer ErrUnavailable.
func (l *Lanes) Publish(ctx context.Context, lane tidings.Lane, stamp time.Time, ids []tidings.DeliveryID) (failed []tidings.DeliveryID, err error) {
	to, err := l.lane(lane)
	if err != nil {
		return ids, err
	}
	failed, err = l.publish(ctx, to, stamp, ids)
	if gone(err) && ctx.Err() == nil {
		l.log.Warn("lane is missing: making it again", "lane", lane, "error", err)
		if err := l.mend(ctx, to); err != nil {
			return failed, err
		}
		failed, err = l.publish(ctx, to, stamp, failed)
	}
	to.room.Add(int64(len(failed) - len(ids)))
	return failed, unavailable(err)
}

type pending struct {
	ids    []tidings.DeliveryID
	answer jetstream.PubAckFuture
}

// publish sends all entries before it waits for the first answer, since the broker answers
// them in a stream.
func (l *Lanes) publish(ctx context.Context, to *lane, stamp time.Time, ids []tidings.DeliveryID) (failed []tidings.DeliveryID, err error) {
	chunk := MaxChunk
	if to.Lane.Priority() == tidings.Urgent {
		chunk = 1
	}
	sent := make([]pending, 0, (len(ids)+chunk-1)/chunk)
	for part := range slices.Chunk(ids, chunk) {
		answer, e := l.js.PublishAsync(to.subject(), encodeEntry(stamp, part), jetstream.WithRetryAttempts(1), jetstream.WithStallWait(publishWait))
		if e != nil {
			failed, err = append(failed, part...), e
			break // the rest was not sent and is given back below
		}
		sent = append(sent, pending{part, answer})
	}
	unsent := ids[min(len(sent)*chunk+len(failed), len(ids)):]
	for _, p := range sent {
		if _, e := l.await(ctx, p.answer); e != nil {
			failed = append(failed, p.ids...)
			if err == nil {
				err = e
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("publish to %s: %w", to.Lane, err)
	}
	return append(failed, unsent...), err
}

// await waits for the answer to a publish: the place in the stream where it is stored.
func (l *Lanes) await(ctx context.Context, answer jetstream.PubAckFuture) (sequence uint64, err error) {
	select {
	case ack := <-answer.Ok():
		l.misses.Store(0)
		return ack.Sequence, nil
	case err := <-answer.Err():
		if errors.Is(err, jetstream.ErrAsyncPublishTimeout) {
			l.misses.Add(1)
		}
		if api := (*jetstream.APIError)(nil); errors.As(err, &api) {
			if api.ErrorCode == codeFull && !atLimit(api) {
				l.misses.Add(1) // its files cannot be written
				return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
			l.misses.Store(0)
			if api.ErrorCode == codeFull {
				return 0, ErrFull
			}
		}
		return 0, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// atLimit reports whether a stream takes no more because it holds as much as it may (ErrMaxMsgs
// and its like, nats-server server/store.go).
func atLimit(err *jetstream.APIError) bool {
	return strings.HasPrefix(err.Description, "maximum ")
}

// unavailable marks errors that say that the broker did not answer.
func unavailable(err error) error {
	for _, e := range []error{nats.ErrReconnectBufExceeded, nats.ErrConnectionClosed, nats.ErrConnectionReconnecting, nats.ErrDisconnected,
		nats.ErrTimeout, nats.ErrNoResponders, nats.ErrNoServers, jetstream.ErrAsyncPublishTimeout, jetstream.ErrTooManyStalledMsgs,
		jetstream.ErrNoStreamResponse, jetstream.ErrConnectionClosed, jetstream.ErrNoHeartbeat, context.DeadlineExceeded} {
		if errors.Is(err, e) && !errors.Is(err, ErrUnavailable) {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	return err
}
