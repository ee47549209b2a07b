package channeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels"
	"tidings/channels/simulator"
)

const (
	patience = 10 * time.Second // the time-out of a call
	soon     = time.Second      // within which a call returns once its context ended
)

// A check is one promise, and how to find out whether it is kept.
type check struct {
	name string
	run  func(*bench) error
}

func checks() []check {
	return []check{
		{"an_accepted_message_is_sent_once_and_carries_its_ids", carriesIDs},
		{"the_message_is_left_as_it_was", leavesMessage},
		{"the_expiry_is_passed_on", passesExpiry},
		{"a_service_in_trouble_is_called_once", calledOnceInTrouble},
		{"a_cut_before_the_answer_is_one_call_of_unknown_outcome", cutBefore},
		{"a_cut_after_acceptance_is_one_call_of_unknown_outcome", cutAfter},
		{"no_answer_in_time_is_one_call_of_unknown_outcome", noAnswer},
		{"a_refused_connection_is_not_sent", refused},
		{"a_context_that_ended_sends_nothing", endedBefore},
		{"a_cancelled_call_returns_soon", cancelled},
		{"calls_at_once_do_not_mix", atOnce},
		{"retry_after_is_read_in_both_forms", readsRetryAfter},
		{"an_answer_never_heard_of_kills_no_address", strangeAnswer},
		{"errors_and_logs_hold_no_secret_and_no_address", keepsSecrets},
	}
}

// message is a delivery as a worker would hand it in.
func (b *bench) message(n int) *channels.Message {
	now := time.Now()
	id := tidings.DeliveryOf(tidings.NewNotificationID(now), n)
	return &channels.Message{
		Delivery: id, Attempt: 3, Address: b.Address, RegisteredAt: now.Add(-time.Hour), Content: b.Content,
		CollapseID: "c0llapse_" + id.String()[4:20], Event: "order.shipped", ExpiresAt: now.Add(time.Hour).Truncate(time.Second),
	}
}

// send sends with the usual patience.
func (b *bench) send(m *channels.Message) (channels.Answer, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	return b.provider.Send(ctx, m)
}

// rule makes the service do something with every request.
func (b *bench) rule(do simulator.Do) {
	b.t.Helper()
	if err := b.sim.SetFaults([]simulator.Rule{{Provider: b.Vendor.Type, Do: do}}); err != nil {
		b.t.Fatal(err)
	}
}

// failed is the *Error of a call that had to fail with one of the faults; none given: with any.
func failed(err error, faults ...tidings.Outcome) error {
	if err == nil {
		return fmt.Errorf("Send succeeded; want %v", faults)
	}
	var e *channels.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("Send failed with a %T, which is not an *Error: %v", err, err)
	}
	known := tidings.Faults()
	if len(faults) > 0 {
		known = faults
	}
	for _, f := range known {
		if e.Fault == f {
			return nil
		}
	}
	return fmt.Errorf("Send failed with %q (%v); want one of %v", e.Fault, err, known)
}

// requests compares how often the service was called.
func (b *bench) requests(want int64) error {
	if got := b.sim.Stats()[b.Vendor.Type].Requests; got != want {
		return fmt.Errorf("the service saw %d requests, want %d", got, want)
	}
	return nil
}

// entries is the ledger, which must hold so many sends.
func (b *bench) entries(want int) ([]simulator.Entry, error) {
	all, err := b.tape.Entries()
	if err == nil && len(all) != want {
		err = fmt.Errorf("the ledger holds %d sends, want %d", len(all), want)
	}
	return all, err
}

func carriesIDs(b *bench) error {
	m := b.message(0)
	answer, err := b.send(m)
	if err != nil {
		return err
	}
	all, err := b.entries(1)
	if err != nil {
		return err
	}
	e := all[0]
	switch {
	case e.DeliveryID != m.Delivery.String():
		return fmt.Errorf("the delivery id arrived as %q", e.DeliveryID)
	case b.ShowsAttempt && e.Attempt != m.Attempt:
		return fmt.Errorf("the attempt arrived as %d", e.Attempt)
	case e.Address != m.Address:
		return errors.New("the message went to another address")
	case answer.Ref == "" || answer.Ref != e.Ref:
		return fmt.Errorf("the service's reference is %q, Send says %q", e.Ref, answer.Ref)
	case b.Collapse != "" && e.Headers[b.Collapse] != m.CollapseID:
		return fmt.Errorf("the collapse id arrived as %q", e.Headers[b.Collapse])
	}
	return b.requests(1)
}

func leavesMessage(b *bench) error {
	m := b.message(0)
	m.Content.Data = map[string]string{"order": "4711"}
	before := *m
	before.Content.Data = map[string]string{"order": "4711"}
	if _, err := b.send(m); err != nil {
		return err
	}
	if !reflect.DeepEqual(*m, before) {
		return errors.New("Send changed the message")
	}
	return nil
}

func passesExpiry(b *bench) error {
	if b.Expires == nil {
		return nil
	}
	m := b.message(0)
	if _, err := b.send(m); err != nil {
		return err
	}
	all, err := b.entries(1)
	if err != nil {
		return err
	}
	if !b.Expires(all[0], m.ExpiresAt) {
		return fmt.Errorf("the expiry %s is not among %v", m.ExpiresAt, all[0].Headers)
	}
	return nil
}

func (b *bench) trouble() simulator.Do {
	if b.Unavailable.Status == 0 {
		return simulator.Do{Status: http.StatusServiceUnavailable}
	}
	return b.Unavailable
}

func calledOnceInTrouble(b *bench) error {
	b.rule(b.trouble())
	_, err := b.send(b.message(0))
	return errors.Join(failed(err, tidings.Transient), b.requests(1))
}

func cutBefore(b *bench) error {
	want := b.ResetBefore
	if want == "" {
		want = tidings.OutcomeUnknown
	}
	b.rule(simulator.Do{Reset: "before"})
	_, err := b.send(b.message(0))
	_, none := b.entries(0)
	return errors.Join(failed(err, want), b.requests(1), none)
}

func cutAfter(b *bench) error {
	b.rule(simulator.Do{Reset: "after"})
	_, err := b.send(b.message(0))
	_, one := b.entries(1)
	return errors.Join(failed(err, tidings.OutcomeUnknown), b.requests(1), one)
}

func noAnswer(b *bench) error {
	b.rule(simulator.Do{Reset: "after", Hang: simulator.Span(time.Hour)})
	start := time.Now()
	_, err := b.send(b.message(0))
	if took := time.Since(start); took > patience+soon {
		return fmt.Errorf("Send returned after %s, its context ended after %s", took, patience)
	}
	return errors.Join(failed(err, tidings.OutcomeUnknown), b.requests(1))
}

func refused(b *bench) error {
	b.line.down.Store(true)
	_, err := b.send(b.message(0))
	return errors.Join(failed(err, tidings.NotSent), b.requests(0))
}

func endedBefore(b *bench) error {
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	_, err := b.provider.Send(ctx, b.message(0))
	return errors.Join(failed(err, tidings.NotSent), b.requests(0))
}

func cancelled(b *bench) error {
	b.rule(simulator.Do{Hang: simulator.Span(time.Hour)})
	ctx, cancel := context.WithCancel(b.t.Context())
	const until = 3 * time.Second
	time.AfterFunc(until, cancel)
	start := time.Now()
	_, err := b.provider.Send(ctx, b.message(0))
	if took := time.Since(start); took > until+soon {
		return fmt.Errorf("Send returned %s after its context was cancelled", took-until)
	}
	return failed(err, tidings.OutcomeUnknown, tidings.NotSent)
}

func atOnce(b *bench) error {
	const n = 32
	b.rule(simulator.Do{Delay: simulator.Span(100 * time.Millisecond)})
	errs := make([]error, n)
	ids := map[string]bool{}
	var calls sync.WaitGroup
	for i := range n {
		m := b.message(i)
		ids[m.Delivery.String()] = true
		calls.Go(func() { _, errs[i] = b.send(m) })
	}
	calls.Wait()
	all, err := b.entries(n)
	for _, e := range all {
		delete(ids, e.DeliveryID)
	}
	if len(ids) > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d messages were not sent as themselves", len(ids), n))
	}
	return errors.Join(append(errs, err)...)
}

func readsRetryAfter(b *bench) error {
	if !b.RetryAfter {
		return nil
	}
	const want = 7 * time.Second
	date := time.Now().Add(want).Truncate(time.Second).UTC().Format(http.TimeFormat)
	for _, form := range []string{"7", date} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			b.rule(simulator.Do{Status: status, Headers: map[string]string{"Retry-After": form}})
			_, err := b.send(b.message(0))
			if err := failed(err, tidings.Throttled, tidings.Transient); err != nil {
				return err
			}
			if got := channels.Classify(err).After; got > want || got < want-time.Second {
				return fmt.Errorf("%d with Retry-After %q gave a pause of %s", status, form, got)
			}
		}
	}
	return nil
}

func strangeAnswer(b *bench) error {
	words := []simulator.Do{
		{Status: 400, Reason: "NEVER_HEARD_OF"}, {Status: 404, Reason: "NEVER_HEARD_OF"}, {Status: 410, Reason: "NEVER_HEARD_OF"},
		{Status: 418}, {Status: 500, Body: jsontext.Value(`"not an object"`)}, {Status: 502, Body: jsontext.Value(`null`)},
	}
	for _, do := range words {
		b.rule(do)
		_, err := b.send(b.message(0))
		if err := failed(err); err != nil {
			return fmt.Errorf("answer %d: %w", do.Status, err)
		}
		if channels.Classify(err).Fault == tidings.RecipientDead {
			return fmt.Errorf("answer %d %s declared the address dead", do.Status, do.Reason)
		}
	}
	return nil
}

func keepsSecrets(b *bench) error {
	m := b.message(0)
	echo, err := json.Marshal("cannot send to " + m.Address)
	if err != nil {
		return err
	}
	for _, do := range []simulator.Do{
		b.trouble(), {Status: 400}, {Status: 400, Reason: m.Address, Body: echo}, {Status: 400, Body: jsontext.Value(`{"message":` + string(echo) + `}`)},
		{Reset: "before"}, {Reset: "after"}, {Hang: simulator.Span(time.Hour)},
	} {
		b.rule(do)
		_, err := b.send(m)
		if err := b.clean(m, err); err != nil {
			return err
		}
	}
	b.sim.ClearFaults()
	b.line.down.Store(true)
	_, err = b.send(m)
	return b.clean(m, err)
}

// clean finds the address and the secrets in what an error and the log say.
func (b *bench) clean(m *channels.Message, err error) error {
	if err := failed(err); err != nil {
		return err
	}
	e := channels.Classify(err)
	said := strings.Join([]string{err.Error(), e.Error(), e.Text, e.Code, fmt.Sprintf("%+v", err), b.log.String()}, "\n")
	if len(e.Text) > channels.MaxText {
		return fmt.Errorf("the text is %d bytes long", len(e.Text))
	}
	if strings.Contains(said, m.Address) {
		return fmt.Errorf("after %s the address is shown", e.Fault)
	}
	for _, secret := range append(b.log.heard.all(), b.secrets...) {
		if strings.Contains(said, secret) {
			return fmt.Errorf("after %s a secret is shown", e.Fault)
		}
	}
	return nil
}
