package channeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/channels/all"
	"tidings/channels/simulator"
)

// whole is a harness of a vendor that keeps its promises.
func whole() Harness {
	vendors := all.Vendors()
	fcm := slices.IndexFunc(vendors, func(v channels.Vendor) bool { return v.Type == "fcm" })
	return Harness{
		Vendor: vendors[fcm], Address: "fQx0registration:APA91b-of_a_made_up_phone",
		Content:    tidings.Content{Title: "Your order is on its way", Body: "UPS brings order 4711."},
		RetryAfter: true, Collapse: "tag",
		Expires: func(e simulator.Entry, at time.Time) bool {
			ttl, err := time.ParseDuration(e.Headers["ttl"])
			return err == nil && e.At.Add(ttl).Sub(at).Abs() < 2*time.Second
		},
	}
}

// A flaw wraps Send so that it breaks a promise.
type flaw struct {
	name   string
	caught string // by which check at least
	send   func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error)
}

func flaws() []flaw {
	var mu sync.Mutex
	var last *channels.Message
	return []flaw{
		{"repeats what failed", "a_service_in_trouble_is_called_once",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				if answer, err := good.Send(ctx, m); err == nil {
					return answer, nil
				}
				return good.Send(ctx, m)
			}},
		{"repeats what got no answer", "a_cut_after_acceptance_is_one_call_of_unknown_outcome",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				answer, err := good.Send(ctx, m)
				if err != nil && channels.Classify(err).Fault == tidings.OutcomeUnknown {
					return good.Send(ctx, m)
				}
				return answer, err
			}},
		{"does not classify", "a_refused_connection_is_not_sent", refault(func(e *channels.Error) error { return errors.New("it failed") })},
		{"calls a lost answer transient", "a_cut_before_the_answer_is_one_call_of_unknown_outcome",
			refault(func(e *channels.Error) error {
				if e.Fault == tidings.OutcomeUnknown {
					e.Fault = tidings.Transient
				}
				return e
			})},
		{"calls a refused connection unknown", "a_refused_connection_is_not_sent",
			refault(func(e *channels.Error) error {
				if e.Fault == tidings.NotSent {
					e.Fault = tidings.OutcomeUnknown
				}
				return e
			})},
		{"does not read Retry-After", "retry_after_is_read_in_both_forms",
			refault(func(e *channels.Error) error { e.After = 0; return e })},
		{"retires what it does not understand", "an_answer_never_heard_of_kills_no_address",
			refault(func(e *channels.Error) error {
				if e.HTTPStatus == http.StatusNotFound {
					e.Fault = tidings.RecipientDead
				}
				return e
			})},
		{"ignores its context", "a_cancelled_call_returns_soon",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				return good.Send(context.WithoutCancel(ctx), m)
			}},
		{"sends although its context ended", "a_context_that_ended_sends_nothing",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				if ctx.Err() != nil {
					ctx = context.WithoutCancel(ctx)
				}
				return good.Send(ctx, m)
			}},
		{"gives up too late", "no_answer_in_time_is_one_call_of_unknown_outcome",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				answer, err := good.Send(ctx, m)
				if err != nil {
					<-time.After(5 * time.Second)
				}
				return answer, err
			}},
		{"shows the address", "errors_and_logs_hold_no_secret_and_no_address",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				answer, err := good.Send(ctx, m)
				if err != nil {
					err = fmt.Errorf("send to %s: %w", m.Address, err)
				}
				return answer, err
			}},
		{"loses the delivery id", "an_accepted_message_is_sent_once_and_carries_its_ids",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				other := *m
				other.Delivery = tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 1)
				return good.Send(ctx, &other)
			}},
		{"loses the reference", "an_accepted_message_is_sent_once_and_carries_its_ids",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				_, err := good.Send(ctx, m)
				return channels.Answer{}, err
			}},
		{"sends nothing and says it did", "an_accepted_message_is_sent_once_and_carries_its_ids",
			func(context.Context, channels.Provider, *channels.Message) (channels.Answer, error) {
				return channels.Answer{Ref: "made up"}, nil
			}},
		{"sends twice at once", "an_accepted_message_is_sent_once_and_carries_its_ids",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				_, _ = good.Send(ctx, m)
				return good.Send(ctx, m)
			}},
		{"changes the message", "the_message_is_left_as_it_was",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				m.Content.Title = strings.ToUpper(m.Content.Title)
				return good.Send(ctx, m)
			}},
		{"forgets the expiry", "the_expiry_is_passed_on",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				other := *m
				other.ExpiresAt = time.Now().Add(28 * 24 * time.Hour)
				return good.Send(ctx, &other)
			}},
		{"gives what has waited as long as what has not", "the_expiry_is_passed_on",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				other := *m
				other.ExpiresAt = time.Now().Add(time.Hour).Truncate(time.Second)
				return good.Send(ctx, &other)
			}},
		{"keeps the message of another call", "calls_at_once_do_not_mix",
			func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				mu.Lock()
				last = m
				mu.Unlock()
				<-time.After(time.Millisecond)
				mu.Lock()
				m = last
				mu.Unlock()
				return good.Send(ctx, m)
			}},
	}
}

// refault changes the errors of Send.
func refault(change func(*channels.Error) error) func(context.Context, channels.Provider, *channels.Message) (channels.Answer, error) {
	return func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
		answer, err := good.Send(ctx, m)
		if err == nil {
			return answer, nil
		}
		e := *channels.Classify(err)
		return answer, change(&e)
	}
}

type flawed struct {
	channels.Provider
	flaw
}

func (f flawed) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	return f.send(ctx, f.Provider, m)
}

func (f flaw) harness() Harness {
	h := whole()
	build := h.Vendor.Build
	h.Vendor.Build = func(config any, s channels.Settings) (channels.Provider, error) {
		good, err := build(config, s)
		return flawed{good, f}, err
	}
	return h
}

func TestEveryFlawIsCaught(t *testing.T) {
	dir := t.TempDir()
	for _, f := range flaws() {
		t.Run(f.name, func(t *testing.T) {
			i := slices.IndexFunc(checks(), func(c check) bool { return c.name == f.caught })
			if err := f.harness().try(t, dir, checks()[i]); err == nil {
				t.Errorf("%s found nothing", f.caught)
			}
		})
	}
}

func TestEveryCheckCatchesAFlaw(t *testing.T) {
	caught := map[string]bool{}
	for _, f := range flaws() {
		caught[f.caught] = true
	}
	for _, c := range checks() {
		if !caught[c.name] {
			t.Errorf("no flaw shows that %s can fail", c.name)
		}
	}
}

func TestAVendorThatKeepsItsPromisesPasses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range checks() {
		if err := whole().try(t, dir, c); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestASecretIsCaughtWhereverItIsShown(t *testing.T) {
	dir := t.TempDir()
	h := whole()
	build := h.Vendor.Build
	leaks := map[string]func(s channels.Settings, secret string) error{
		"in the text": func(_ channels.Settings, secret string) error {
			return &channels.Error{Fault: tidings.Transient, Text: secret}
		},
		"in the code": func(_ channels.Settings, secret string) error {
			return &channels.Error{Fault: tidings.Transient, Code: secret}
		},
		"in the error": func(_ channels.Settings, secret string) error {
			return &channels.Error{Fault: tidings.Transient, Err: errors.New(secret)}
		},
		"in the log": func(s channels.Settings, secret string) error {
			s.Log.Info("calling", "with", secret)
			return &channels.Error{Fault: tidings.Transient}
		},
	}
	for name, leak := range leaks {
		var heard string
		h.Vendor.Build = func(config any, s channels.Settings) (channels.Provider, error) {
			client := *s.Client
			client.Transport = tap{s.Client.Transport, &heard}
			wired := s
			wired.Client = &client
			good, err := build(config, wired)
			return flawed{good, flaw{send: func(ctx context.Context, good channels.Provider, m *channels.Message) (channels.Answer, error) {
				answer, err := good.Send(ctx, m)
				if err != nil {
					err = leak(s, heard)
				}
				return answer, err
			}}}, err
		}
		i := slices.IndexFunc(checks(), func(c check) bool { return c.name == "errors_and_logs_hold_no_secret_and_no_address" })
		if err := h.try(t, dir, checks()[i]); err == nil {
			t.Errorf("a bearer token %s was not found", name)
		}
	}
}

// tap keeps the bearer token that passes by.
type tap struct {
	http.RoundTripper
	heard *string
}

func (t tap) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		*t.heard = token
	}
	return t.RoundTripper.RoundTrip(r)
}
