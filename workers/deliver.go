package workers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/store"
	"tidings/templates"
)

// Why a claim is given back.
var (
	errNoTime   = errors.New("the lease leaves no time for a call and its record")
	errStopping = errors.New("the worker is stopping")
	errOpened   = errors.New("the provider is left alone since the claim")
)

// deliver takes a claimed delivery to its provider and records what came of it.
func (s *sender) deliver(c *call) {
	result, err := s.attempt(c)
	s.calls.Add(-1)
	s.wake()
	switch {
	case errors.Is(err, errStopping):
		s.giveBack(c, err, time.Now())
	case errors.Is(err, errOpened):
		s.giveBack(c, err, c.gate.reopening(s.request(&c.Claimed), time.Now()))
	case err != nil:
		s.giveBack(c, err, time.Now().Add(troubled))
	default:
		s.record(c, result)
	}
}

// attempt makes the one call of a claim; an error means that none was made and the claim is to
// be given back.
func (s *sender) attempt(c *call) (*store.Result, error) {
	message, err := s.message(c)
	if err != nil {
		c.drop()
		return s.unrendered(c, err), nil
	}
	if s.w.stopping.Load() {
		c.drop()
		return nil, errStopping
	}
	if c.permit == nil {
		return s.simulated(c), nil
	}
	switch now := time.Now(); {
	case !now.Before(c.Notification.ExpiresAt):
		c.drop()
		return s.expired(c), nil
	case !s.inTime(c, now):
		c.drop()
		return nil, errNoTime
	case !c.permit.holds():
		c.drop()
		return nil, errOpened
	}
	return s.call(c, message), nil
}

// drop gives the permit back that the call did not use.
func (c *call) drop() {
	if c.permit != nil {
		c.permit.giveBack()
	}
}

// inTime reports whether a call that runs into its time-out is still recorded within the lease,
// by this process's clock and the log's. The monotonic clock stops while a machine sleeps, and
// the wall clock jumps; the larger span counts.
func (s *sender) inTime(c *call, now time.Time) bool {
	elapsed := max(now.Sub(c.claimedAt), now.Round(0).Sub(c.claimedAt.Round(0)))
	return elapsed <= s.w.Config.Delivery.Lease-c.gate.Timeout-s.w.Config.Delivery.Margin()-2*time.Duration(s.w.skew.Load())
}

// call hands the message over.
func (s *sender) call(c *call, m *channels.Message) *store.Result {
	start := time.Now()
	ctx, cancel := context.WithDeadline(s.w.calls, c.deadline(start))
	defer cancel()
	c.called = true
	answer, err := send(ctx, c.gate.Provider.Provider, m)
	end := time.Now()
	r := s.result(c)
	r.Called, r.Attempt.StartedAt, r.Attempt.EndedAt = c.gate.Name, start.UTC(), end.UTC()
	if err == nil {
		c.permit.done(ended{took: end.Sub(start)}, end)
		c.gate.heard(false, end)
		s.succeed(c, r, answer)
		return r
	}
	fault := channels.Classify(err)
	if fault.Fault == tidings.OutcomeUnknown && s.w.calls.Err() != nil {
		fault.Code = tidings.CodeCut
	}
	step := channels.Next(s.when(c, fault, end), fault, s.w.policy(c.event, c.Delivery.Channel))
	c.permit.done(ended{failed: step.Breaker, throttled: fault.WantsFewer(), pause: fault.Pause(), took: end.Sub(start)}, end)
	s.fail(c, r, fault, s.believed(c, fault, step, end))
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) { // of the whole call, whatever the provider's client calls it, or of a part
		s.w.Metrics.AttemptTimeouts.WithLabelValues(c.gate.Name).Inc()
	}
	return r
}

// deadline is when a call that begins at now is cut: when its provider's time-out is over, or
// earlier when the message is of no use any more. What the lease allows is longer: inTime has
// seen to it.
func (c *call) deadline(now time.Time) time.Time {
	end := now.Add(c.gate.Timeout)
	if expires := c.Notification.ExpiresAt; expires.Before(end) {
		return expires
	}
	return end
}

// send keeps a provider's panic from ending the process; what it had sent by then, nobody knows.
func send(ctx context.Context, p channels.Provider, m *channels.Message) (answer channels.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &channels.Error{Fault: tidings.OutcomeUnknown, Code: "panic", Err: fmt.Errorf("provider panicked: %v", r)}
		}
	}()
	return p.Send(ctx, m)
}

func (s *sender) result(c *call) *store.Result {
	now := time.Now().UTC()
	return &store.Result{
		Attempt: tidings.Attempt{Delivery: c.Delivery.ID, Number: c.Delivery.ClaimNo, Provider: c.gate.Name, StartedAt: now, EndedAt: now},
		Lane:    s.lane, Address: c.Address.ID,
	}
}

// succeed fills in that the provider accepted. The address is touched only where that says
// something new, since every touch is a write.
func (s *sender) succeed(c *call, r *store.Result, answer channels.Answer) {
	r.Status = tidings.Sent
	r.Attempt.Outcome, r.Attempt.HTTPStatus, r.Attempt.Code, r.Attempt.Ref = tidings.OK, answer.HTTPStatus, answer.Code, answer.Ref
	if c.Address.Strikes > 0 || r.Attempt.EndedAt.Sub(c.Address.LastOKAt) > okFresh {
		r.Effect.Kind = store.EffectOK
	}
}

// okFresh is how long "it worked" stays news.
const okFresh = 24 * time.Hour

// when is what Next must know.
func (s *sender) when(c *call, fault *channels.Error, now time.Time) channels.Case {
	others := c.others
	if fault.Fault == tidings.PolicyBlocked { // no retry will help here, so wait even for a provider that is left alone now
		others = c.elsewhere
	}
	return channels.Case{Tries: c.Delivery.Tries, Others: others, Passing: mayPass(c.Delivery.Tried), Registered: c.Address.RegisteredAt,
		ExpiresAt: c.Notification.ExpiresAt, Now: now.UTC(), Jitter: rand.Float64()}
}

// fail fills in a fault and what follows from it.
func (s *sender) fail(c *call, r *store.Result, fault *channels.Error, step channels.Step) {
	r.Attempt.Outcome, r.Attempt.HTTPStatus, r.Attempt.Code, r.Attempt.Text = fault.Fault, fault.HTTPStatus, fault.Code, fault.Text
	r.Status, r.Reason, r.DueAt, r.Refund = step.Status, step.Reason, step.DueAt, step.Refund
	if step.Status == tidings.Parked {
		r.Attempt.RetryAt = step.DueAt
	}
	if waits := step.Status == tidings.Unknown && !step.DueAt.IsZero(); step.Another || waits {
		r.Tried = append(c.Delivery.Tried[:len(c.Delivery.Tried):len(c.Delivery.Tried)], triedAs(c.gate.Name, fault.Fault))
	}
	r.Effect = store.AddressEffect{Kind: store.EffectKind(step.Effect), DeadSince: fault.DeadSince} // the words are the same
}

// believed is a step without what it does to an address that the provider calls dead, at a time
// when it calls too many so. The attempt says it.
func (s *sender) believed(c *call, fault *channels.Error, step channels.Step, now time.Time) channels.Step {
	bad := step.Effect == channels.Retire || step.Effect == channels.Strike || step.Effect == channels.StrikeOut
	if doubts := c.gate.heard(bad, now); !bad || !doubts {
		if fault.Fault == tidings.Throttled && fault.Scope == channels.ScopeDevice && step.Status == tidings.Parked {
			c.gate.spare(c.Address.ID, step.DueAt, now)
		}
		return step
	}
	step.Effect = channels.NoEffect
	fault.Text = channels.CleanText(channels.AddressKept + "; " + fault.Text)
	s.w.Metrics.AddressesKept.WithLabelValues(c.gate.Name).Inc()
	return step
}

// simulated is the end of a test notification: all but the call.
func (s *sender) simulated(c *call) *store.Result {
	r := s.result(c)
	r.Status, r.Reason, r.Attempt.Outcome = tidings.Sent, tidings.ReasonSimulated, tidings.OK
	return r
}

// expired ends a delivery whose time ran out between its claim and its call.
func (s *sender) expired(c *call) *store.Result {
	r := s.result(c)
	r.Status, r.Reason, r.Attempt.Outcome = tidings.Expired, tidings.ReasonExpired, tidings.OutcomeExpired
	return r
}

// unrendered ends a delivery whose content cannot be made; accepting it has proved that it can,
// so the user or the limits have changed since.
func (s *sender) unrendered(c *call, err error) *store.Result {
	r := s.result(c)
	r.Status, r.Reason = tidings.Failed, tidings.ReasonTemplateError
	r.Attempt.Outcome, r.Attempt.Code = tidings.ContentRejected, string(tidings.ReasonTemplateError)
	var render *templates.RenderError
	if errors.As(err, &render) {
		if render.Code == string(tidings.ReasonContentTooLarge) {
			r.Reason = tidings.ReasonContentTooLarge
		}
		r.Attempt.Code = render.Code
		if !c.Notification.Sensitive {
			r.Attempt.Text = render.Error()
		}
	}
	return r
}

// message renders the delivery. A panic of the renderer is an error of the template.
func (s *sender) message(c *call) (_ *channels.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("render %s: panic: %v", c.Notification.Type, r)
		}
	}()
	n := &c.Notification
	links := s.links(c)
	content, err := c.catalogue.Render(n.Type, c.Delivery.Channel, templates.Input{
		Data: n.Data, Parts: n.Parts, User: c.User, Type: n.Type, At: n.AcceptedAt, Notification: n.ID, Links: links,
	})
	if err != nil {
		return nil, err
	}
	return &channels.Message{
		Delivery: c.Delivery.ID, Attempt: c.Delivery.ClaimNo, Address: c.Address.Value, RegisteredAt: c.Address.RegisteredAt,
		Content: content, CollapseID: collapseID(n, c.Delivery.Channel, c.Delivery.ID),
		Urgent: s.lane.Priority() == tidings.Urgent, Marketing: c.event.Category.Kind == tidings.Marketing,
		Event: n.Type, Unsubscribe: links.Unsubscribe, ExpiresAt: n.ExpiresAt,
	}, nil
}

// links are those of a mail that its reader may refuse; there are none on other channels, which
// have no room for them.
func (s *sender) links(c *call) templates.Links {
	category := &c.event.Category
	if s.w.Links == nil || c.Delivery.Channel != tidings.Email || category.Kind == tidings.Critical {
		return templates.Links{}
	}
	preferences, _ := s.w.Links.Preferences(c.Notification.UserID, time.Now())
	return templates.Links{Unsubscribe: s.w.Links.Unsubscribe(c.Notification.UserID, category.Name, c.Delivery.ID), Preferences: preferences}
}

// collapseID is what a later message must share to replace this one: a hash of the collapse key
// with what it is unique in, else the delivery's id, so that a copy replaces its original.
func collapseID(n *tidings.Notification, c tidings.Channel, id tidings.DeliveryID) string {
	if n.CollapseKey == "" {
		return id.String()
	}
	sum := sha256.Sum256([]byte(n.App + "\x00" + n.UserID + "\x00" + string(c) + "\x00" + n.CollapseKey))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:32]
}
