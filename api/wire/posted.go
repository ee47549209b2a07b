package wire

import (
	"tidings"
	"tidings/api/problem"
)

// Posted is what became of an event.
type Posted struct {
	ID          tidings.NotificationID      `json:"id,omitzero" doc:"Absent in a dry run."`
	Duplicate   bool                        `json:"duplicate" doc:"The same request was accepted before; this is its notification."`
	Status      tidings.NotificationStatus  `json:"status"`
	URL         string                      `json:"url,omitempty" doc:"Where its trail is."`
	Decisions   []Decision                  `json:"decisions" doc:"One a channel of the event type, in its order."`
	Rendered    map[tidings.Channel]Content `json:"rendered,omitempty" doc:"What would be sent; of a dry run only."`
	Explanation []Explanation               `json:"explanation,omitempty" doc:"Every rule and what it said; of a dry run only."`
}

// Decision is what was decided for one channel.
type Decision struct {
	Channel   tidings.Channel `json:"channel"`
	Action    tidings.Action  `json:"action"`
	Addresses int             `json:"addresses,omitzero" doc:"How many, when sending."`
	Reason    tidings.Reason  `json:"reason,omitzero" doc:"Why, when holding or suppressing."`
	Until     Time            `json:"until,omitzero" doc:"When holding: the first instant at which it may go out. It is decided again then, or within delivery.release_spread of it."`
	Shifted   bool            `json:"shifted,omitzero" doc:"The user's clock is put forward over send_at_local: the first instant after the gap counts."`
	At        Time            `json:"at,omitzero"`
}

// Decisions are decisions as the API shows them.
func Decisions(all []tidings.Decision) []Decision {
	out := make([]Decision, 0, len(all))
	for _, d := range all {
		out = append(out, Decision{Channel: d.Channel, Action: d.Action, Addresses: d.Addresses, Reason: d.Reason, Until: At(d.Until), Shifted: d.Shifted, At: At(d.At)})
	}
	return out
}

// Content is what a template renders to; each channel has its own members.
type Content struct {
	Title   string            `json:"title,omitempty"`
	Body    string            `json:"body,omitempty"`
	URL     string            `json:"url,omitempty"`
	Data    map[string]string `json:"data,omitempty"`
	Subject string            `json:"subject,omitempty"`
	From    string            `json:"from,omitempty"`
	HTML    string            `json:"html,omitempty"`
	Text    string            `json:"text,omitempty"`
}

// BatchResults are what became of the events of a batch.
type BatchResults struct {
	Results []BatchResult `json:"results" doc:"One an event, in their order."`
}

// BatchResult is what became of one event of a batch: accepted with an id, or refused with an
// error, or of a dry run neither.
type BatchResult struct {
	Index       int                         `json:"index" doc:"Its place in the batch, from 0."`
	ID          tidings.NotificationID      `json:"id,omitzero"`
	Duplicate   bool                        `json:"duplicate,omitzero"`
	Status      tidings.NotificationStatus  `json:"status,omitzero" doc:"Of a dry run."`
	Decisions   []Decision                  `json:"decisions,omitempty" doc:"Of a dry run."`
	Rendered    map[tidings.Channel]Content `json:"rendered,omitempty" doc:"Of a dry run."`
	Explanation []Explanation               `json:"explanation,omitempty" doc:"Of a dry run."`
	Error       *ItemError                  `json:"error,omitempty"`
}

// ItemError says why one event of a batch was refused, as a problem of its own would.
type ItemError struct {
	Code              problem.Code `json:"code"`
	Detail            string       `json:"detail"`
	RetryAfterSeconds int          `json:"retry_after_seconds,omitzero" doc:"When to try again, where that helps."`
	Errors            []problem.At `json:"errors,omitempty" doc:"Pointers are relative to the event."`
}
