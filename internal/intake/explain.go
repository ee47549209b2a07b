package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// A Question is what would become of an event if it were posted now: without its data, thread and
// digest key, and nothing is rendered.
type Question struct {
	User    string
	Type    string
	Test    bool            // as with a test key, which has counts of its own
	Channel tidings.Channel // empty: all of the event type
	At      time.Time       // the instant to decide for; zero: now
}

// An Answer is what would become of it, and why.
type Answer struct {
	Category  string
	Zone      string // whose wall clock the user lives by
	ZoneFrom  preferences.ZoneSource
	At        time.Time
	ExpiresAt time.Time
	Channels  []preferences.Explanation
}

// Explain answers by what is stored of the user and changes nothing. An error is a *Refusal where
// the catalogue cannot answer, and store.ErrNotFound for an unknown user.
func (in *Intake) Explain(ctx context.Context, q Question) (Answer, error) {
	catalogue, _ := in.Catalogue()
	kind := catalogue.Events[q.Type]
	switch {
	case kind == nil:
		return Answer{}, &Refusal{Code: "unknown_event_type", Pointer: "/event", Detail: fmt.Sprintf("the catalogue has no event type %q", q.Type)}
	case q.Channel != "" && !slices.Contains(kind.Channels, q.Channel):
		return Answer{}, &Refusal{Code: "invalid_input", Pointer: "/channel", Detail: fmt.Sprintf("%s is not sent by %q, which has %s", q.Type, q.Channel, list(kind.Channels))}
	}
	known, damaged, err := in.Store.Facts(ctx, []string{q.User})
	if err != nil {
		return Answer{}, fmt.Errorf("explain: %w", err)
	}
	if len(damaged) > 0 {
		return Answer{}, fmt.Errorf("explain: %w", errDamaged)
	}
	f := in.factsOf(known[q.User])
	if f.User.CreatedAt.IsZero() {
		return Answer{}, fmt.Errorf("explain: %w", store.ErrNotFound)
	}
	if f.Told, err = in.told(ctx, &q, kind); err != nil {
		return Answer{}, fmt.Errorf("explain: %w", err)
	}
	f.Counted = time.Now().UTC().Truncate(time.Microsecond)
	now := q.At
	if now.IsZero() {
		now = f.Counted
	}
	f.Braked = in.brake.peek(in.brakeOf(kind), q.Type, q.User, q.Test, now)
	a := Answer{Category: kind.Category.Name, Zone: f.Zone.String(), ZoneFrom: f.ZoneFrom, At: now, ExpiresAt: now.Add(firstSet(kind.ExpiresIn, in.Defaults.ExpiresIn))}
	for _, e := range preferences.Explain(preferences.Request{Event: kind, ExpiresAt: a.ExpiresAt}, f, now) {
		if q.Channel == "" || q.Channel == e.Decision.Channel {
			a.Channels = append(a.Channels, e)
		}
	}
	return a, nil
}

// told is what the limits of an event type have counted of the user.
func (in *Intake) told(ctx context.Context, q *Question, kind *tidings.EventType) (map[string][]time.Time, error) {
	if len(kind.Limits) == 0 {
		return nil, nil
	}
	keys := make([]store.CounterKey, len(kind.Limits))
	for i, l := range kind.Limits {
		keys[i] = store.CounterKey{User: q.User, Test: q.Test, Scope: l.Scope}
	}
	counters, err := in.Store.Told(ctx, keys)
	told := make(map[string][]time.Time, len(keys))
	for _, k := range keys {
		told[k.Scope] = counters[k]
	}
	return told, err
}
