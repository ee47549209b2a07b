package lanes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tidings"
)

// pullWait is how long one pull waits for an entry. A pull dies with the server it was asked
// of, so this is also the longest pause after a restart.
const pullWait = 5 * time.Second

// Fetch waits for entries, at most max of them, until the first comes or ctx ends; none and no
// error at its end. It is slow, up to a second, when max is more than what may still be in hand.
func (l *Lanes) Fetch(ctx context.Context, name tidings.Lane, max int) ([]*Entry, error) {
	lane, err := l.lane(name)
	if err != nil {
		return nil, err
	}
	for ctx.Err() == nil {
		if l.away.Load() { // the connection says so itself, once
			l.pause(ctx)
			continue
		}
		entries, err := l.fetch(ctx, lane, max)
		switch {
		case len(entries) > 0:
			return entries, nil
		case ctx.Err() != nil:
			return nil, nil
		case gone(err):
			if err := l.mend(ctx, lane); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, fmt.Errorf("fetch from %s: %w", name, unavailable(err))
		}
	}
	return nil, nil
}

// awayPoll is how often it is looked whether the broker is back.
const awayPoll = 100 * time.Millisecond

func (l *Lanes) pause(ctx context.Context) {
	select {
	case <-time.After(awayPoll):
	case <-ctx.Done():
	}
}

// fetch takes what is there; when that is nothing it waits for one.
func (l *Lanes) fetch(ctx context.Context, lane *lane, max int) ([]*Entry, error) {
	batch, err := lane.consumer.FetchNoWait(max)
	if err != nil {
		return nil, err
	}
	if entries := l.entries(lane, batch); len(entries) > 0 || failure(batch) != nil {
		return entries, failure(batch)
	}
	ctx, cancel := context.WithTimeout(ctx, pullWait)
	defer cancel()
	batch, err = lane.consumer.Fetch(1, jetstream.FetchContext(ctx))
	switch {
	case errors.Is(err, jetstream.ErrInvalidOption): // ctx has no time left to wait
		<-ctx.Done()
		return nil, nil
	case err != nil:
		return nil, err
	}
	return l.entries(lane, batch), failure(batch)
}

// failure is the error of a finished batch; that nothing came in time is none.
func failure(batch jetstream.MessageBatch) error {
	err := batch.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// entries reads a batch to its end. What is no entry, or has no ids left, is acknowledged:
// the log knows what is to be done.
func (l *Lanes) entries(lane *lane, batch jetstream.MessageBatch) (entries []*Entry) {
	for msg := range batch.Messages() {
		stamp, ids, err := decodeEntry(msg.Data())
		if err != nil {
			l.log.Warn("dropping an entry", "lane", lane.Lane, "error", err)
		}
		if len(ids) == 0 {
			_ = msg.Ack()
			continue
		}
		e := &Entry{Lane: lane.Lane, Stamp: stamp, IDs: ids, Times: 1, msg: msg}
		if meta, err := msg.Metadata(); err == nil {
			e.Times = int(meta.NumDelivered)
		}
		if e.Times == 1 {
			lane.room.Add(int64(len(ids)))
		}
		entries = append(entries, e)
	}
	return entries
}
