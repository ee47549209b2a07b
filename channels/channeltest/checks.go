package channeltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

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
	run  func(*Bench) error
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

// Message is a delivery as a worker would hand it in.
func (b *Bench) Message(n int) *channels.Message {
	now := time.Now()
	id := tidings.DeliveryOf(tidings.NewNotificationID(now), n)
	return &channels.Message{
		Delivery: id, Attempt: 3, Address: b.Address, RegisteredAt: now.Add(-time.Hour), Content: b.Content,
		CollapseID: "c0llapse_" + id.String()[4:20], Event: "order.shipped", ExpiresAt: now.Add(time.Hour).Truncate(time.Second),
	}
}

// Send sends with the usual patience.
func (b *Bench) Send(m *channels.Message) (channels.Answer, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	return b.Provider.Send(ctx, m)
}

// Pass lets the bubble's time pass.
func (b *Bench) Pass(span time.Duration) { time.Sleep(span) }

// Rule makes the service do something with every request.
func (b *Bench) Rule(do simulator.Do) {
	b.t.Helper()
	if err := b.Sim.SetFaults([]simulator.Rule{{Provider: b.Vendor.Type, Do: do}}); err != nil {
		b.t.Fatal(err)
	}
}

// failed is the *Error of a call that had to fail with one of the faults; none given: with any.
func failed(err error, faults ...tidings.Outcome) error {
	if err == nil {
		return fmt.Errorf("its Send succeeded; want %v", faults)
	}
	var e *channels.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("its Send failed with a %T, which is not an *Error: %v", err, err)
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
	return fmt.Errorf("its Send failed with %q (%v); want one of %v", e.Fault, err, known)
}

// Requests compares how often the service was called.
func (b *Bench) Requests(want int64) error {
	if got := b.Sim.Stats()[b.Vendor.Type].Requests; got != want {
		return fmt.Errorf("the service saw %d requests, want %d", got, want)
	}
	return nil
}

// Ledger is the ledger, which must hold so many sends.
func (b *Bench) Ledger(want int) ([]simulator.Entry, error) {
	all, err := b.tape.Entries()
	if err == nil && len(all) != want {
		err = fmt.Errorf("the ledger holds %d sends, want %d", len(all), want)
	}
	return all, err
}

func carriesIDs(b *Bench) error {
	m := b.Message(0)
	answer, err := b.Send(m)
	if err != nil {
		return err
	}
	all, err := b.Ledger(1)
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
	return b.Requests(1)
}

func leavesMessage(b *Bench) error {
	m := b.Message(0)
	m.Content.Data = map[string]string{"order": "4711"}
	before := *m
	before.Content.Data = map[string]string{"order": "4711"}
	if _, err := b.Send(m); err != nil {
		return err
	}
	if !reflect.DeepEqual(*m, before) {
		return errors.New("its Send changed the message")
	}
	return nil
}

func passesExpiry(b *Bench) error {
	if b.Expires == nil {
		return nil
	}
	fresh, waited := b.Message(0), b.Message(1)
	if _, err := b.Send(fresh); err != nil {
		return err
	}
	b.Pass(50 * time.Minute) // in its lane: what is left is less by that
	if _, err := b.Send(waited); err != nil {
		return err
	}
	all, err := b.Ledger(2)
	if err != nil {
		return err
	}
	for i, m := range []*channels.Message{fresh, waited} {
		if !b.Expires(all[i], m.ExpiresAt) {
			return fmt.Errorf("the expiry %s is not among %v", m.ExpiresAt, all[i].Headers)
		}
	}
	return nil
}

func atOnce(b *Bench) error {
	const n = 32
	b.Rule(simulator.Do{Delay: simulator.Span(100 * time.Millisecond)})
	errs := make([]error, n)
	ids := map[string]bool{}
	var calls sync.WaitGroup
	for i := range n {
		m := b.Message(i)
		ids[m.Delivery.String()] = true
		calls.Go(func() { _, errs[i] = b.Send(m) })
	}
	calls.Wait()
	all, err := b.Ledger(n)
	for _, e := range all {
		delete(ids, e.DeliveryID)
	}
	if len(ids) > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d messages were not sent as themselves", len(ids), n))
	}
	return errors.Join(append(errs, err)...)
}
