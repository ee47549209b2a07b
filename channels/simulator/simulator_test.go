package simulator_test

//lint:file-ignore SA1019 the test speaks HTTP/2 as the push client does, through x/net/http2.

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/http2"

	"tidings/channels/simulator"
)

// start runs a simulator on free ports.
func start(t *testing.T, s simulator.Settings) *simulator.Simulator {
	t.Helper()
	s.Listen = simulator.OnPorts(0)
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	sim, err := simulator.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return sim
}

// control asks the control port.
func control(t *testing.T, sim *simulator.Simulator, method, path, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+sim.Address(simulator.Control)+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

func TestARuleThatCannotBeMeantIsRefusedAndChangesNothing(t *testing.T) {
	sim := start(t, simulator.Settings{})
	if status, answer := control(t, sim, "PUT", "/faults", `[{"provider":"apns","do":{"status":503}}]`); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	_, before := control(t, sim, "GET", "/faults", "")
	for _, c := range []struct{ why, rules string }{
		{"not JSON", `[`},
		{"not a list", `{"provider":"apns"}`},
		{"no provider", `[{"do":{"status":503}}]`},
		{"a provider that is not simulated", `[{"provider":"pigeon","do":{"status":503}}]`},
		{"an unknown member", `[{"provider":"apns","do":{"statsu":503}}]`},
		{"a member twice", `[{"provider":"apns","times":1,"times":2}]`},
		{"a span without a unit", `[{"provider":"apns","do":{"delay":"5"}}]`},
		{"a span below zero", `[{"provider":"apns","do":{"delay":"-5s"}}]`},
		{"an impossible status", `[{"provider":"apns","do":{"status":99}}]`},
		{"a share above one", `[{"provider":"apns","share":1.5}]`},
		{"times below zero", `[{"provider":"apns","times":-1}]`},
		{"a reset at no time", `[{"provider":"apns","do":{"reset":"meanwhile"}}]`},
		{"a stage that SMTP has not", `[{"provider":"apns","do":{"at":"lunch"}}]`},
		{"a status code that is none", `[{"provider":"smtp","do":{"status":451,"enhanced":"4.3"}}]`},
		{"a stage where there are none", `[{"provider":"apns","do":{"status":503,"at":"data"}}]`},
		{"streams where there are none", `[{"provider":"fcm","do":{"streams":5}}]`},
		{"a graceful end where there is none", `[{"provider":"twilio","do":{"goaway":5}}]`},
		{"receipts where there are none", `[{"provider":"apns","receipts":{"order":["delivered"]}}]`},
		{"fewer receipts than none", `[{"provider":"apns","receipts":{"none":true}}]`},
		{"a receipt that the vendor does not send", `[{"provider":"twilio","receipts":{"order":["sent","lost"]}}]`},
		{"a code that is none", `[{"provider":"twilio","receipts":{"order":["failed:soon"]}}]`},
		{"a code of what did not fail", `[{"provider":"twilio","receipts":{"order":["delivered:30005"]}}]`},
		{"at no time", `[{"provider":"apns","times":0,"do":{"status":503}}]`},
		{"half a time", `[{"provider":"apns","times":0.5,"do":{"status":503}}]`},
		{"of none", `[{"provider":"apns","share":0,"do":{"status":503}}]`},
		{"one bad rule behind a good one", `[{"provider":"fcm","do":{"status":500}},{"provider":"pigeon"}]`},
	} {
		if status, answer := control(t, sim, "PUT", "/faults", c.rules); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", c.why, status, answer)
		}
	}
	if _, after := control(t, sim, "GET", "/faults", ""); after != before {
		t.Errorf("the rules became %s", after)
	}
	for _, rules := range []string{
		`[{"provider":"apns"}]`, `[{"provider":"apns","do":{}}]`, `[{"provider":"apns","times":1,"share":1.0,"do":{"status":503}}]`, `[{"provider":"aws_sms","receipts":{"none":true}}]`,
		`[{"provider":"twilio","receipts":{"delay":"50ms","order":["delivered","sent","undelivered:30003"],"duplicate":true}}]`,
	} {
		if status, answer := control(t, sim, "PUT", "/faults", rules); status != http.StatusOK {
			t.Errorf("%s: %d %s", rules, status, answer)
		}
	}
	if status, _ := control(t, sim, "DELETE", "/faults", ""); status != http.StatusNoContent {
		t.Error(status)
	}
	if _, after := control(t, sim, "GET", "/faults", ""); after != "[]\n" {
		t.Errorf("after DELETE the rules are %s", after)
	}
}

func TestReceiptsAreRefusedWhereAProtocolHasNone(t *testing.T) {
	sim := start(t, simulator.Settings{})
	for _, body := range []string{
		`{"provider":"apns","ref":"x","status":"delivered"}`,
		`{"provider":"pigeon","ref":"x","status":"delivered"}`,
		`{"provider":"apns","colour":"red"}`,
	} {
		if status, answer := control(t, sim, "POST", "/receipts", body); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
}

func TestKeysAreKeptOnASecondRun(t *testing.T) {
	dir := t.TempDir()
	read := func() map[string]string {
		files := map[string]string{}
		for _, name := range []string{"ca.pem", "ca.key", "apns.p8", "fcm.key"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
		return files
	}
	start(t, simulator.Settings{Dir: dir})
	first := read()
	start(t, simulator.Settings{Dir: dir})
	for name, text := range read() {
		if text != first[name] {
			t.Errorf("%s is another after a second run", name)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "fcm.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the credentials may be read by others: %v %v", info.Mode(), err)
	}
}

func TestStatsNameEveryServiceAtZero(t *testing.T) {
	sim := start(t, simulator.Settings{})
	_, answer := control(t, sim, "GET", "/stats", "")
	var stats map[string]simulator.Counts
	if err := json.Unmarshal([]byte(answer), &stats); err != nil {
		t.Fatal(err)
	}
	for _, p := range sim.Providers() {
		if got, ok := stats[p.Type]; !ok || got != (simulator.Counts{}) {
			t.Errorf("%s: %+v, %t", p.Type, got, ok)
		}
		if p.Get("name") == "" || p.Get("type") != p.Type {
			t.Errorf("%s is configured as %v", p.Type, p.Lines)
		}
	}
}

func TestTwoSimulatorsCannotShareAPort(t *testing.T) {
	sim := start(t, simulator.Settings{})
	taken := sim.Address("apns")
	onTaken := func(string) (net.Listener, error) { return net.Listen("tcp", taken) }
	_, err := simulator.Start(simulator.Settings{Dir: t.TempDir(), Listen: onTaken})
	if err == nil || !strings.Contains(err.Error(), "apns") {
		t.Errorf("got %v", err)
	}
}

// push posts to the simulated APNs with a plain HTTP/2 client.
func push(t *testing.T, sim *simulator.Simulator, path string, header map[string]string, body string) (status int, answer string) {
	t.Helper()
	transport := &http2.Transport{TLSClientConfig: &tls.Config{RootCAs: sim.Roots()}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "https://"+sim.Address("apns")+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	got, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

func TestAPNsRefusesWhatAppleRefuses(t *testing.T) {
	var ledger bytes.Buffer
	sim := start(t, simulator.Settings{Ledger: &ledger})
	token := strings.Repeat("0a", 32)
	good := map[string]string{"apns-topic": "com.example.phone", "apns-push-type": "alert"}
	with := func(name, value string) map[string]string {
		h := map[string]string{}
		for k, v := range good {
			h[k] = v
		}
		h[name] = value
		return h
	}
	for _, c := range []struct {
		path   string
		header map[string]string
		body   string
		status int
		reason string
	}{
		{"/", good, "{}", 404, "BadPath"},
		{"/3/device/" + token, with("apns-topic", ""), "{}", 400, "MissingTopic"},
		{"/3/device/" + token, with("apns-topic", "com.example.other"), "{}", 400, "TopicDisallowed"},
		{"/3/device/" + token, with("apns-push-type", "background"), "{}", 400, "InvalidPushType"},
		{"/3/device/" + token, with("apns-collapse-id", strings.Repeat("x", 65)), "{}", 400, "BadCollapseId"},
		{"/3/device/" + token, good, "", 400, "PayloadEmpty"},
		{"/3/device/" + token, good, strings.Repeat("x", 4097), 413, "PayloadTooLarge"},
		{"/3/device/" + token, good, strings.Repeat("x", 100_000), 413, "PayloadTooLarge"},
		{"/3/device/" + token, good, "{}", 403, "MissingProviderToken"},
		{"/3/device/" + token, with("authorization", "bearer e30.e30.e30"), "{}", 403, "InvalidProviderToken"},
	} {
		status, answer := push(t, sim, c.path, c.header, c.body)
		if status != c.status || answer != `{"reason":"`+c.reason+`"}` {
			t.Errorf("want %d %s, got %d %s", c.status, c.reason, status, answer)
		}
	}
	if ledger.Len() > 0 {
		t.Errorf("the ledger holds what was refused: %s", &ledger)
	}
}
