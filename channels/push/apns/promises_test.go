package apns_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels"
	"tidings/channels/channeltest"
	"tidings/channels/push/apns"
	"tidings/channels/simulator"
)

func TestATokenCalledTooOldIsMintedAnewForTheNextAttempt(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		if _, err := b.Send(b.Message(0)); err != nil {
			t.Fatal(err)
		}
		b.Pass(30 * time.Minute)
		tooOld := simulator.Rule{Provider: "apns", Times: 1, Do: simulator.Do{Status: 403, Reason: "ExpiredProviderToken"}}
		if err := b.Sim.SetFaults([]simulator.Rule{tooOld}); err != nil {
			t.Fatal(err)
		}
		_, err := b.Send(b.Message(1))
		if got := channels.Classify(err).Fault; got != tidings.Transient {
			t.Fatalf("a token of 30 minutes called too old is %q, want transient: the next has a new one", got)
		}
		if err := b.Requests(2); err != nil {
			t.Fatal(err) // the mending is not a second request in the same Send
		}
		if _, err := b.Send(b.Message(2)); err != nil {
			t.Fatalf("with the new token: %v", err)
		}
		if err := b.Sim.SetFaults([]simulator.Rule{tooOld}); err != nil {
			t.Fatal(err)
		}
		_, err = b.Send(b.Message(3))
		if got := channels.Classify(err).Fault; got != tidings.ConfigFault {
			t.Fatalf("a token just minted called too old is %q, want config_fault: our clock is wrong", got)
		}
	})
}

func TestOneTokenServesADayOfPushes(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		for i := range 48 {
			if _, err := b.Send(b.Message(i)); err != nil {
				t.Fatalf("after %d half hours: %v", i, err)
			}
			b.Pass(30 * time.Minute) // APNs refuses tokens above an hour
		}
	})
}

func TestNoPushIsLostOrDoubledWhenAPNsSaysGoAway(t *testing.T) {
	for _, streams := range []int{0, 10} {
		t.Run(fmt.Sprintf("%d streams", streams), func(t *testing.T) {
			channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
				b.Rule(simulator.Do{GoAway: 50, Streams: streams, Delay: simulator.Span(20 * time.Millisecond)})
				const n = 1000
				errs := make([]error, n)
				var calls sync.WaitGroup
				for i := range n {
					m := b.Message(i)
					calls.Go(func() { _, errs[i] = b.Send(m) })
				}
				calls.Wait()
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				all, err := b.Ledger(n)
				if err != nil {
					t.Fatal(err)
				}
				seen := map[string]bool{}
				for _, e := range all {
					seen[e.DeliveryID] = true
				}
				if len(seen) != n {
					t.Errorf("%d of %d pushes arrived", len(seen), n)
				}
			})
		})
	}
}

func TestUrgentPushesPassAHangingBulk(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		hang := simulator.Rule{Provider: "apns", Address: "0a1b*", Do: simulator.Do{Hang: simulator.Span(time.Minute)}}
		if err := b.Sim.SetFaults([]simulator.Rule{hang}); err != nil {
			t.Fatal(err)
		}
		var bulk sync.WaitGroup
		for i := range 1200 { // more than there are places
			m := b.Message(i % tidings.MaxDeliveries)
			bulk.Go(func() { _, _ = b.Send(m) })
		}
		synctest.Wait()
		urgent := b.Message(0)
		urgent.Urgent, urgent.Address = true, strings.Repeat("f0", 32)
		start := time.Now()
		if _, err := b.Send(urgent); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("an urgent push waited %s behind bulk", took)
		}
		bulk.Wait()
	})
}

func TestAPayloadThatAppleWouldRefuseIsNotTried(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		m := b.Message(0)
		m.Content.Body = strings.Repeat("é", 2048)
		_, err := b.Send(m)
		if e := channels.Classify(err); e.Fault != tidings.ContentRejected || strings.Contains(e.Text, "é") {
			t.Errorf("got %v", e)
		}
		if err := b.Requests(0); err != nil {
			t.Error(err)
		}
	})
}

func TestAnAnswerThatBreaksOffIsUnknown(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		b.Rule(simulator.Do{Status: 410, Body: jsontext.Value(`"` + strings.Repeat("x", 2*channels.MaxAnswer) + `"`)})
		_, err := b.Send(b.Message(0))
		if got := channels.Classify(err).Fault; got == tidings.RecipientDead {
			t.Errorf("an answer without end is %q", got)
		}
	})
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	whole := apns.Config{KeyFile: "a.p8", KeyID: "K", TeamID: "T", Topic: "com.example.phone", Environment: "production"}
	for _, c := range []struct {
		why   string
		spoil func(*apns.Config)
	}{
		{"key_file", func(c *apns.Config) { c.KeyFile = "" }},
		{"key_id", func(c *apns.Config) { c.KeyID = "" }},
		{"team_id", func(c *apns.Config) { c.TeamID = "" }},
		{"topic", func(c *apns.Config) { c.Topic = "" }},
		{"environment", func(c *apns.Config) { c.Environment = "staging" }},
	} {
		spoiled := whole
		c.spoil(&spoiled)
		if err := spoiled.Validate(); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s spoiled: %v", c.why, err)
		}
	}
	if err := whole.Validate(); err != nil {
		t.Error(err)
	}
	if _, err := apns.Vendor().Build(&whole, channels.Settings{}); err == nil {
		t.Error("a key file that does not exist was accepted")
	}
}

func TestAPNsWorksOnSockets(t *testing.T) {
	p, sim := onSockets(t)
	m := &channels.Message{
		Delivery: tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 0), Address: harness().Address,
		Content: harness().Content, ExpiresAt: time.Now().Add(time.Hour),
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answer, err := p.Send(ctx, m)
	if err != nil || answer.Ref != m.Delivery.UUID() {
		t.Fatalf("%+v, %v", answer, err)
	}
	m.Address = "dead" + m.Address[4:]
	if _, err := p.Send(ctx, m); channels.Classify(err).Fault != tidings.RecipientDead {
		t.Fatal(err)
	}
	if got := sim.Stats()["apns"]; got != (simulator.Counts{Requests: 2, Accepts: 1, Rejects: 1}) {
		t.Errorf("%+v", got)
	}
}
