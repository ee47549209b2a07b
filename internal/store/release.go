package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tidings"
)

// A releasing is a notification of which holds are released.
type releasing struct {
	decisions string // as stored, then as decided again
	next      int    // the ordinal of its next delivery
	at        time.Time
	channels  []string // whose holds were consumed
}

// release consumes the holds of acceptances that release one. A hold that is gone was consumed
// or cancelled by somebody else, and nothing of its acceptance is written.
func (a *accepting) release() error {
	for i := range a.chunk {
		if a.chunk[i].Release == nil {
			continue
		}
		if err := a.releaseOne(i); err != nil {
			return err
		}
	}
	return nil
}

// releaseOne runs its statements for itself: releases are rare and each depends on the last.
func (a *accepting) releaseOne(i int) error {
	c := &a.chunk[i]
	ntf, hold := c.Notification.ID, c.Release.ID
	if err := a.lockDigest(ntf, c.Leave); err != nil {
		return err
	}
	if err := a.leaveOut(c); err != nil {
		return err
	}
	var channel string
	waited, err := a.one("hold_consume", []any{hold[:], ntf[:]}, &channel)
	if err != nil {
		return err
	}
	if !waited {
		a.out[i].Consumed = true
		return nil
	}
	a.holds = append(a.holds, i)
	r := a.released[ntf]
	if r == nil {
		r = &releasing{at: queuedAt(c)}
		if found, err := a.one("release_facts", []any{ntf[:]}, &r.decisions, &r.next); err != nil || !found {
			return fmt.Errorf("read the notification of a hold: %w", orNotFound(err))
		}
		a.released[ntf] = r
	}
	r.channels = append(r.channels, channel)
	return nil
}

// leaveOut takes out of a held digest what it is not to tell of any more. Where nothing is left since
// somebody else took out the rest, it must be decided again.
func (a *accepting) leaveOut(c *Acceptance) error {
	if len(c.Leave) == 0 {
		return nil
	}
	d, err := a.written(c.Notification.ID)
	if err != nil || d == nil {
		return err
	}
	left, err := d.leave(c.Leave, queuedAt(c))
	if err == nil && left == 0 {
		err = ErrChanged
	}
	return err
}

// decided writes what was decided again of notifications whose holds were released.
func (a *accepting) decided() error {
	var idle []tidings.NotificationID // of which nothing may be left that was counted
	var of []tidings.NotificationID   // beside each of held
	var held []tidings.Decision       // that others take the place of
	for _, i := range a.holds {
		c := &a.chunk[i]
		r := a.released[c.Notification.ID]
		var err error
		var before []tidings.Decision
		if r.decisions, before, err = mergeDecisions(r.decisions, c.Notification.Decisions); err != nil {
			return err
		}
		for _, d := range before {
			of, held = append(of, c.Notification.ID), append(held, d)
		}
		if len(c.Deliveries)+len(c.Holds) == 0 {
			idle = append(idle, c.Notification.ID)
		}
	}
	ids := slices.SortedFunc(maps.Keys(a.released), func(x, y tidings.NotificationID) int { return bytes.Compare(x[:], y[:]) })
	err := a.each("decisions_set", len(ids), func(k int) []any { return []any{ids[k][:], a.released[ids[k]].decisions} }, nil)
	if err != nil {
		return err
	}
	err = a.each("timeline_add", len(ids), func(k int) []any {
		r := a.released[ids[k]]
		return []any{ids[k][:], r.at.UnixMicro(), "released", wholeNotification, strings.Join(r.channels, ", ")}
	}, nil)
	if err != nil {
		return err
	}
	if err := a.superseded(of, held); err != nil {
		return err
	}
	return a.refund(idle)
}

// mergeDecisions replaces the stored decision of each channel that was decided again, and gives
// those to hold that were there before.
func mergeDecisions(stored string, again []tidings.Decision) (merged string, held []tidings.Decision, err error) {
	var all []tidings.Decision
	if err := json.Unmarshal([]byte(stored), &all); err != nil {
		return "", nil, fmt.Errorf("read decisions: %w", err)
	}
	for _, d := range again {
		i := slices.IndexFunc(all, func(o tidings.Decision) bool { return o.Channel == d.Channel })
		if i < 0 {
			all = append(all, d)
			continue
		}
		if all[i].Action == tidings.ActionHold && !all[i].At.IsZero() {
			held = append(held, all[i])
		}
		all[i] = d
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", nil, fmt.Errorf("write decisions: %w", err)
	}
	return string(text), held, nil
}
