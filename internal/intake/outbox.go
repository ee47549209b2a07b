package intake

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"tidings"
	"tidings/internal/lanes"
	"tidings/internal/store"
)

// The bounds of publishing.
const (
	publishGrace  = 5 * time.Second // from the stamp on; what is later is left to the dispatcher
	outboxParcels = 64              // commits that may wait to be published; further ones block
)

var errTooLate = errors.New("its time to be published is over")

// An outbox publishes what was committed as queued, beside the next commit. What it cannot
// publish it parks again, for the dispatcher to feed.
type outbox struct {
	store  *store.Store
	lanes  *lanes.Lanes
	log    *slog.Logger
	urgent chan parcel
	bulk   chan parcel
	loops  sync.WaitGroup
}

// A parcel is what one commit queued in one lane.
type parcel struct {
	lane  tidings.Lane
	stamp time.Time
	ids   []tidings.DeliveryID
}

func newOutbox(s Settings) *outbox {
	o := &outbox{store: s.Store, lanes: s.Lanes, log: s.Log, urgent: make(chan parcel, outboxParcels), bulk: make(chan parcel, outboxParcels)}
	for _, parcels := range []chan parcel{o.urgent, o.bulk} {
		o.loops.Go(func() {
			for p := range parcels {
				o.publish(p)
			}
		})
	}
	return o
}

// close publishes what waits; nothing may be sent any more.
func (o *outbox) close() {
	close(o.urgent)
	close(o.bulk)
	o.loops.Wait()
}

// send hands over the deliveries of a commit that are queued. It waits while the outbox is full.
func (o *outbox) send(group []store.Acceptance, accepted []store.Accepted, stamp time.Time) {
	ids := map[tidings.Lane][]tidings.DeliveryID{}
	for n, a := range accepted {
		if a.Err != nil || a.Duplicate || a.Conflict || a.Consumed {
			continue
		}
		for d, id := range a.Deliveries {
			if group[n].Deliveries[d].Status == tidings.Queued {
				lane := group[n].Deliveries[d].Lane
				ids[lane] = append(ids[lane], id)
			}
		}
	}
	for lane, list := range ids {
		parcels := o.bulk
		if lane.Priority() == tidings.Urgent {
			parcels = o.urgent
		}
		parcels <- parcel{lane: lane, stamp: stamp, ids: list}
	}
}

func (o *outbox) publish(p parcel) {
	failed, err := p.ids, errTooLate
	deadline := p.stamp.Add(publishGrace)
	if time.Now().Before(deadline) {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		failed, err = o.lanes.Publish(ctx, p.lane, p.stamp, p.ids)
		cancel()
	}
	if len(failed) == 0 {
		return
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	o.log.Warn("deliveries wait in the log, for their lane did not take them", "lane", p.lane, "deliveries", len(failed), "error", err)
	due := now.Add(publishGrace) // without an answer it may still arrive: it is fed again only when it must have
	if errors.Is(err, lanes.ErrFull) || errors.Is(err, errTooLate) {
		due = now
	}
	ctx, cancel := context.WithTimeout(context.Background(), roundTimeout)
	defer cancel()
	if err := o.store.Unqueue(ctx, failed, p.stamp, due); err != nil {
		// The dispatcher finds them: they are queued under a stamp that no lane holds.
		o.log.Error("deliveries could not be parked", "lane", p.lane, "deliveries", len(failed), "error", err)
	}
}
