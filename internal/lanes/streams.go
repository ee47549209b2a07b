package lanes

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bytesAnID bounds the disk that one delivery takes in a lane: an entry of one id is about 70 bytes with its frame.
const bytesAnID = 256

// askWait bounds a question to the broker that nobody waits for.
const askWait = 2 * time.Second

// mend makes a lane's stream and consumer, or brings the settings of those that exist up to
// date. It deletes only what the broker itself cannot use: unacknowledged entries would go with it.
func (l *Lanes) mend(ctx context.Context, lane *lane) error {
	if err := l.hold(ctx, lane); err != nil {
		return err
	}
	defer lane.release()
	err := l.make(ctx, lane)
	if !beyondRepair(err) {
		return err
	}
	l.log.Error("lane cannot be used: it begins empty and is filled from the log", "lane", lane.Lane, "error", err)
	return l.remake(ctx, lane)
}

// hold lets one caller at a time make a lane; the others wait for it no longer than their ctx
// lives, since a broker may take long to answer.
func (l *Lanes) hold(ctx context.Context, lane *lane) error {
	select {
	case lane.mending <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("make lane %s: %w", lane.Lane, unavailable(ctx.Err()))
	}
}

func (l *lane) release() { <-l.mending }

func (l *Lanes) make(ctx context.Context, lane *lane) error {
	stream, err := l.js.CreateOrUpdateStream(ctx, streamConfig(lane, l.settings.Replicas))
	if err != nil {
		return fmt.Errorf("make lane %s: %w", lane.Lane, advised(unavailable(err)))
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

func streamConfig(l *lane, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        l.streamName(),
		Description: "deliveries waiting to be sent; can be rebuilt from the log",
		Subjects:    []string{l.subject()},
		Retention:   jetstream.WorkQueuePolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		Replicas:    max(1, replicas),
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
