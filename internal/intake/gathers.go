package intake

import (
	"context"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// gathered gives dry runs the digests that are open; whatever is written joins one under a lock.
func (r *round) gathered(ctx context.Context) error {
	var of []store.Gathering
	for n := range r.items {
		if i := &r.items[n]; !i.settled && i.DryRun && i.kind.Digest != nil {
			of = append(of, i.gathering())
		}
	}
	if len(of) == 0 {
		return nil
	}
	var err error
	r.open, err = r.in.Store.Gathered(ctx, of)
	return err
}

func (i *item) gathering() store.Gathering {
	return store.Gathering{App: i.App, Test: i.Test, User: i.User.ID, Type: i.Type}
}

// joins is what is decided for a dry run that joins a digest which is open: it closes before a new
// one would.
func (r *round) joins(i *item, request *preferences.Request, facts preferences.Facts, decisions []tidings.Decision, now time.Time) []tidings.Decision {
	open := r.open[i.gathering()]
	if len(open) == 0 {
		return decisions
	}
	a := store.Acceptance{Notification: tidings.Notification{Data: i.Data}}
	for n := range decisions {
		if decisions[n].Action == tidings.ActionHold {
			a.Holds = append(a.Holds, holdFor(a.Notification.ID, &decisions[n], now))
		}
	}
	join := joining(&a, i.kind, now)
	if join == nil {
		return decisions
	}
	request.Closes = join.Closes(open)
	return preferences.Decide(*request, facts, now)
}
