package store

import (
	"time"

	"tidings"
)

// The kinds under which the timeline keeps remarks.
const (
	kindPutBack = "queued"  // what a worker had in hand waits again
	kindNoWord  = "decided" // the wait for a receipt is over
)

// A remark is what the timeline tells of one delivery, in words for people.
type remark struct {
	id   tidings.DeliveryID
	at   time.Time
	kind string
	text string
}

// remark writes remarks, in the order in which they are given.
func (t *tx) remark(all []remark) error {
	return t.each("timeline_add", len(all), func(i int) []any {
		ntf := tidings.NotificationOf(all[i].id)
		return []any{ntf[:], all[i].at.UnixMicro(), all[i].kind, int64(tidings.OrdinalOf(all[i].id)), all[i].text}
	}, nil)
}

// noWord is what is told when a delivery waited for a receipt in vain.
func noWord(r Resolution) string {
	switch r.Status {
	case tidings.Parked:
		return "no receipt came in time, so it is tried again"
	case tidings.Unknown:
		return "no receipt came in time, and it is not tried again, since it may have arrived"
	}
	return "no receipt came in time"
}
