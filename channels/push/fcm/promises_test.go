package fcm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/channels/channeltest"
	"tidings/channels/push/fcm"
	"tidings/channels/simulator"
)

// rules sets rules for FCM.
func rules(t *testing.T, b *channeltest.Bench, list ...simulator.Rule) {
	t.Helper()
	for i := range list {
		list[i].Provider = "fcm"
	}
	if err := b.Sim.SetFaults(list); err != nil {
		t.Fatal(err)
	}
}

func TestTheSDKNeitherRepeatsNorWaits(t *testing.T) {
	for _, do := range []simulator.Do{
		{Status: 503},
		{Status: 503, Headers: map[string]string{"Retry-After": "60"}}, // the SDK would wait for it
		{Reset: "before"},
		{Reset: "after"},
	} {
		channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
			b.Rule(do)
			start := time.Now()
			_, err := b.Send(b.Message(0))
			if err == nil || time.Since(start) > 0 {
				t.Errorf("%+v: took %s, %v", do, time.Since(start), err)
			}
			if err := b.Requests(1); err != nil {
				t.Errorf("%+v: %v", do, err)
			}
		})
	}
}

func TestOneAccessTokenServesManyCallsAtOnce(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		rules(t, b,
			simulator.Rule{Address: "oauth", Times: 1, Do: simulator.Do{Delay: simulator.Span(time.Second)}},
			simulator.Rule{Address: "oauth", Do: simulator.Do{Status: 500}}) // a second request would fail
		var calls sync.WaitGroup
		errs := make([]error, 64)
		for i := range errs {
			m := b.Message(i)
			calls.Go(func() { _, errs[i] = b.Send(m) })
		}
		calls.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
}

func TestAnAccessTokenIsRenewedBeforeItExpires(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		for i := range 40 {
			if _, err := b.Send(b.Message(i)); err != nil {
				t.Fatalf("after %d times 7 minutes: %v", i, err)
			}
			b.Pass(7 * time.Minute)
		}
	})
}

func TestWithoutAnAccessTokenNothingIsSent(t *testing.T) {
	for _, c := range []struct {
		why  string
		do   simulator.Do
		want tidings.Outcome
	}{
		{"Google is in trouble", simulator.Do{Status: 503}, tidings.NotSent},
		{"Google wants fewer requests", simulator.Do{Status: 429}, tidings.NotSent},
		{"the account is gone", simulator.Do{Status: 400, Reason: "invalid_grant"}, tidings.ConfigFault},
		{"the account may not", simulator.Do{Status: 401, Reason: "unauthorized_client"}, tidings.ConfigFault},
		{"the connection is cut", simulator.Do{Reset: "before"}, tidings.NotSent},
		{"no answer comes in time", simulator.Do{Hang: simulator.Span(time.Hour)}, tidings.NotSent},
	} {
		channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
			rules(t, b, simulator.Rule{Address: "oauth", Do: c.do})
			_, err := b.Send(b.Message(0))
			if got := channels.Classify(err).Fault; got != c.want {
				t.Errorf("%s: %q (%v), want %q", c.why, got, err, c.want)
			}
			if err := b.Requests(0); err != nil {
				t.Errorf("%s: %v", c.why, err)
			}
			b.Sim.ClearFaults()
			if _, err := b.Send(b.Message(1)); err != nil {
				t.Errorf("%s, and then not any more: %v", c.why, err)
			}
		})
	}
}

func TestACallThatGivesUpDoesNotSpoilTheTokenForOthers(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		rules(t, b, simulator.Rule{Address: "oauth", Times: 1, Do: simulator.Do{Delay: simulator.Span(5 * time.Second)}})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var calls sync.WaitGroup
		calls.Go(func() {
			if _, err := b.Provider.Send(short, b.Message(0)); channels.Classify(err).Fault != tidings.NotSent {
				t.Errorf("the impatient call: %v", err)
			}
		})
		b.Pass(time.Millisecond)
		if _, err := b.Send(b.Message(1)); err != nil {
			t.Errorf("the patient call: %v", err)
		}
		calls.Wait()
	})
}

func TestARefusedAccessTokenIsFetchedAnewForTheNextAttempt(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		if _, err := b.Send(b.Message(0)); err != nil {
			t.Fatal(err)
		}
		b.Pass(10 * time.Minute)
		b.Rule(simulator.Do{Status: 401})
		_, err := b.Send(b.Message(1))
		if got := channels.Classify(err).Fault; got != tidings.Transient {
			t.Errorf("an old token refused is %q, want transient: the next has a new one", got)
		}
		_, err = b.Send(b.Message(2))
		if got := channels.Classify(err).Fault; got != tidings.ConfigFault {
			t.Errorf("a new token refused is %q, want config_fault", got)
		}
	})
}

func TestAMessageThatFCMWouldRefuseForItsSizeIsNotTried(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		m := b.Message(0)
		m.Content.Data = map[string]string{"long": strings.Repeat("x", 4096)}
		_, err := b.Send(m)
		if got := channels.Classify(err).Fault; got != tidings.ContentRejected {
			t.Errorf("got %q", got)
		}
		if err := b.Requests(0); err != nil {
			t.Error(err)
		}
	})
}

func TestTheDataCannotReplaceTheDeliveryID(t *testing.T) {
	channeltest.Try(t, harness(), func(t *testing.T, b *channeltest.Bench) {
		m := b.Message(0)
		m.Content.Data = map[string]string{"tidings_delivery": "another"}
		if _, err := b.Send(m); err != nil {
			t.Fatal(err)
		}
		all, err := b.Ledger(1)
		if err != nil || all[0].DeliveryID != m.Delivery.String() {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "fcm.json")
	if err := os.WriteFile(broken, []byte(`{"type":"authorized_user","secret":"canary"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why    string
		config fcm.Config
	}{
		{"credentials_file", fcm.Config{Project: "p"}},
		{"project", fcm.Config{CredentialsFile: broken}},
		{"no such file", fcm.Config{CredentialsFile: broken + "x", Project: "p"}},
		{"service account", fcm.Config{CredentialsFile: broken, Project: "p"}},
	} {
		_, err := fcm.Vendor().Build(&c.config, channels.Settings{})
		if err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "canary") {
			t.Errorf("want %q, got %v", c.why, err)
		}
	}
}
