package intake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
	"tidings/preferences"
)

// check refuses what the current catalogue does not allow.
func (r *round) check() {
	for n := range r.items {
		i := &r.items[n]
		if i.settled {
			continue
		}
		i.kind, i.sendAt = r.catalogue.Events[i.Type], i.SendAt
		if refusal := r.allows(i); refusal != nil {
			i.refuse(refusal)
		}
	}
}

func (r *round) allows(i *item) *Refusal {
	if i.kind == nil {
		return &Refusal{Code: "unknown_event_type", Pointer: "/type", Detail: fmt.Sprintf("the catalogue has no event type %q", i.Type)}
	}
	for n, c := range i.Channels {
		if !slices.Contains(i.kind.Channels, c) {
			return &Refusal{Code: "invalid_input", Pointer: fmt.Sprintf("/channels/%d", n),
				Detail: fmt.Sprintf("%s is not sent by %q; channels can only narrow %s", i.Type, c, list(i.kind.Channels))}
		}
	}
	if refusal := r.keeps(i, "/send_at"); refusal != nil {
		return refusal
	}
	if refusal := r.hasSpace(i); refusal != nil {
		return refusal
	}
	return r.affords(i)
}

// keeps refuses what is sent so late that its detail is gone before it is of no more use.
func (r *round) keeps(i *item, pointer string) *Refusal {
	now, kept := r.instant(i), r.in.Defaults.retention()
	if !i.sendAt.After(now) || r.expiry(i).Sub(now) < kept {
		return nil
	}
	return &Refusal{Code: "invalid_input", Pointer: pointer,
		Detail: fmt.Sprintf("it would be of use until %s, but is kept only until %s", when(r.expiry(i)), when(now.Add(kept)))}
}

// schedule finds the instant at which the clock of the user, as the event makes them, shows send_at_local.
func (r *round) schedule(i *item, f *preferences.Facts) *Refusal {
	if i.SendAtLocal.IsZero() {
		return nil
	}
	zone := f.Zone
	if zone == nil {
		zone = time.UTC
	}
	i.sendAt, i.shifted = preferences.At(i.SendAtLocal, zone)
	return r.keeps(i, "/send_at_local")
}

// affords refuses what is above the app's quota. Dry runs and repeats of what was accepted cost nothing.
func (r *round) affords(i *item) *Refusal {
	if i.DryRun || r.again > 0 || r.in.Quota == nil {
		return nil
	}
	wait := r.in.Quota(i.App, r.now)
	if wait == 0 {
		return nil
	}
	return &Refusal{Code: "quota_exceeded", Detail: fmt.Sprintf("app %s has used up its rate of events", i.App), After: wait}
}

// retention is how long the detail of a notification is kept: it must be decided and expire within it.
func (d Defaults) retention() time.Duration {
	if d.Retention > 0 {
		return d.Retention
	}
	return 30 * 24 * time.Hour
}

func when(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// instant is what an item is decided for.
func (r *round) instant(i *item) time.Time {
	if i.DryRun && !i.At.IsZero() {
		return i.At
	}
	return r.now
}

// expiry is when an item is of no more use, counted from when it may be sent.
func (r *round) expiry(i *item) time.Time {
	from := r.instant(i)
	if i.sendAt.After(from) {
		from = i.sendAt
	}
	return from.Add(firstSet(i.ExpiresIn, i.kind.ExpiresIn, r.in.Defaults.ExpiresIn))
}

// firstSet is the first span that is set; none: a day.
func firstSet(spans ...time.Duration) time.Duration {
	for _, s := range spans {
		if s > 0 {
			return s
		}
	}
	return 24 * time.Hour
}

func list(channels []tidings.Channel) string {
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}
