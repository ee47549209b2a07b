package intake

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// itemsOf are what a digest of notifications tells of.
func itemsOf(told []store.DigestItem) []tidings.DigestItem {
	items := make([]tidings.DigestItem, len(told))
	for i := range told {
		n := &told[i].Notification
		items[i] = tidings.DigestItem{ID: n.ID, At: n.AcceptedAt, ExpiresAt: n.ExpiresAt, Data: dataOf(n)}
	}
	return items
}

// requestFor asks about a digest of items.
func requestFor(d *store.Digest, kind *tidings.EventType, told []store.DigestItem, items []tidings.DigestItem) preferences.Request {
	return preferences.Request{
		Event: kind, ExpiresAt: tidings.LastExpiry(items), Digest: true, Continued: d.Continued,
		Thread: kind.ThreadOf(items[len(items)-1].Data), Channels: channelsOf(told),
	}
}

// fitting is how many of the items, the oldest first, fit into one digest on every channel on which it
// goes; 1 at least: that an item fits alone was seen when it was accepted.
func fitting(catalogue *templates.Catalogue, decisions []tidings.Decision, items []tidings.DigestItem, in templates.Input) int {
	fits := func(n int) bool {
		for _, d := range decisions {
			if d.Action != tidings.ActionSuppress && tooLarge(renderDigest(catalogue, d.Channel, items[:n], in)) {
				return false
			}
		}
		return true
	}
	n, size := 0, 0
	for n < len(items) && (n == 0 || size+len(items[n].Data) <= tidings.MaxDigestData) {
		size += len(items[n].Data)
		n++
	}
	if fits(n) {
		return n
	}
	return max(1, sort.Search(n-1, func(k int) bool { return !fits(k + 1) }))
}

func renderDigest(catalogue *templates.Catalogue, channel tidings.Channel, items []tidings.DigestItem, in templates.Input) error {
	data, err := tidings.DigestData(items, false)
	if err != nil {
		return err
	}
	in.Data, in.Parts = data, len(items)
	_, err = catalogue.Render(in.Type, channel, in)
	return err
}

func tooLarge(err error) bool {
	var e *templates.RenderError
	return errors.As(err, &e) && e.Code == templates.CodeContentTooLarge
}

// put leaves items to the digest that comes next.
func put(flush *store.Flush, rest []store.DigestItem, now time.Time) {
	flush.Next = tidings.NewDigestID(now)
	for i := range rest {
		flush.Rest = append(flush.Rest, rest[i].Notification.ID)
	}
	flush.Items = slices.DeleteFunc(flush.Items, func(i store.FlushItem) bool { return slices.Contains(flush.Rest, i.ID) })
}

// waits reports whether a limit holds a digest back: what does not fit into it is counted for itself
// then, or it would go out before it.
func waits(decisions []tidings.Decision) bool {
	return slices.ContainsFunc(decisions, func(d tidings.Decision) bool {
		return d.Reason == tidings.ReasonRateLimitedUser || d.Reason == tidings.ReasonRateLimitedCategory
	})
}

// renderInDigest proves that an event which waits for a digest will render in one, alone and beside
// others; of many, as many are told of together as fit.
func (r *round) renderInDigest(i *item, channel tidings.Channel, in templates.Input) *Refusal {
	one := tidings.DigestItem{ID: in.Notification, At: in.At, Data: json.RawMessage(cmp.Or(string(i.Data), "{}"))}
	for n := 1; n <= 2; n++ {
		err := renderDigest(r.catalogue, channel, slices.Repeat([]tidings.DigestItem{one}, n), in)
		if n == 1 || !tooLarge(err) {
			if refusal := unrenderable(err); refusal != nil {
				return refusal
			}
		}
	}
	return nil
}
