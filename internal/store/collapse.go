package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tidings"
)

// collapseDepth is how many notifications with one collapse key are looked at for what still
// waits: each of them has superseded what was there before it, but for scheduled sends.
const collapseDepth = 200

// A collapseKey is what a newer event shares with those that it supersedes.
type collapseKey struct {
	app, user, key string
	test           bool
}

// lock is the number under which posts with the key take turns.
func (k collapseKey) lock() int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "collapse\x00%s\x00%t\x00%s\x00%s", k.app, k.test, k.user, k.key))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// A superseding is what one notification does to an earlier one on one channel.
type superseding struct {
	earlier tidings.NotificationID
	channel tidings.Channel
	sent    bool // all that waits gives way; else only what is held, but for scheduled sends, or put off by quiet hours
	by      int  // place of the acceptance
}

// collapsing are the places of what may supersede, by collapse key.
func (a *accepting) collapsing() map[collapseKey][]int {
	places := map[collapseKey][]int{}
	for i := range a.chunk {
		c := &a.chunk[i]
		if n := &c.Notification; n.CollapseKey != "" && len(channelsOf(c)) > 0 {
			key := collapseKey{n.App, n.UserID, n.CollapseKey, n.Test}
			places[key] = append(places[key], i)
		}
	}
	return places
}

// takeTurns lets posts and releases with one collapse key take turns. It comes before any lock of
// a notification, since whoever has the turn goes on to lock the others' notifications.
func (a *accepting) takeTurns() error {
	keys := inLockOrder(a.collapsing())
	return a.lock("collapse_mutex", len(keys), func(k int) []any { return []any{keys[k].lock()} })
}

func inLockOrder(places map[collapseKey][]int) []collapseKey {
	return slices.SortedFunc(maps.Keys(places), func(x, y collapseKey) int { return cmp.Compare(x.lock(), y.lock()) })
}

// supersede ends what still waits of earlier notifications with the collapse key of one that is
// sent now: a new one, or one whose hold was released. What is held for later than now takes the
// place of nothing but what is held like it, or what quiet hours put off in its lane. It comes after all rows of the chunk are written, so
// that they are superseded like those of others; nobody else sees them, so the order of locks holds.
func (a *accepting) supersede() error {
	all, err := a.earlier()
	if err != nil || len(all) == 0 {
		return err
	}
	ids := earlierOf(all)
	if err := a.endDeliveries(all); err != nil {
		return err
	}
	if err := a.endHolds(all); err != nil {
		return err
	}
	if err := a.eraseData(ids); err != nil {
		return err
	}
	return a.refund(ids)
}

// earlier pairs what is written by this chunk with what it may supersede, and locks that.
func (a *accepting) earlier() ([]superseding, error) {
	written := slices.Concat(a.holds, a.fresh)
	places := a.collapsing()
	for key, all := range places {
		all = slices.DeleteFunc(all, func(i int) bool { return !slices.Contains(written, i) })
		if places[key] = all; len(all) == 0 {
			delete(places, key)
		}
	}
	if len(places) == 0 {
		return nil, nil
	}
	all, err := a.supersedings(places)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	ids := earlierOf(all)
	byID := func(k int) []any { return []any{ids[k][:]} }
	if err := a.lock("notification_lock", len(ids), byID); err != nil {
		return nil, err
	}
	return all, a.lock("collapse_rows", len(ids), byID)
}

// supersedings pairs the new notifications with the earlier ones, each channel of those once.
func (a *accepting) supersedings(places map[collapseKey][]int) ([]superseding, error) {
	keys := inLockOrder(places)
	found := make([][]tidings.NotificationID, len(keys))
	err := a.each("collapse_find", len(keys), func(k int) []any {
		return []any{keys[k].app, keys[k].user, keys[k].key, flag(keys[k].test), int64(collapseDepth)}
	}, func(k int, r row) error {
		var id tidings.NotificationID
		err := r.Scan(into(&id))
		found[k] = append(found[k], id)
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []superseding
	for k, key := range keys {
		all = append(all, a.pair(places[key], found[k])...)
	}
	slices.SortFunc(all, func(x, y superseding) int {
		return cmp.Or(bytes.Compare(x.earlier[:], y.earlier[:]), strings.Compare(string(x.channel), string(y.channel)))
	})
	return all, nil
}

// pair goes through the notifications of one key in their order: a new one supersedes all that was
// found but itself and those after it, a released one what is older than it.
func (a *accepting) pair(places []int, found []tidings.NotificationID) []superseding {
	later := map[tidings.NotificationID]bool{}
	for _, i := range places {
		later[a.chunk[i].Notification.ID] = true
	}
	type target struct {
		id      tidings.NotificationID
		channel tidings.Channel
		sent    bool
	}
	done := map[target]bool{}
	var all []superseding
	for _, i := range places {
		self := a.chunk[i].Notification.ID
		released := a.chunk[i].Release != nil
		for c, sent := range channelsOf(&a.chunk[i]) {
			for _, id := range found {
				older := !later[id] && !released || released && bytes.Compare(id[:], self[:]) < 0
				if t := (target{id, c, sent}); older && !done[t] {
					done[t] = true
					all = append(all, superseding{id, c, sent, i})
				}
			}
		}
		delete(later, self)
	}
	return all
}

// channelsOf are the channels on which an acceptance supersedes: true where it is sent now, false
// where it is held. On the channel of a scheduled send it does nothing, for its time has not come.
func channelsOf(c *Acceptance) map[tidings.Channel]bool {
	all := map[tidings.Channel]bool{}
	for _, h := range c.Holds {
		if h.Reason != tidings.ReasonScheduled {
			all[h.Channel] = false
		}
	}
	for _, d := range c.Deliveries {
		all[d.Lane.Channel()] = true
	}
	return all
}

func earlierOf(all []superseding) []tidings.NotificationID {
	var ids []tidings.NotificationID
	for _, s := range all {
		ids = append(ids, s.earlier)
	}
	return slices.Compact(ids)
}

// An endedDelivery is one that gave way, or is not to be tried again.
type endedDelivery struct {
	superseding
	n    int
	more string
}

// endDeliveries cancels the deliveries that wait and marks those that are being sent. What is held
// takes the place only of those that quiet hours put off.
func (a *accepting) endDeliveries(all []superseding) error {
	var sent, held []superseding
	for _, s := range all {
		if s.sent {
			sent = append(sent, s)
		} else {
			held = append(held, s)
		}
	}
	waiting := func(s superseding) []any { return append(s.lanes(), a.at(s)) }
	ended, err := a.end("collapse_deliveries", sent, waiting)
	if err != nil {
		return err
	}
	putOff, err := a.end("collapse_put_off", held, waiting)
	if err != nil {
		return err
	}
	ended = append(ended, putOff...)
	for _, e := range ended {
		a.ends = append(a.ends, end{channel: e.channel, status: tidings.Cancelled, reason: tidings.ReasonSuperseded})
	}
	marked, err := a.end("collapse_marks", sent, superseding.lanes)
	if err != nil {
		return err
	}
	for _, e := range marked {
		e.more = ": what is under way goes on, but is not tried again"
		ended = append(ended, e)
	}
	return a.each("timeline_add", len(ended), func(k int) []any {
		e := &ended[k]
		return []any{e.earlier[:], a.at(e.superseding), "cancelled", int64(e.n), a.because(e.superseding, "superseded") + e.more}
	}, nil)
}

// lanes are those in which the superseded channel of a notification may wait.
func (s superseding) lanes() []any {
	return []any{s.earlier[:], string(tidings.LaneOf(s.channel, tidings.Urgent)), string(tidings.LaneOf(s.channel, tidings.Bulk))}
}

// end runs one of the statements that end deliveries, and says which.
func (a *accepting) end(statement string, list []superseding, args func(s superseding) []any) (ended []endedDelivery, err error) {
	return ended, a.each(statement, len(list), func(k int) []any { return args(list[k]) }, func(k int, r row) error {
		e := endedDelivery{superseding: list[k]}
		err := r.Scan(&e.n)
		ended = append(ended, e)
		return err
	})
}

// endHolds cancels the holds that wait.
func (a *accepting) endHolds(all []superseding) error {
	ended := map[tidings.NotificationID][]string{} // channels
	last := map[tidings.NotificationID]superseding{}
	err := a.each("collapse_holds", len(all), func(k int) []any { return []any{all[k].earlier[:], string(all[k].channel), flag(all[k].sent)} }, func(k int, _ row) error {
		s := all[k]
		if !slices.Contains(ended[s.earlier], string(s.channel)) {
			ended[s.earlier] = append(ended[s.earlier], string(s.channel))
		}
		last[s.earlier] = s
		return nil
	})
	if err != nil || len(ended) == 0 {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(ended), func(x, y tidings.NotificationID) int { return bytes.Compare(x[:], y[:]) })
	err = a.each("timeline_add", len(ids), func(k int) []any {
		id := ids[k]
		return []any{id[:], a.at(last[id]), "cancelled", wholeNotification, a.because(last[id], "what was held for "+strings.Join(ended[id], ", ")+" is superseded")}
	}, nil)
	if err != nil {
		return err
	}
	return a.each("collapse_end", len(ids), func(k int) []any { return []any{ids[k][:], a.at(last[ids[k]])} }, nil)
}

// at is the instant of a superseding: when the newer notification was accepted, or released.
func (a *accepting) at(s superseding) int64 { return queuedAt(&a.chunk[s.by]).UnixMicro() }

func (a *accepting) because(s superseding, what string) string {
	return because(what, a.chunk[s.by].Notification.ID)
}

func because(what string, by tidings.NotificationID) string {
	return fmt.Sprintf("%s by %s, a newer event with the same collapse_key", what, by)
}
