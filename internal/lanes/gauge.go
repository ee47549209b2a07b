package lanes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tidings"
)

// A Depth is how full a lane is.
type Depth struct {
	Entries int // stored, handed out or not
	InHand  int // handed out and not acknowledged
}

// Depth counts the entries of a lane.
func (l *Lanes) Depth(ctx context.Context, name tidings.Lane) (Depth, error) {
	_, info, err := l.info(ctx, name)
	if err != nil {
		return Depth{}, err
	}
	return Depth{Entries: int(info.NumPending) + info.NumAckPending, InHand: info.NumAckPending}, nil
}

// Horizon is the stamp of the first entry not handed out yet; now when there is none. What was
// queued well before it and is not claimed is in the lane no more.
func (l *Lanes) Horizon(ctx context.Context, name tidings.Lane, now time.Time) (time.Time, error) {
	lane, info, err := l.info(ctx, name)
	if err != nil {
		return time.Time{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	msg, err := lane.stream.GetMsg(ctx, info.Delivered.Stream+1, jetstream.WithGetMsgSubject(lane.subject()))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return now, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("look at the head of %s: %w", name, unavailable(err))
	}
	stamp, _, err := decodeEntry(msg.Data)
	if err != nil {
		return time.Time{}, err
	}
	return stamp, nil
}

// info asks about the lane's consumer; a lane that is missing is made again.
func (l *Lanes) info(ctx context.Context, name tidings.Lane) (*lane, *jetstream.ConsumerInfo, error) {
	lane, err := l.lane(name)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	info, err := lane.consumer.Info(ctx)
	if gone(err) && !l.away.Load() {
		if err := l.mend(ctx, lane); err != nil {
			return nil, nil, err
		}
		info, err = lane.consumer.Info(ctx)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ask about %s: %w", name, unavailable(err))
	}
	return lane, info, nil
}

// Room is about how many more deliveries a lane takes now; 0 while the broker is away, and while
// it is closed to direct publishing. It costs no round trip: it is the last count, less what was published and with
// what was handed out since.
func (l *Lanes) Room(name tidings.Lane) int {
	if lane := l.lanes[name]; lane != nil && lane.closed.Load() {
		return 0
	}
	return l.Space(name)
}

// Space is Room for the dispatcher, who alone publishes to a closed lane.
func (l *Lanes) Space(name tidings.Lane) int {
	lane := l.lanes[name]
	if lane == nil || l.away.Load() {
		return 0
	}
	return int(max(0, min(lane.room.Load(), lane.bound.Load())))
}

// Bound says how many deliveries a lane is filled with from now on, MaxIDs at most and one at
// least: what is in a lane is behind nothing that comes later, so it should be gone in seconds. It
// gives what that came to.
func (l *Lanes) Bound(name tidings.Lane, most int) int {
	lane := l.lanes[name]
	if lane == nil {
		return 0
	}
	next := max(1, min(most, lane.MaxIDs))
	lane.room.Add(int64(next) - lane.bound.Swap(int64(next)))
	return next
}

// CloseLane closes a lane to direct publishing, or opens it again.
func (l *Lanes) CloseLane(name tidings.Lane, closed bool) {
	if lane := l.lanes[name]; lane != nil {
		lane.closed.Store(closed)
	}
}

// Gauge tells Room what the dispatcher counted: how many deliveries are queued in the lane,
// and whether it is closed to direct publishing (paused, or a backlog waits in the log).
func (l *Lanes) Gauge(name tidings.Lane, queued int, closed bool) {
	if lane := l.lanes[name]; lane != nil {
		lane.room.Store(lane.bound.Load() - int64(queued))
		lane.closed.Store(closed)
	}
}

// Healthy reports whether the broker stores and answers. After publishes that were not
// answered it tries one without ids, so that a broker that has recovered is found out. An embedded
// one that is in trouble is looked after at once, and is healthy again when that has helped.
func (l *Lanes) Healthy(ctx context.Context) error {
	if l.away.Load() {
		return fmt.Errorf("%w: %w", ErrUnavailable, nats.ErrDisconnected)
	}
	if l.reviving.Load() {
		return fmt.Errorf("%w: it is being restarted", ErrUnavailable)
	}
	if l.server != nil {
		if err := l.trouble(); err != nil {
			l.alarm()
			return err
		}
	}
	for name := range l.lanes {
		if l.misses.Load() > 0 {
			return l.probe(ctx, name)
		}
		_, _, err := l.info(ctx, name)
		return err // one lane speaks for all: they share the disk
	}
	return nil
}

// probe stores an entry without ids and takes it out again, if no worker was faster.
func (l *Lanes) probe(ctx context.Context, name tidings.Lane) error {
	lane := l.lanes[name]
	answer, err := l.js.PublishAsync(lane.subject(), encodeEntry(time.Now(), nil))
	if err != nil {
		return unavailable(err)
	}
	stored, err := l.await(ctx, answer)
	switch {
	case errors.Is(err, ErrFull):
		return nil
	case err != nil:
		return unavailable(err)
	}
	_ = lane.stream.DeleteMsg(ctx, stored)
	return nil
}
