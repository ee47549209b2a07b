package store

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"tidings"
)

// A Join says which digest the digested holds of an acceptance wait for: the open one of its user,
// app, type and key, else a new one.
type Join struct {
	Key      string
	Channels []tidings.Channel // of the holds; each set of them has digests of its own
	Window   time.Duration     // a new one closes so long after now
	Max      int               // or with so many items
	Now      time.Time
}

// row is the key as stored.
func (j *Join) row() string {
	names := make([]string, len(j.Channels))
	for i, c := range j.Channels {
		names[i] = string(c)
	}
	return strings.Join(names, ",") + ":" + j.Key
}

// channelsIn are the channels of a stored key.
func channelsIn(key string) (channels []tidings.Channel) {
	names, _, _ := strings.Cut(key, ":")
	for name := range strings.SplitSeq(names, ",") {
		channels = append(channels, tidings.Channel(name))
	}
	return channels
}

// own makes the chunk one that may be changed: what was given may be asked for once more.
func (a *accepting) own() {
	if !a.owned {
		a.chunk, a.owned = slices.Clone(a.chunk), true
	}
}

// join adds what is to be told with others to its digests, in the order of their keys, and learns
// when they close.
func (a *accepting) join() error {
	var places []int
	for _, i := range slices.Concat(a.fresh, a.holds) {
		if a.chunk[i].Join != nil {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return nil
	}
	a.own()
	slices.SortStableFunc(places, func(x, y int) int { return compareJoins(&a.chunk[x], &a.chunk[y]) })
	items := make([][]int, 0, len(places)) // the places of each notification, whose channels wait together
	for k, i := range places {
		if k > 0 && a.sameItem(places[k-1], i) {
			items[len(items)-1] = append(items[len(items)-1], i)
			continue
		}
		items = append(items, []int{i})
	}
	digests := make([]tidings.DigestID, len(items))
	err := a.each("digest_join", len(items), func(k int) []any {
		c := &a.chunk[items[k][0]]
		n, j, id := &c.Notification, c.Join, tidings.NewDigestID(c.Join.Now)
		return []any{id[:], n.App, flag(n.Test), n.UserID, n.Type, j.row(), j.Now.UnixMicro(), j.Now.Add(j.Window).UnixMicro(), int64(j.Max)}
	}, func(k int, r row) error {
		var closes time.Time
		err := r.Scan(into(&digests[k]), instant{&closes})
		for _, i := range items[k] {
			a.joined(i, closes)
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.each("digest_item_add", len(items), func(k int) []any {
		return []any{digests[k][:], a.chunk[items[k][0]].Notification.ID[:]}
	}, nil)
}

// sameItem reports whether two places are of one notification that waits for one digest.
func (a *accepting) sameItem(x, y int) bool {
	return a.chunk[x].Notification.ID == a.chunk[y].Notification.ID && compareJoins(&a.chunk[x], &a.chunk[y]) == 0
}

func compareJoins(x, y *Acceptance) int {
	n, m := &x.Notification, &y.Notification
	return cmp.Or(strings.Compare(n.UserID, m.UserID), strings.Compare(n.App, m.App), cmp.Compare(flag(n.Test), flag(m.Test)),
		strings.Compare(n.Type, m.Type), strings.Compare(x.Join.row(), y.Join.row()), bytes.Compare(n.ID[:], m.ID[:]))
}

// joined makes the digested decisions and holds of an acceptance end when their digest closes.
func (a *accepting) joined(i int, closes time.Time) {
	c := &a.chunk[i]
	if closes.Before(c.Join.Now) {
		closes = c.Join.Now // it is due, and nobody has come by
	}
	d := &Decided{Decisions: slices.Clone(c.Notification.Decisions), Deliveries: c.Deliveries, Holds: slices.Clone(c.Holds)}
	for k := range d.Decisions {
		if d.Decisions[k].Reason == tidings.ReasonDigested {
			d.Decisions[k].Until = closes
		}
	}
	for k := range d.Holds {
		if d.Holds[k].Reason == tidings.ReasonDigested {
			d.Holds[k].Until = closes
		}
	}
	a.out[i].Decided = d
	a.out[i].Into(c)
}
