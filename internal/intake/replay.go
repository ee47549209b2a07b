package intake

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
	"tidings/preferences"
	"tidings/templates"
)

// The bounds of a replay.
const (
	maxReplayed    = 10_000 // notifications that are decided again: the newest
	replayPage     = 250    // notifications, and users with their facts, that are loaded at once
	maxDifferences = 1000   // that are listed; all are counted
)

// A Replay says which notifications another catalogue would decide otherwise.
type Replay struct {
	Examined    int  // notifications that were decided again
	Cut         bool // there were more of them, which are older
	Changed     int  // decisions that differ
	Differences []Difference
	Counts      []DifferenceCount // most of a kind first
}

// A Difference is a decision about one channel under both catalogues; nil: that one has no such
// event type, or the type has no such channel.
type Difference struct {
	ID            tidings.NotificationID
	Type, UserID  string
	Channel       tidings.Channel
	Before, After *tidings.Decision
}

// A DifferenceCount is how many decisions differ in the same way.
type DifferenceCount struct {
	Type          string
	Channel       tidings.Channel
	Before, After Ruling
	Count         int
}

// A Ruling is a decision without its time; its zero value is none.
type Ruling struct {
	Action tidings.Action
	Reason tidings.Reason
}

func (v Ruling) compare(o Ruling) int {
	return cmp.Or(cmp.Compare(v.Action, o.Action), cmp.Compare(v.Reason, o.Reason))
}

// Replay decides the newest notifications since an instant again, each for the instant at which it
// was accepted: by the current catalogue and by another one, both times with what is known of the
// user today. Nothing is changed. Limits count what would have been sent within the replay alone,
// the brake against loops is not asked, since it remembers no longer than its span; what would have been held is not followed to its release. One replay runs at a time.
func (in *Intake) Replay(ctx context.Context, other *templates.Catalogue, since time.Time) (Replay, error) {
	return in.replay(ctx, other, since, maxReplayed)
}

func (in *Intake) replay(ctx context.Context, other *templates.Catalogue, since time.Time, limit int) (Replay, error) {
	select {
	case in.replaying <- struct{}{}:
		defer func() { <-in.replaying }()
	case <-ctx.Done():
		return Replay{}, ctx.Err()
	}
	current, _ := in.Catalogue()
	r := replay{in: in, catalogues: [2]*templates.Catalogue{current, other}, counts: map[DifferenceCount]int{}}
	if err := r.collect(ctx, since, limit); err != nil {
		return Replay{}, fmt.Errorf("replay: %w", err)
	}
	if err := r.decide(ctx); err != nil {
		return Replay{}, fmt.Errorf("replay: %w", err)
	}
	return r.result(), nil
}

// A replay is one on its way. What comes in twos is by the current catalogue and by the other.
type replay struct {
	in         *Intake
	catalogues [2]*templates.Catalogue
	past       []past
	out        Replay
	counts     map[DifferenceCount]int // with a Count of 0
}

// A past is what a notification asked for, without its data.
type past struct {
	id         tidings.NotificationID
	kind, user string
	test       bool
	digest     bool
	channels   []tidings.Channel // nil: all
	threads    [2]string
	sendAt     time.Time
	acceptedAt time.Time
	expiresAt  time.Time
}

// collect reads the notifications page by page: their data is read for its thread and let go.
func (r *replay) collect(ctx context.Context, since time.Time, most int) error {
	var before tidings.NotificationID
	for {
		limit := min(replayPage, most+1-len(r.past)) // one more tells whether it is cut
		page, err := r.in.Store.Past(ctx, since, before, limit)
		if err != nil {
			return err
		}
		for i := range page {
			r.past = append(r.past, r.pastOf(&page[i]))
		}
		if len(r.past) > most {
			r.past, r.out.Cut = r.past[:most], true
		}
		if r.out.Cut || len(page) < limit {
			r.out.Examined = len(r.past)
			return nil
		}
		before = page[len(page)-1].ID
	}
}

// pastOf finds out what was asked for from what was decided. Of what was scheduled and has been
// decided again since, the time is not known: it counts as sent at once.
func (r *replay) pastOf(n *tidings.Notification) past {
	p := past{id: n.ID, kind: n.Type, user: n.UserID, test: n.Test, digest: n.Parts > 0, acceptedAt: n.AcceptedAt, expiresAt: n.ExpiresAt}
	for i, c := range r.catalogues {
		if kind := c.Events[n.Type]; kind != nil {
			p.threads[i] = kind.ThreadOf(n.Data)
		}
	}
	narrowed, asked := false, []tidings.Channel{}
	for _, d := range n.Decisions {
		switch {
		case d.Reason == tidings.ReasonNotRequested:
			narrowed = true
			continue
		case d.Reason == tidings.ReasonScheduled:
			p.sendAt = d.Until
		}
		asked = append(asked, d.Channel)
	}
	if narrowed {
		p.channels = asked
	}
	return p
}

// decide goes through the users in batches, and through the notifications of each in their order.
func (r *replay) decide(ctx context.Context) error {
	slices.SortFunc(r.past, func(a, b past) int {
		return cmp.Or(strings.Compare(a.user, b.user), bytes.Compare(a.id[:], b.id[:]))
	})
	for batch := range slices.Chunk(byUser(r.past), replayPage) {
		users := make([]string, len(batch))
		for i := range batch {
			users[i] = batch[i][0].user
		}
		facts, _, err := r.in.Store.Facts(ctx, users)
		if err != nil {
			return err
		}
		for _, all := range batch {
			known := facts[all[0].user]
			if known == nil { // the stored preferences are damaged: nobody knows what they refused
				r.out.Examined -= len(all)
				continue
			}
			r.decideUser(all, r.in.factsOf(known))
		}
	}
	return nil
}

// byUser cuts a list in the order of users into one of each.
func byUser(all []past) (parts [][]past) {
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(p past) bool { return p.user != all[0].user })
		if n < 0 {
			n = len(all)
		}
		parts, all = append(parts, all[:n]), all[n:]
	}
	return parts
}

// A tally is what limits have counted of a user, by whether it was a test and by scope.
type tally map[bool]map[string][]time.Time

func (r *replay) decideUser(all []past, f preferences.Facts) {
	var told [2]tally
	for i := range told {
		told[i] = tally{false: {}, true: {}}
	}
	for n := range all {
		var decided [2][]tidings.Decision
		for i, c := range r.catalogues {
			if kind := c.Events[all[n].kind]; kind != nil {
				f.Told = told[i][all[n].test]
				decided[i] = all[n].decide(kind, all[n].threads[i], f)
			}
		}
		r.compare(&all[n], decided)
	}
}

// decide decides by one catalogue, and counts what would be sent.
func (p *past) decide(kind *tidings.EventType, thread string, f preferences.Facts) []tidings.Decision {
	decisions := preferences.Decide(preferences.Request{
		Event: kind, Channels: p.channels, SendAt: p.sendAt, ExpiresAt: p.expiresAt, Thread: thread, Digest: p.digest,
	}, f, p.acceptedAt)
	if slices.ContainsFunc(decisions, func(d tidings.Decision) bool { return d.Action == tidings.ActionSend }) {
		counted := map[string]bool{}
		for _, l := range kind.Limits {
			if !counted[l.Scope] {
				counted[l.Scope] = true
				f.Told[l.Scope] = append(f.Told[l.Scope], p.acceptedAt)
			}
		}
	}
	return decisions
}

// compare keeps what differs: of the channels of the current catalogue in its order, then of those that are new.
func (r *replay) compare(p *past, decided [2][]tidings.Decision) {
	for i := range decided[0] {
		before := &decided[0][i]
		r.differ(p, before.Channel, before, about(decided[1], before.Channel))
	}
	for i := range decided[1] {
		after := &decided[1][i]
		if about(decided[0], after.Channel) == nil {
			r.differ(p, after.Channel, nil, after)
		}
	}
}

func about(decisions []tidings.Decision, channel tidings.Channel) *tidings.Decision {
	i := slices.IndexFunc(decisions, func(d tidings.Decision) bool { return d.Channel == channel })
	if i < 0 {
		return nil
	}
	return &decisions[i]
}

func (r *replay) differ(p *past, channel tidings.Channel, before, after *tidings.Decision) {
	same := before != nil && after != nil && rulingOf(before) == rulingOf(after) && before.Until.Equal(after.Until)
	if same {
		return
	}
	for _, d := range []*tidings.Decision{before, after} {
		if d != nil {
			d.To = nil // nobody asks for whom, and there may be many
		}
	}
	r.out.Changed++
	r.counts[DifferenceCount{Type: p.kind, Channel: channel, Before: rulingOf(before), After: rulingOf(after)}]++
	r.out.Differences = append(r.out.Differences, Difference{ID: p.id, Type: p.kind, UserID: p.user, Channel: channel, Before: before, After: after})
}

func rulingOf(d *tidings.Decision) Ruling {
	if d == nil {
		return Ruling{}
	}
	return Ruling{d.Action, d.Reason}
}

// result is the outcome with its lists in order: the newest differences, the greatest counts first.
func (r *replay) result() Replay {
	slices.SortStableFunc(r.out.Differences, func(a, b Difference) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	r.out.Differences = r.out.Differences[:min(len(r.out.Differences), maxDifferences)]
	for c, n := range r.counts {
		c.Count = n
		r.out.Counts = append(r.out.Counts, c)
	}
	slices.SortFunc(r.out.Counts, func(a, b DifferenceCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Channel, b.Channel),
			a.Before.compare(b.Before), a.After.compare(b.After))
	})
	return r.out
}
