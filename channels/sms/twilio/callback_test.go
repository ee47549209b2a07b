package twilio_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/channels/simulator"
	"tidings/channels/sms/twilio"
	"tidings/internal/testkit"
)

// A stage is Twilio's simulator, the provider that uses it, and the hooks that it calls.
type stage struct {
	sim      *simulator.Simulator
	provider channels.Provider

	mu       sync.Mutex
	receipts []tidings.Receipt // guarded by mu
	errs     []error           // guarded by mu
}

// onStage runs a scene in virtual time.
func onStage(t *testing.T, scene func(t *testing.T, s *stage)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		network := testkit.NewNetwork()
		client := &http.Client{Transport: &http.Transport{DialContext: network.Dial}}
		s := &stage{}
		hooks := s.openHooks(t, network)
		sim, err := simulator.Start(simulator.Settings{
			Listen: func(vendor string) (net.Listener, error) { return network.Listen(vendor + ":80") },
			Dial:   network.Dial, Dir: dir, HooksURL: "http://hooks",
		})
		if err != nil {
			t.Fatal(err)
		}
		s.sim = sim
		defer func() {
			client.CloseIdleConnections()
			if err := errors.Join(sim.Close(), hooks.Close()); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}()
		s.provider = build(t, sim, client)
		scene(t, s)
	})
}

func build(t *testing.T, sim *simulator.Simulator, client *http.Client) channels.Provider {
	t.Helper()
	for _, p := range sim.Providers() {
		if p.Type != "twilio" {
			continue
		}
		token, err := os.ReadFile(p.Get("auth_token")[len("file:"):])
		if err != nil {
			t.Fatal(err)
		}
		config := twilio.Config{AccountSID: p.Get("account_sid"), AuthToken: channels.Secret(token), From: p.Get("from")}
		provider, err := twilio.Vendor().Build(&config, channels.Settings{
			Name: "twilio", Endpoint: p.Get("endpoint"), HooksURL: "https://notify.example.test/hooks/twilio", Client: client,
		})
		if err != nil {
			t.Fatal(err)
		}
		return provider
	}
	t.Fatal("twilio is not simulated")
	return nil
}

// openHooks takes the callbacks, as the service does behind a proxy.
func (s *stage) openHooks(t *testing.T, network *testkit.Network) *http.Server {
	t.Helper()
	l, err := network.Listen("hooks:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		receipts, err := s.provider.(channels.ReceiptReader).ReadReceipts(r, "https://notify.example.test"+r.URL.RequestURI(), body)
		s.mu.Lock()
		s.receipts, s.errs = append(s.receipts, receipts...), append(s.errs, err)
		s.mu.Unlock()
		if err != nil {
			w.WriteHeader(http.StatusForbidden)
		}
	})}
	go func() { _ = server.Serve(l) }()
	return server
}

// heard is what the hooks were told so far.
func (s *stage) heard() (statuses []tidings.ReceiptStatus, all []tidings.Receipt, err error) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.receipts {
		statuses = append(statuses, r.Status)
	}
	return statuses, slices.Clone(s.receipts), errors.Join(s.errs...)
}

func (s *stage) send(t *testing.T) (tidings.DeliveryID, channels.Answer) {
	t.Helper()
	id := tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 3)
	answer, err := s.provider.Send(t.Context(), &channels.Message{
		Delivery: id, Attempt: 2, Address: "+15550142", Content: tidings.Content{Body: "Your code is 482913"}, ExpiresAt: time.Now().Add(time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	return id, answer
}

func TestAnAcceptedMessageIsReportedSentThenDelivered(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		id, answer := s.send(t)
		time.Sleep(50 * time.Millisecond)
		statuses, receipts, err := s.heard()
		if err != nil || !slices.Equal(statuses, []tidings.ReceiptStatus{tidings.ReceiptSent, tidings.ReceiptDelivered}) {
			t.Fatalf("heard %v, %v", statuses, err)
		}
		for _, r := range receipts {
			if r.Delivery != id || r.Attempt != 2 || r.Ref != answer.Ref || r.Provider != "twilio" || r.At.IsZero() {
				t.Errorf("receipt %+v of delivery %v, ref %s", r, id, answer.Ref)
			}
		}
	})
}

func TestReceiptsComeAsTheRuleSays(t *testing.T) {
	for _, c := range []struct {
		why  string
		rule simulator.ReceiptRule
		want []tidings.ReceiptStatus
	}{
		{"the other way round", simulator.ReceiptRule{Order: []string{"delivered", "sent"}}, []tidings.ReceiptStatus{tidings.ReceiptDelivered, tidings.ReceiptSent}},
		{"twice", simulator.ReceiptRule{Order: []string{"sent"}, Duplicate: true}, []tidings.ReceiptStatus{tidings.ReceiptSent, tidings.ReceiptSent}},
		{"late", simulator.ReceiptRule{Delay: simulator.Span(time.Hour)}, nil},
		{"never", simulator.ReceiptRule{None: true}, nil},
		{"with bad news", simulator.ReceiptRule{Order: []string{"undelivered:30003"}}, []tidings.ReceiptStatus{tidings.ReceiptFailed}},
	} {
		onStage(t, func(t *testing.T, s *stage) {
			if err := s.sim.SetFaults([]simulator.Rule{{Provider: "twilio", Receipts: c.rule}}); err != nil {
				t.Fatal(err)
			}
			s.send(t)
			time.Sleep(time.Minute)
			if got, _, err := s.heard(); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: heard %v, %v", c.why, got, err)
			}
		})
	}
}

func TestAForgedReceiptIsNotBelieved(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		if err := s.sim.SetFaults([]simulator.Rule{{Provider: "twilio", Receipts: simulator.ReceiptRule{None: true}}}); err != nil {
			t.Fatal(err)
		}
		_, answer := s.send(t)
		report := simulator.Report{Provider: "twilio", Ref: answer.Ref, Status: "failed:30005", Forge: true}
		if err := s.sim.Report(t.Context(), report); err != nil {
			t.Error(err)
		}
		if statuses, _, err := s.heard(); len(statuses) != 0 || !errors.Is(err, channels.ErrForged) {
			t.Errorf("heard %v, %v", statuses, err)
		}
		report.Forge = false
		if err := s.sim.Report(t.Context(), report); err != nil {
			t.Error(err)
		}
		_, receipts, _ := s.heard()
		if len(receipts) != 1 || receipts[0].Outcome != tidings.RecipientDead || receipts[0].Code != "30005" {
			t.Errorf("heard %+v", receipts)
		}
	})
}

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	for _, c := range []struct {
		why string
		twilio.Config
		ok bool
	}{
		{"a number", twilio.Config{AccountSID: "AC1", AuthToken: "t", From: "+15550100"}, true},
		{"a messaging service", twilio.Config{AccountSID: "AC1", AuthToken: "t", MessagingServiceSID: "MG1"}, true},
		{"no sender", twilio.Config{AccountSID: "AC1", AuthToken: "t"}, false},
		{"two senders", twilio.Config{AccountSID: "AC1", AuthToken: "t", From: "+15550100", MessagingServiceSID: "MG1"}, false},
		{"no account", twilio.Config{AuthToken: "t", From: "+15550100"}, false},
		{"no token", twilio.Config{AccountSID: "AC1", From: "+15550100"}, false},
	} {
		if err := c.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

func TestAMessageWhoseTimeIsOverIsNotSent(t *testing.T) {
	onStage(t, func(t *testing.T, s *stage) {
		_, err := s.provider.Send(t.Context(), &channels.Message{Address: "+15550142", Content: tidings.Content{Body: "late"}, ExpiresAt: time.Now()})
		if got := channels.Classify(err).Fault; got != tidings.OutcomeExpired {
			t.Errorf("fault %s", got)
		}
		if got := s.sim.Stats()["twilio"].Requests; got != 0 {
			t.Errorf("%d requests", got)
		}
	})
}
