package lanes

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// bytesAnID bounds the disk that one delivery takes in a lane: an entry of one id is about 70 bytes with its frame.
const bytesAnID = 256

// mend makes a lane's stream and consumer, or brings the settings of those that exist up to
// date. It never deletes: unacknowledged entries would go with them. One caller at a time does;
// the others wait for it no longer than their ctx lives, since a broker may take long to answer.
func (l *Lanes) mend(ctx context.Context, lane *lane) (err error) {
	select {
	case lane.mending <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("make lane %s: %w", lane.Lane, unavailable(ctx.Err()))
	}
	defer func() { <-lane.mending }()
	stream, err := l.js.CreateOrUpdateStream(ctx, streamConfig(lane))
	if err != nil {
		return fmt.Errorf("make lane %s: %w", lane.Lane, unavailable(err))
	}
	consumer, err := stream.CreateOrUpdateConsumer(ctx, consumerConfig(lane))
	if err != nil {
		return fmt.Errorf("make consumer of lane %s: %w", lane.Lane, unavailable(err))
	}
	if lane.stream == nil { // the handles go by name, so they outlive what they name
		lane.stream, lane.consumer = stream, consumer
	}
	return nil
}

func streamConfig(l *lane) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        l.streamName(),
		Description: "deliveries waiting to be sent; can be rebuilt from the log",
		Subjects:    []string{l.subject()},
		Retention:   jetstream.WorkQueuePolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		MaxMsgs:     int64(l.MaxIDs),
		MaxBytes:    int64(l.MaxIDs) * bytesAnID,
	}
}

func consumerConfig(l *lane) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Name:          consumerName,
		Durable:       consumerName,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       l.AckWait,
		MaxDeliver:    -1, // how often a delivery is tried is counted in the log
		MaxAckPending: l.MaxInHand,
	}
}
