package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"tidings"
)

// A Flush makes an acceptance the notification of a closed digest. It stands only while each of the
// holds that the items are said to have waits: else its Err is ErrChanged, and the digest is still
// due. A digest that somebody else has flushed is Consumed.
type Flush struct {
	Digest tidings.DigestID
	Items  []FlushItem

	// Rest did not fit. It goes on waiting for another digest, Next, which is closed and due, and
	// Continued when limits have counted it with this one.
	Rest      []tidings.NotificationID
	Next      tidings.DigestID
	Continued bool
}

// A FlushItem is a notification whose holds end with a digest.
type FlushItem struct {
	ID       tidings.NotificationID
	Channels []tidings.Channel
	Left     []tidings.Decision // why it is not told of; nil: it is
}

var errDigestGone = errors.New("a digest went away while its items were held")

// flush takes the holds of digests that are to become notifications. They come before what is new,
// which nobody else can wait for.
func (a *accepting) flush() error {
	for i := range a.chunk {
		if a.chunk[i].Flush == nil {
			continue
		}
		stands, err := a.flushOne(i)
		if err != nil {
			return err
		}
		if !stands {
			a.out[i].Consumed = true
			continue
		}
		a.fresh = append(a.fresh, i)
	}
	slices.Sort(a.fresh)
	return nil
}

func (a *accepting) flushOne(i int) (stands bool, err error) {
	f := a.chunk[i].Flush
	ids := slices.Clone(f.Rest)
	for _, item := range f.Items {
		ids = append(ids, item.ID)
	}
	slices.SortFunc(ids, func(x, y tidings.NotificationID) int { return bytes.Compare(x[:], y[:]) })
	if err := a.lock("notification_lock", len(ids), func(k int) []any { return []any{ids[k][:]} }); err != nil {
		return false, err
	}
	var state string
	found, err := a.one("digest_state", []any{f.Digest[:]}, &state)
	if err != nil || !found || state != "closed" {
		return false, err
	}
	type hold struct {
		id      tidings.NotificationID
		channel tidings.Channel
	}
	var holds []hold
	for _, item := range f.Items {
		for _, c := range item.Channels {
			holds = append(holds, hold{item.ID, c})
		}
	}
	taken := 0
	err = a.each("digest_hold", len(holds), func(k int) []any { return []any{holds[k].id[:], string(holds[k].channel)} }, func(int, row) error {
		taken++
		return nil
	})
	if err != nil {
		return false, err
	}
	if taken < len(holds) {
		return false, ErrChanged
	}
	if err := a.split(f); err != nil {
		return false, err
	}
	var one int
	ntf := a.chunk[i].Notification.ID
	found, err = a.one("digest_flushed", []any{f.Digest[:], ntf[:]}, &one)
	if err == nil && !found {
		err = errDigestGone
	}
	return true, err
}

// split moves what did not fit into a digest to the next.
func (a *accepting) split(f *Flush) error {
	if len(f.Rest) == 0 {
		return nil
	}
	if _, err := a.exec("digest_split", f.Digest[:], f.Next[:], int64(len(f.Rest)), flag(f.Continued)); err != nil {
		return err
	}
	return a.each("digest_item_move", len(f.Rest), func(k int) []any { return []any{f.Digest[:], f.Rest[k][:], f.Next[:]} }, nil)
}

// told writes into the trails of items what became of their digest.
func (a *accepting) told() error {
	for _, i := range a.fresh {
		if a.chunk[i].Flush == nil {
			continue
		}
		if err := a.tell(&a.chunk[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *accepting) tell(c *Acceptance) error {
	items, digest, at := c.Flush.Items, c.Notification.ID, c.Notification.AcceptedAt.UnixMicro()
	var told, left []FlushItem
	for _, item := range items {
		if item.Left != nil {
			left = append(left, item)
			continue
		}
		told = append(told, item)
		if item.Left = refusalsFor(item, c.Notification.Decisions); item.Left != nil {
			left = append(left, item)
		}
	}
	of := fmt.Sprintf(gatheredIn+"%s, which has %d", digest, len(told))
	if n := len(c.Flush.Rest); n > 0 {
		of += fmt.Sprintf("; %d more did not fit and follow in the next", n)
	}
	err := a.each("timeline_add", len(told), func(k int) []any { return []any{told[k].ID[:], at, "released", wholeNotification, of} }, nil)
	if err != nil {
		return err
	}
	stored := make([]string, len(left))
	var next int
	err = a.each("release_facts", len(left), func(k int) []any { return []any{left[k].ID[:]} }, func(k int, r row) error { return r.Scan(&stored[k], &next) })
	if err != nil {
		return err
	}
	var whose []tidings.NotificationID
	var held []tidings.Decision // that others take the place of
	for k, item := range left {
		var before []tidings.Decision
		if stored[k], before, err = mergeDecisions(stored[k], item.Left); err != nil {
			return err
		}
		for _, d := range before {
			whose, held = append(whose, item.ID), append(held, d)
		}
	}
	if err := a.superseded(whose, held); err != nil {
		return err
	}
	if err := a.each("decisions_set", len(left), func(k int) []any { return []any{left[k].ID[:], stored[k]} }, nil); err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(item FlushItem) bool {
		return slices.ContainsFunc(told, func(o FlushItem) bool { return o.ID == item.ID })
	})
	err = a.each("timeline_add", len(left), func(k int) []any {
		return []any{left[k].ID[:], at, "released", wholeNotification, leftOut(digest)}
	}, nil)
	if err != nil {
		return err
	}
	err = a.each("digest_item_drop", len(left), func(k int) []any { return []any{c.Flush.Digest[:], left[k].ID[:]} }, nil)
	if err != nil {
		return err
	}
	_, err = a.exec("digest_clean", c.Flush.Digest[:])
	return err
}

// refusalsFor are the decisions against telling of a digest on the channels of an item.
func refusalsFor(item FlushItem, decisions []tidings.Decision) (refusals []tidings.Decision) {
	for _, d := range decisions {
		if d.Action == tidings.ActionSuppress && slices.Contains(item.Channels, d.Channel) {
			refusals = append(refusals, d)
		}
	}
	return refusals
}
