package channeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels"
	"tidings/channels/simulator"
)

func (b *Bench) trouble() simulator.Do {
	if b.Unavailable.Status == 0 {
		return simulator.Do{Status: http.StatusServiceUnavailable}
	}
	return b.Unavailable
}

func calledOnceInTrouble(b *Bench) error {
	b.Rule(b.trouble())
	_, err := b.Send(b.Message(0))
	return errors.Join(failed(err, tidings.Transient), b.Requests(1))
}

func cutBefore(b *Bench) error {
	want := b.ResetBefore
	if want == "" {
		want = tidings.OutcomeUnknown
	}
	b.Rule(simulator.Do{Reset: "before"})
	_, err := b.Send(b.Message(0))
	_, none := b.Ledger(0)
	return errors.Join(failed(err, want), b.Requests(1), none)
}

func cutAfter(b *Bench) error {
	b.Rule(simulator.Do{Reset: "after"})
	_, err := b.Send(b.Message(0))
	_, one := b.Ledger(1)
	return errors.Join(failed(err, tidings.OutcomeUnknown), b.Requests(1), one)
}

func noAnswer(b *Bench) error {
	b.Rule(simulator.Do{Reset: "after", Hang: simulator.Span(time.Hour)})
	start := time.Now()
	_, err := b.Send(b.Message(0))
	if took := time.Since(start); took > patience+soon {
		return fmt.Errorf("its Send returned after %s, its context ended after %s", took, patience)
	}
	return errors.Join(failed(err, tidings.OutcomeUnknown), b.Requests(1))
}

func refused(b *Bench) error {
	b.line.down.Store(true)
	_, err := b.Send(b.Message(0))
	return errors.Join(failed(err, tidings.NotSent), b.Requests(0))
}

func endedBefore(b *Bench) error {
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	_, err := b.Provider.Send(ctx, b.Message(0))
	return errors.Join(failed(err, tidings.NotSent), b.Requests(0))
}

func cancelled(b *Bench) error {
	b.Rule(simulator.Do{Hang: simulator.Span(time.Hour)})
	ctx, cancel := context.WithCancel(b.t.Context())
	const until = 3 * time.Second
	time.AfterFunc(until, cancel)
	start := time.Now()
	_, err := b.Provider.Send(ctx, b.Message(0))
	if took := time.Since(start); took > until+soon {
		return fmt.Errorf("its Send returned %s after its context was cancelled", took-until)
	}
	return failed(err, tidings.OutcomeUnknown, tidings.NotSent)
}

func readsRetryAfter(b *Bench) error {
	if !b.RetryAfter {
		return nil
	}
	const want = 7 * time.Second
	date := time.Now().Add(want).Truncate(time.Second).UTC().Format(http.TimeFormat)
	for _, form := range []string{"7", date} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			b.Rule(simulator.Do{Status: status, Headers: map[string]string{"Retry-After": form}})
			_, err := b.Send(b.Message(0))
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

func strangeAnswer(b *Bench) error {
	words := []simulator.Do{
		{Status: 400, Reason: "NEVER_HEARD_OF"}, {Status: 404, Reason: "NEVER_HEARD_OF"}, {Status: 410, Reason: "NEVER_HEARD_OF"},
		{Status: 418}, {Status: 500, Body: jsontext.Value(`"not an object"`)}, {Status: 502, Body: jsontext.Value(`null`)},
	}
	for _, do := range words {
		b.Rule(do)
		_, err := b.Send(b.Message(0))
		if err := failed(err); err != nil {
			return fmt.Errorf("answer %d: %w", do.Status, err)
		}
		if channels.Classify(err).Fault == tidings.RecipientDead {
			return fmt.Errorf("answer %d %s declared the address dead", do.Status, do.Reason)
		}
	}
	return nil
}

func keepsSecrets(b *Bench) error {
	m := b.Message(0)
	echo, err := json.Marshal("cannot send to " + m.Address)
	if err != nil {
		return err
	}
	for _, do := range []simulator.Do{
		b.trouble(), {Status: 400}, {Status: 400, Reason: m.Address, Body: echo}, {Status: 400, Body: jsontext.Value(`{"message":` + string(echo) + `}`)},
		{Reset: "before"}, {Reset: "after"}, {Hang: simulator.Span(time.Hour)},
	} {
		b.Rule(do)
		_, err := b.Send(m)
		if err := b.clean(m, err); err != nil {
			return err
		}
	}
	b.Sim.ClearFaults()
	b.line.down.Store(true)
	_, err = b.Send(m)
	return b.clean(m, err)
}

// clean finds the address and the secrets in what an error and the log say.
func (b *Bench) clean(m *channels.Message, err error) error {
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
