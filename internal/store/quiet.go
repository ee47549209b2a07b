package store

import (
	"strings"
	"time"

	"tidings"
)

// refusal is what is written of a delivery that the check let not pass.
func (q *claiming) refusal(c *Claimed, status tidings.Status, reason tidings.Reason, due time.Time) refusal {
	r := refusal{id: c.Delivery.ID, status: status, reason: reason, due: due, sensitive: c.Notification.Sensitive, why: c.Why, cause: c.Cause}
	if status != tidings.Parked {
		return r
	}
	if reason == tidings.ReasonQuietHours {
		r.until = due
		if q.request.PutOff != nil {
			r.due = q.request.PutOff(due, c.Notification.ExpiresAt)
		}
	}
	if c.Delivery.Reason == tidings.ReasonRedriven {
		r.reason = tidings.ReasonRedriven // until it is claimed, so that news of older claims does not end it
	}
	return r
}

// tellPutOff puts into the trail what waits for the end of quiet hours.
func (q *claiming) tellPutOff() error {
	var quiet []refusal
	for _, f := range q.refused {
		if !f.until.IsZero() {
			quiet = append(quiet, f)
		}
	}
	return q.each("timeline_add", len(quiet), func(i int) []any {
		ntf := tidings.NotificationOf(quiet[i].id)
		return []any{ntf[:], q.request.Now.UnixMicro(), kindHeld, int64(tidings.OrdinalOf(quiet[i].id)), putOff(quiet[i].until, quiet[i].cause)}
	}, nil)
}

// putOffUntil begins what the trail says of a delivery that was put off; the instant follows.
const putOffUntil = "waits for the end of quiet hours at "

// putOff is what the trail says of a delivery that was put off, and by what where that is not the user.
func putOff(until time.Time, by tidings.Cause) string {
	text := putOffUntil + until.UTC().Format(time.RFC3339Nano)
	if by != "" {
		text += " by " + string(by)
	}
	return text
}

// PutOffUntil is the instant in what the trail says of a delivery that waits for the end of quiet
// hours, and by what it was put off where that is not the user.
func (m Moment) PutOffUntil() (until time.Time, by tidings.Cause, ok bool) {
	text, ok := strings.CutPrefix(m.Text, putOffUntil)
	if !ok || m.Kind != kindHeld {
		return time.Time{}, "", false
	}
	at, cause, _ := strings.Cut(text, " by ")
	until, err := time.Parse(time.RFC3339Nano, at)
	return until, tidings.Cause(cause), err == nil
}

// wakeQuiet lets what waits for the end of a user's quiet hours be decided again at once.
func (t *tx) wakeQuiet(user string, now time.Time) error {
	for _, name := range []string{"quiet_parked_wake", "quiet_holds_wake"} {
		if _, err := t.exec(name, user, now.UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}

// moved reports whether the wall clock that a user lives by may be another one.
func moved(before, after *tidings.User) bool {
	return before.Timezone != after.Timezone || before.Phone != after.Phone
}

// wakeMoved does so for those users of a chunk who live by another clock now.
func (a *accepting) wakeMoved() error {
	done := map[string]bool{}
	for _, i := range a.fresh {
		c := &a.chunk[i]
		id := c.Notification.UserID
		if c.User == nil || c.Seen.CreatedAt.IsZero() || done[id] || !moved(&c.Seen, c.User) {
			continue
		}
		done[id] = true
		if err := a.wakeQuiet(id, c.Notification.AcceptedAt); err != nil {
			return err
		}
	}
	return nil
}
