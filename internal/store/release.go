package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"tidings"
)

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
	if err := a.lock("notification_lock", 1, func(int) []any { return []any{ntf[:]} }); err != nil {
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
	var text string
	var next int
	if found, err := a.one("release_facts", []any{ntf[:]}, &text, &next); err != nil || !found {
		return fmt.Errorf("read the notification of a hold: %w", orNotFound(err))
	}
	a.number(i, next)
	a.holds = append(a.holds, i)
	decisions, err := mergeDecisions(text, c.Notification.Decisions)
	if err != nil {
		return err
	}
	if _, err := a.exec("decisions_set", ntf[:], decisions); err != nil {
		return err
	}
	_, err = a.exec("timeline_add", ntf[:], queuedAt(c).UnixMicro(), "released", wholeNotification, channel)
	return err
}

// mergeDecisions replaces the stored decision of each channel that was decided again.
func mergeDecisions(stored string, again []tidings.Decision) (string, error) {
	var all []tidings.Decision
	if err := json.Unmarshal([]byte(stored), &all); err != nil {
		return "", fmt.Errorf("read decisions: %w", err)
	}
	for _, d := range again {
		i := slices.IndexFunc(all, func(o tidings.Decision) bool { return o.Channel == d.Channel })
		if i < 0 {
			all = append(all, d)
			continue
		}
		all[i] = d
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("write decisions: %w", err)
	}
	return string(text), nil
}
