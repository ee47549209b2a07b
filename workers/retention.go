package workers

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
)

const (
	keepFirst = time.Minute      // after the start, at most: processes that start together begin apart
	keepEvery = 10 * time.Minute // between rounds
	keepPage  = 500              // notifications that one query looks at
	// keepChunk is how many notifications one transaction deletes: a few milliseconds of the one writer of SQLite.
	keepChunk = 32
	// keepShare is how much longer than a transaction the rest after it is: deleting takes a quarter
	// of the writer, and less the more others wait for it, since their time counts as well.
	keepShare = 3
	keepRest  = 2 * time.Millisecond // at least
	// lookAgain is when what was still needed in a category with a retention of its own is looked at again.
	lookAgain = 24 * time.Hour
)

// A keeper deletes the detail of notifications that is older than the retention. Any number of
// processes may run one: the log keeps them from taking the same rows.
type keeper struct {
	w *Workers
	// seen is how far categories of a retention were looked through, by that retention.
	seen    map[time.Duration]tidings.NotificationID
	againAt time.Time // when seen is forgotten
}

func newKeeper(w *Workers) *keeper { return &keeper{w: w} }

func (k *keeper) run(ctx context.Context) {
	wait := rand.N(keepFirst)
	for rest(ctx, wait) {
		k.round(ctx, time.Now().UTC())
		wait = keepEvery
	}
}

// rest sleeps; false: ctx has ended.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (k *keeper) round(ctx context.Context, now time.Time) {
	whole := k.w.Config.Retention
	gone, _ := k.pass(ctx, tidings.NotificationID{}, now, whole, nil)
	if !k.againAt.After(now) {
		k.seen, k.againAt = map[time.Duration]tidings.NotificationID{}, now.Add(lookAgain)
	}
	for span, categories := range k.shorter() {
		n, last := k.pass(ctx, k.seen[span], now, span, categories)
		k.seen[span] = last
		gone += n
	}
	k.forgetRest(ctx, now.Add(-whole))
	if gone > 0 {
		k.w.Log.Info("the detail of old notifications is deleted", "notifications", gone)
	}
}

// shorter are the categories that are kept for less than the rest, by how long.
func (k *keeper) shorter() map[time.Duration][]string {
	spans := map[time.Duration][]string{}
	if k.w.Current == nil {
		return spans
	}
	catalogue, _ := k.w.Current()
	for name, c := range catalogue.Categories {
		if c.Retention > 0 && c.Retention < k.w.Config.Retention {
			spans[c.Retention] = append(spans[c.Retention], name)
		}
	}
	return spans
}

// pass deletes the detail of what is older than span, of all categories or of some, and says of how
// many notifications and how far it came.
func (k *keeper) pass(ctx context.Context, after tidings.NotificationID, now time.Time, span time.Duration, categories []string) (gone int, last tidings.NotificationID) {
	for ctx.Err() == nil {
		page, err := k.w.Store.Old(ctx, store.OldPage{After: after, Before: now.Add(-span), Now: now, Limit: keepPage})
		if err != nil {
			k.trouble(ctx, err)
			break
		}
		var ids []tidings.NotificationID
		for _, o := range page {
			if !o.Needed && (categories == nil || slices.Contains(categories, o.Category)) {
				ids = append(ids, o.ID)
			}
		}
		n, ok := k.forget(ctx, ids, now)
		gone += n
		if !ok || len(page) == 0 {
			break
		}
		after = page[len(page)-1].ID
		if len(page) < keepPage || len(ids) == 0 && !rest(ctx, keepRest) {
			break
		}
	}
	return gone, after
}

// forget deletes chunk by chunk, with a rest after each.
func (k *keeper) forget(ctx context.Context, ids []tidings.NotificationID, now time.Time) (gone int, ok bool) {
	for chunk := range slices.Chunk(ids, keepChunk) {
		began := time.Now()
		n, err := k.w.Store.Forget(ctx, chunk, now)
		gone += n
		if err != nil {
			k.trouble(ctx, err)
			return gone, false
		}
		if !rest(ctx, max(keepRest, keepShare*time.Since(began))) {
			return gone, false
		}
	}
	return gone, true
}

func (k *keeper) forgetRest(ctx context.Context, before time.Time) {
	for more := true; more; {
		var err error
		if more, err = k.w.Store.ForgetRest(ctx, before, keepChunk); err != nil {
			k.trouble(ctx, err)
			return
		}
		if more && !rest(ctx, keepRest) {
			return
		}
	}
}

// trouble tells what went wrong; the next round tries again.
func (k *keeper) trouble(ctx context.Context, err error) {
	if ctx.Err() == nil {
		k.w.Log.Warn("old detail is not deleted", "error", err)
	}
}
