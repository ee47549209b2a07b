package api

import (
	"log/slog"
	"math"
	"net/http"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/strict"
	"tidings/api/wire"
	"tidings/internal/intake"
)

func (s *service) postEvent(c *call) (*answer, error) {
	in, err := c.readEvent()
	if err != nil {
		s.Metrics.Events.WithLabelValues("refused").Inc()
		return nil, err
	}
	event, err := c.event(in, c.body)
	if err != nil {
		return nil, err
	}
	result, err := s.Intake.Post(c.Context(), event)
	if err != nil {
		return nil, s.undecided(c, err)
	}
	if result.Refusal != nil {
		return nil, refused(result.Refusal)
	}
	return c.posted(in, result), nil
}

// readEvent reads the body, and Idempotency-Key where it has no dedupe_key.
func (c *call) readEvent() (*wire.Event, error) {
	var in wire.Event
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if in.DedupeKey != "" {
		return &in, nil
	}
	key, err := idempotencyKey(c.Header)
	in.DedupeKey = key
	return &in, err
}

// posted answers what became of an event.
func (c *call) posted(in *wire.Event, r intake.Result) *answer {
	out := wire.Posted{ID: r.ID, Duplicate: r.Duplicate, Status: r.Status, Decisions: wire.Decisions(r.Decisions)}
	if in.DryRun {
		out.Rendered, out.Explanation = rendered(r), wire.Explanations(r.Explained)
		return ok(out)
	}
	c.notes = append(c.notes, slog.String("notification", r.ID.String()), slog.Bool("duplicate", r.Duplicate))
	out.URL = "/v1/notifications/" + r.ID.String()
	a := &answer{status: http.StatusAccepted, body: out, header: map[string]string{"Location": out.URL}}
	if r.Duplicate {
		a.status = http.StatusOK
		a.header["Idempotency-Replayed"] = "true"
	}
	return a
}

func (s *service) postBatch(c *call) (*answer, error) {
	var in wire.Batch
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if len(c.Header.Values("Idempotency-Key")) > 0 {
		return nil, invalid("", "an Idempotency-Key belongs to one event; give each event of the batch its dedupe_key")
	}
	results := make([]wire.BatchResult, len(in.Events))
	events, places := c.items(in.Events, results)
	s.Metrics.Events.WithLabelValues("refused").Add(float64(len(results) - len(events)))
	posted, err := s.Intake.PostBatch(c.Context(), events)
	if err != nil {
		return nil, s.undecided(c, err)
	}
	for i, r := range posted {
		results[places[i]] = item(places[i], r)
		if r.Refusal != nil && r.Refusal.After > 0 {
			s.Metrics.Shed.WithLabelValues(r.Refusal.Code).Inc()
		}
	}
	c.notes = append(c.notes, slog.Int("events", len(results)))
	return ok(wire.BatchResults{Results: results}), nil
}

// items reads the events of a batch: those that are good with their places, and a result for
// each that is not.
func (c *call) items(raw []wire.Item, results []wire.BatchResult) (events []intake.Event, places []int) {
	for i := range raw {
		var in wire.Event
		p := strict.Read(raw[i].RawMessage, &in)
		if p == nil {
			event, err := c.event(&in, raw[i].RawMessage)
			if err == nil {
				events, places = append(events, event), append(places, i)
				continue
			}
			p = problem.New(problem.InvalidInput, "the event cannot be read")
		}
		results[i] = wire.BatchResult{Index: i, Error: itemError(p)}
	}
	return events, places
}

// item is the result of one event of a batch.
func item(i int, r intake.Result) wire.BatchResult {
	if r.Refusal != nil {
		return wire.BatchResult{Index: i, Error: itemError(refused(r.Refusal))}
	}
	if r.ID.IsZero() {
		return wire.BatchResult{
			Index: i, Status: r.Status, Decisions: wire.Decisions(r.Decisions), Rendered: rendered(r), Explanation: wire.Explanations(r.Explained),
		}
	}
	return wire.BatchResult{Index: i, ID: r.ID, Duplicate: r.Duplicate}
}

func itemError(p *problem.Problem) *wire.ItemError {
	return &wire.ItemError{Code: p.Code, Detail: p.Error(), Errors: p.Errors, RetryAfterSeconds: int(math.Ceil(p.After.Seconds()))}
}

// event is what intake takes of an event.
func (c *call) event(in *wire.Event, body []byte) (intake.Event, error) {
	e := intake.Event{
		App: c.caller.App, Test: c.caller.Test, Type: string(in.Type), User: userPatch(&in.User), Data: in.Data,
		DedupeKey: string(in.DedupeKey), CollapseKey: string(in.CollapseKey), Channels: in.Channels,
		SendAt: in.SendAt.Time, SendAtLocal: in.SendAtLocal.Time, ExpiresIn: time.Duration(in.ExpiresIn), DryRun: in.DryRun, At: in.At.Time,
	}
	if in.DryRun || in.DedupeKey == "" {
		return e, nil // nothing will be compared with it
	}
	hash, err := fingerprint(body)
	e.Hash = hash
	return e, err
}

func userPatch(u *wire.UserRef) intake.UserPatch {
	return intake.UserPatch{
		ID: string(u.ID), Locale: text(u.Locale), Timezone: text(u.Timezone), Email: text(u.Email), Phone: text(u.Phone),
		Attributes: u.Attributes,
	}
}

// text is a field that may be absent, as a plain string.
func text[T ~string](p *T) *string {
	if p == nil {
		return nil
	}
	s := string(*p)
	return &s
}

func rendered(r intake.Result) map[tidings.Channel]wire.Content {
	if len(r.Rendered) == 0 {
		return nil
	}
	out := map[tidings.Channel]wire.Content{}
	for channel, c := range r.Rendered {
		out[channel] = wire.Content{Title: c.Title, Body: c.Body, URL: c.URL, Data: c.Data, Subject: c.Subject, From: c.From, HTML: c.HTML, Text: c.Text}
	}
	return out
}

// idempotencyKey is the header that stands for a dedupe key.
func idempotencyKey(h http.Header) (wire.Key, error) {
	all := h.Values("Idempotency-Key")
	switch {
	case len(all) == 0:
		return "", nil
	case len(all) > 1 || !wire.IsKey(all[0]):
		return "", invalid("/dedupe_key", "Idempotency-Key must be given once and have 1 to 255 bytes of UTF-8")
	}
	return wire.Key(all[0]), nil
}

// undecided answers when nobody knows whether events are durable. Posting them again under
// their dedupe keys is safe.
func (s *service) undecided(c *call, err error) error {
	s.Log.Error("events are not known to be durable", "request_id", c.id, "error", err)
	return problem.New(problem.NotReady, "the log cannot be written; post again under the same dedupe_key").Retry(time.Second)
}

// refused is the answer to what intake refused.
func refused(r *intake.Refusal) *problem.Problem {
	code := problem.Code(r.Code)
	var p *problem.Problem
	if code.Status() == http.StatusUnprocessableEntity {
		p = wrong(code, r.Pointer, r.Detail)
	} else {
		p = problem.New(code, r.Detail)
	}
	if status := code.Status(); status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		p.After = max(r.After, time.Second)
	}
	return p
}
