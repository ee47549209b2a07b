package intake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// maxDigestData bounds the data of the items of one digest, in bytes. What is beyond goes into the next.
const maxDigestData = 1 << 20

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

// An edition renders digests with one version of the catalogue.
type edition struct {
	catalogue *templates.Catalogue
	version   int64
	channels  []tidings.Channel // on which the digest goes
	input     templates.Input
}

// editionOf is the edition that tells of the items, and of how many, the oldest first: that under which
// the newest was accepted, if it can tell of all of them. Else those that were accepted as the oldest
// was are told of as they were meant.
func (f *flushing) editionOf(told []store.DigestItem, items []tidings.DigestItem, decisions []tidings.Decision, in templates.Input) (*edition, int, error) {
	e := &edition{input: in}
	for _, d := range decisions {
		if d.Action != tidings.ActionSuppress {
			e.channels = append(e.channels, d.Channel)
		}
	}
	oldest, n := told[0].Notification.CatalogVersion, 0
	for n < len(told) && told[n].Notification.CatalogVersion == oldest {
		n++
	}
	if n < len(told) {
		err := e.load(f.in, told[len(told)-1].Notification.CatalogVersion)
		if err != nil || !e.any(items, in.User.Locale, func(err error) bool { return err != nil && !tooLarge(err) }) {
			return e, len(told), err
		}
	}
	return e, n, e.load(f.in, oldest)
}

func (e *edition) load(in *Intake, version int64) (err error) {
	if e.catalogue, err = in.Version(version); err != nil {
		return fmt.Errorf("load catalogue version %d: %w", version, err)
	}
	e.version = version
	return nil
}

// any reports whether rendering the items, on any channel, is as asked.
func (e *edition) any(items []tidings.DigestItem, locale string, is func(error) bool) bool {
	in := e.input
	in.User.Locale = locale
	return slices.ContainsFunc(e.channels, func(c tidings.Channel) bool { return is(renderDigest(e.catalogue, c, items, in)) })
}

// fitting is how many of the items, the oldest first, fit into one digest on every channel on which it
// goes, in any language, since the user may change theirs while it waits; 1 at least: that an item fits
// alone was seen when it was accepted.
func (e *edition) fitting(items []tidings.DigestItem) int {
	locales := append([]string{e.input.User.Locale}, e.catalogue.Locales()...)
	fits := func(n int) bool {
		return !slices.ContainsFunc(locales, func(l string) bool { return e.any(items[:n], l, tooLarge) })
	}
	n, size := 0, 0
	for n < len(items) && (n == 0 || size+len(items[n].Data) <= maxDigestData) {
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

// put leaves items to the digest that comes next, which limits have counted with this one unless they
// hold that back.
func put(flush *store.Flush, rest []store.DigestItem, decisions []tidings.Decision, now time.Time) {
	flush.Next, flush.Continued = tidings.NewDigestID(now), !waits(decisions)
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

// renderPair proves that an event which waits for a digest will also render beside others; of many, as
// many are told of together as fit.
func (r *round) renderPair(i *item, channel tidings.Channel, in templates.Input) *Refusal {
	one := tidings.DigestItem{ID: in.Notification, At: in.At, Data: json.RawMessage(cmp.Or(string(i.Data), "{}"))}
	err := renderDigest(r.catalogue, channel, []tidings.DigestItem{one, one}, in)
	if tooLarge(err) {
		return nil
	}
	return unrenderable(err)
}
