package intake

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

const (
	digestPage = 20  // digests that are flushed together
	maxKey     = 128 // bytes of a digest's key that are kept as they are; a longer one is hashed
)

// joining says which digest the digested holds of an acceptance wait for; nil: there are none.
func joining(a *store.Acceptance, kind *tidings.EventType, now time.Time) *store.Join {
	var waiting []tidings.Channel
	for _, h := range a.Holds {
		if h.Reason == tidings.ReasonDigested {
			waiting = append(waiting, h.Channel)
		}
	}
	if waiting == nil {
		return nil
	}
	key := kind.Digest.KeyOf(a.Notification.Data)
	if len(key) > maxKey {
		sum := sha256.Sum256([]byte(key))
		key = hex.EncodeToString(sum[:])
	}
	return &store.Join{Key: key, Channels: waiting, Window: kind.Digest.Window, Max: kind.Digest.Max, Now: now}
}

// FlushDigests makes a notification of each digest whose time has come, at most a page of them; more
// says that others may be due. Any number of processes may call it; each item is told of once. The
// error tells of digests that could not be flushed; they are due again.
func (in *Intake) FlushDigests(ctx context.Context, now time.Time) (more bool, err error) {
	release, err := in.slot(ctx)
	if err != nil {
		return false, fmt.Errorf("flush digests: %w", err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTimeout)
	defer cancel()
	now = now.UTC().Truncate(time.Microsecond)
	closed, err := in.Store.CloseDigests(ctx, now, digestPage)
	if err != nil || len(closed) == 0 {
		return false, err
	}
	var users []string
	for i := range closed {
		users = append(users, closed[i].UserID)
	}
	facts, damaged, err := in.Store.Facts(ctx, users)
	if err != nil {
		return false, fmt.Errorf("flush digests: load facts: %w", err)
	}
	f := flushing{in: in, now: now, room: rooms{lanes: in.Lanes, door: in.Door}, groups: map[store.Class][]store.Acceptance{}}
	for i := range closed {
		if slices.Contains(damaged, closed[i].UserID) {
			f.failed = append(f.failed, fmt.Errorf("flush digest %s: %w", closed[i].ID, errDamaged))
			continue
		}
		f.add(&closed[i], in.factsOf(facts[closed[i].UserID]))
	}
	return f.split || len(closed) == digestPage, f.write(ctx)
}

// A flushing is one page of digests on their way to the log.
type flushing struct {
	in     *Intake
	now    time.Time
	room   rooms
	made   int
	split  bool // one was too large, and its rest is due
	groups map[store.Class][]store.Acceptance
	empty  []tidings.DigestID
	failed []error
}

// add decides about a digest with the facts of now and the catalogue of now, as about one notification.
func (f *flushing) add(d *store.Digest, facts preferences.Facts) {
	if len(d.Items) == 0 {
		f.empty = append(f.empty, d.ID)
		return
	}
	kind, err := f.kindOf(d)
	if err == nil {
		err = f.compose(d, kind, facts)
	}
	if err != nil {
		f.failed = append(f.failed, fmt.Errorf("flush digest %s: %w", d.ID, err))
	}
}

// kindOf is the event type in the current catalogue, else in that of the newest item.
func (f *flushing) kindOf(d *store.Digest) (*tidings.EventType, error) {
	catalogue, _ := f.in.Catalogue()
	if kind := catalogue.Events[d.Type]; kind != nil {
		return kind, nil
	}
	version := d.Items[len(d.Items)-1].Notification.CatalogVersion
	catalogue, err := f.in.Version(version)
	if err != nil {
		return nil, fmt.Errorf("load catalogue version %d: %w", version, err)
	}
	if kind := catalogue.Events[d.Type]; kind != nil {
		return kind, nil
	}
	return nil, fmt.Errorf("catalogue version %d has no event type %q", version, d.Type)
}

func (f *flushing) compose(d *store.Digest, kind *tidings.EventType, facts preferences.Facts) error {
	flush, told := f.sort(d, kind, facts)
	items := itemsOf(told)
	id := tidings.NewNotificationID(f.now.Add(time.Duration(f.made) * time.Microsecond))
	request := requestFor(d, kind, told, items)
	decisions := f.decide(request, facts)
	edition, n, err := f.editionOf(told, items, decisions, templates.Input{User: facts.User, Type: d.Type, At: f.now, Notification: id, Links: f.in.exampleLinks()})
	if err != nil {
		return err
	}
	if n = edition.fitting(items[:n]); n < len(told) {
		f.split = true
		put(flush, told[n:], decisions, f.now)
		told, items = told[:n], items[:n]
		request = requestFor(d, kind, told, items)
		decisions = f.decide(request, facts)
	}
	data, err := tidings.DigestData(items, d.Continued)
	if err != nil {
		return err
	}
	a := store.Acceptance{Flush: flush, Notification: tidings.Notification{
		ID: id, App: d.App, Test: d.Test, Type: d.Type, UserID: d.UserID, Category: kind.Category.Name, CatalogVersion: edition.version,
		Data: data, Decisions: decisions, AcceptedAt: f.now, ExpiresAt: request.ExpiresAt, Parts: len(told),
	}}
	f.made++
	expand(&a, kind, decisions, &f.room, f.now)
	f.in.spread(a.Holds, &a.Notification, time.Time{})
	a.Count = f.in.counting(&a, request, &facts, f.now)
	class := store.Background
	if kind.Priority == tidings.Urgent {
		class = store.Urgent
	}
	f.groups[class] = append(f.groups[class], a)
	return nil
}

// decide is about the channels on which a digest waits: on the others each event went its own way. One
// that the event type has no more is refused.
func (f *flushing) decide(request preferences.Request, facts preferences.Facts) []tidings.Decision {
	decisions := slices.DeleteFunc(preferences.Decide(request, facts, f.now), func(d tidings.Decision) bool {
		return !slices.Contains(request.Channels, d.Channel)
	})
	for _, c := range request.Channels {
		if !slices.ContainsFunc(decisions, func(d tidings.Decision) bool { return d.Channel == c }) {
			decisions = append(decisions, tidings.Decision{Channel: c, Action: tidings.ActionSuppress, Reason: tidings.ReasonNotRequested, At: f.now})
		}
	}
	return decisions
}

// sort leaves out the items that nothing may be told of any more: they are late, or the user has
// muted their thread. Where that is so of all of them, the digest is of all, and says why.
func (f *flushing) sort(d *store.Digest, kind *tidings.EventType, facts preferences.Facts) (*store.Flush, []store.DigestItem) {
	flush, told := &store.Flush{Digest: d.ID}, make([]store.DigestItem, 0, len(d.Items))
	for _, item := range d.Items {
		n := &item.Notification
		decisions := f.decide(preferences.Request{
			Event: kind, Channels: item.Channels, ExpiresAt: n.ExpiresAt, Thread: kind.ThreadOf(n.Data), Digest: true, Continued: d.Continued,
		}, facts)
		goes := func(d tidings.Decision) bool { return d.Action != tidings.ActionSuppress }
		part := store.FlushItem{ID: n.ID, Channels: item.Channels}
		if slices.ContainsFunc(decisions, goes) {
			told = append(told, item)
		} else {
			part.Left = decisions
		}
		flush.Items = append(flush.Items, part)
	}
	if len(told) > 0 {
		return flush, told
	}
	for i := range flush.Items {
		flush.Items[i].Left = nil
	}
	return flush, d.Items
}

// write commits what was decided and hands what is queued to the outbox.
func (f *flushing) write(ctx context.Context) error {
	for _, class := range []store.Class{store.Urgent, store.Background} {
		group := f.groups[class]
		accepted := f.in.write(ctx, class, group)
		f.in.outbox.send(group, accepted, f.now)
		for n, a := range accepted {
			switch {
			case errors.Is(a.Err, store.ErrChanged): // an item was called off at this moment: it is due again
			case a.Err != nil:
				f.failed = append(f.failed, fmt.Errorf("flush digest %s: %w", group[n].Flush.Digest, a.Err))
			case !a.Consumed:
				f.in.countDecisions(group[n].Notification.Decisions)
			}
		}
	}
	if len(f.empty) > 0 {
		f.failed = append(f.failed, f.in.Store.EndDigests(ctx, f.empty))
	}
	return errors.Join(f.failed...)
}

// channelsOf are the channels on which any of the items waits.
func channelsOf(items []store.DigestItem) (channels []tidings.Channel) {
	for _, item := range items {
		channels = append(channels, item.Channels...)
	}
	slices.Sort(channels)
	return slices.Compact(channels)
}

// exampleLinks are as long as those that a message will have.
func (in *Intake) exampleLinks() templates.Links {
	return templates.ExampleLinks(cmp.Or(in.PublicURL, templates.ExampleURL))
}

func dataOf(n *tidings.Notification) json.RawMessage {
	return json.RawMessage(cmp.Or(string(n.Data), "{}"))
}
