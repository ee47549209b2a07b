package workers

import (
	"context"
	"time"
)

// flushDigests lets intake make notifications of the digests that are due. It comes by with every
// look, since any process can have filled one up.
func (d *dispatcher) flushDigests(ctx context.Context) {
	for range sweepMax {
		now := time.Now().UTC()
		next, err := d.w.Store.NextDigest(ctx)
		if err != nil || next.IsZero() || next.After(now) {
			if err != nil {
				d.trouble(ctx, "look for digests", err)
			}
			return
		}
		more, err := d.w.Digests(ctx, now)
		if err != nil {
			d.trouble(ctx, "flush digests", err)
		}
		if err != nil || !more {
			return
		}
	}
}
