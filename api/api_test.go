package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tidings"
	"tidings/api"
	"tidings/channels"
	"tidings/deploy"
	"tidings/internal/admission"
	"tidings/internal/intake"
	"tidings/internal/lanes"
	"tidings/internal/links"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// A bench is the whole API on a fresh log and embedded lanes, without workers.
type bench struct {
	http.Handler
	t        testing.TB
	store    *store.Store
	metrics  *observe.Metrics
	log      *strings.Builder
	draining atomic.Bool
	unready  atomic.Pointer[error]
	full     atomic.Bool // the disk
}

// Keys of the bench, as a caller sends them.
const (
	secret    = "s3cret"
	allKey    = "tid_live_all"
	testKey   = "tid_test_all"
	sendKey   = "tid_live_send"
	readKey   = "tid_live_read"
	otherKey  = "tid_live_other" // send and read of another app
	usersKey  = "tid_live_users"
	goneKey   = "tid_live_gone" // revoked
	publicURL = "https://notify.example.test"
)

// forger is a provider whose callbacks carry one receipt, signed by a header.
type forger struct{ urls chan string }

func (f forger) ReadReceipts(r *http.Request, url string, body []byte) ([]tidings.Receipt, error) {
	f.urls <- url
	if r.Header.Get("X-Signature") != "good" {
		return nil, channels.ErrForged
	}
	var ref string
	if err := json.Unmarshal(body, &ref); err != nil {
		return nil, err
	}
	return []tidings.Receipt{{Ref: ref, Status: tidings.ReceiptDelivered}}, nil
}

func newBench(t testing.TB, change ...func(*api.Settings)) *bench {
	t.Helper()
	b := &bench{t: t, log: &strings.Builder{}}
	st, err := store.Open(t.Context(), store.Settings{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.store = st
	b.keys()
	names := []tidings.Lane{"push.priority", "push.bulk", "sms.priority", "sms.bulk", "email.priority", "email.bulk"}
	ln := openLanes(t, names)
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	cat := &shelf{store: st}
	if _, err := cat.publish(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	b.metrics = observe.NewMetrics("test", nil, nil)
	defaults := intake.Defaults{ExpiresIn: 24 * time.Hour, DedupeWindow: 24 * time.Hour}
	zones, err := preferences.NewZones("UTC")
	if err != nil {
		t.Fatal(err)
	}
	in := intake.New(intake.Settings{
		Zones: zones, Store: st, Lanes: ln, Door: &admission.Door{}, Catalogue: cat.current, Version: cat.version, Defaults: defaults, Metrics: b.metrics,
		Providers: map[tidings.Channel]preferences.Carries{tidings.Push: anywhere, tidings.SMS: anywhere, tidings.Email: anywhere},
		PublicURL: publicURL, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		in.Close()
		if err := ln.Close(); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	signer, err := links.New([32]byte{1}, publicURL)
	if err != nil {
		t.Fatal(err)
	}
	s := api.Settings{
		Links: signer,
		Store: st, Intake: in, Catalogue: cat.current, Publish: cat.publish, Lanes: names, Limits: map[tidings.Lane]int{"push.bulk": 50000},
		Providers: map[string]api.Provider{
			"apns":   {Name: "apns", Type: "apns", Channel: tidings.Push, Tokens: true},
			"fcm":    {Name: "fcm", Type: "fcm", Channel: tidings.Push, Tokens: true},
			"smtp":   {Name: "smtp", Type: "smtp", Channel: tidings.Email},
			"twilio": {Name: "twilio", Type: "twilio", Channel: tidings.SMS, Receipts: forger{make(chan string, 100)}, Inbound: writer{}},
		},
		RebuildLane: ln.Rebuild,
		Draining:    b.draining.Load, Ready: b.ready, Broker: ln.Healthy, Full: b.noRoom, PublicURL: publicURL, Version: "test", Metrics: b.metrics,
		Log: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&s)
	}
	b.Handler = api.New(s)
	return b
}

func openLanes(t testing.TB, names []tidings.Lane) *lanes.Lanes {
	t.Helper()
	var specs []lanes.Spec
	for _, name := range names {
		specs = append(specs, lanes.Spec{Lane: name, MaxIDs: 10000, AckWait: 30 * time.Second, MaxInHand: 100})
	}
	l, err := lanes.Open(t.Context(), lanes.Settings{Dir: t.TempDir(), Lanes: specs, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// keys makes the keys of the bench.
func (b *bench) keys() {
	b.t.Helper()
	for _, k := range []struct {
		id, app string
		scopes  []string
		test    bool
	}{
		{allKey, "shop", []string{"all"}, false}, {testKey, "shop", []string{"all"}, true}, {sendKey, "shop", []string{"send"}, false},
		{readKey, "shop", []string{"read"}, false}, {otherKey, "forum", []string{"send", "read"}, false},
		{usersKey, "shop", []string{"users"}, false}, {goneKey, "shop", []string{"all"}, false},
	} {
		b.addKey(k.id, k.app, k.test, k.scopes...)
	}
	if err := b.store.RevokeKey(b.t.Context(), goneKey, time.Now()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) addKey(id, app string, test bool, scopes ...string) {
	b.t.Helper()
	err := b.store.CreateKey(b.t.Context(), store.Key{ID: id, App: app, Hash: sha256.Sum256([]byte(secret)), Scopes: scopes, Test: test, CreatedAt: time.Now()})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) ready(context.Context) (string, error) {
	if err := b.unready.Load(); err != nil {
		return "the log cannot be written", *err
	}
	return "", nil
}

func (b *bench) noRoom() error {
	if b.full.Load() {
		return errors.New("3 KiB are free")
	}
	return nil
}

// A shelf holds the published versions of the catalogue.
type shelf struct {
	store *store.Store
	now   atomic.Pointer[templates.Catalogue]
	at    atomic.Int64
}

func (s *shelf) current() (*templates.Catalogue, int64) { return s.now.Load(), s.at.Load() }

func (s *shelf) version(int64) (*templates.Catalogue, error) { return s.now.Load(), nil }

func (s *shelf) publish(ctx context.Context, files map[string]string) (int64, error) {
	c, err := templates.Parse(files)
	if err != nil {
		return 0, err
	}
	version, _, err := s.store.PublishCatalog(ctx, c.Hash, files, time.Now())
	if err != nil {
		return 0, err
	}
	s.now.Store(c)
	s.at.Store(version)
	return version, nil
}

// A reply is an answer of the API.
type reply struct {
	*httptest.ResponseRecorder
	t testing.TB
}

// call makes a request with JSON and the key that can do everything; headers come in pairs.
func (b *bench) call(method, path, body string, headers ...string) reply {
	b.t.Helper()
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, path, nil)
	} else {
		r = httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.SetBasicAuth(allKey, secret)
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.do(r)
}

func (b *bench) do(r *http.Request) reply {
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return reply{w, b.t}
}

// as is the header that presents a key.
func as(key string) []string { return []string{"Authorization", "Bearer " + key + "." + secret} }

// json is the body of an answer, whatever it is.
func (r reply) json() map[string]any {
	r.t.Helper()
	var v map[string]any
	if err := json.Unmarshal(r.Body.Bytes(), &v); err != nil {
		r.t.Fatalf("answered %d with %q: %v", r.Code, r.Body, err)
	}
	return v
}

// into reads the body of an answer.
func (r reply) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.Body.Bytes(), v); err != nil {
		r.t.Fatalf("answered %d with %q: %v", r.Code, r.Body, err)
	}
}

// code is the code of a problem, or "" where the answer is none.
func (r reply) code() string {
	if !strings.HasPrefix(r.Header().Get("Content-Type"), "application/problem+json") {
		return ""
	}
	code, _ := r.json()["code"].(string)
	return code
}

// at are the pointers of a problem's errors.
func (r reply) at() (all []string) {
	r.t.Helper()
	list, _ := r.json()["errors"].([]any)
	for _, e := range list {
		p, _ := e.(map[string]any)["pointer"].(string)
		all = append(all, p)
	}
	return all
}

// want fails the test unless the answer has the status and, for a problem, the code.
func (r reply) want(status int, code string) reply {
	r.t.Helper()
	if r.Code != status || r.code() != code {
		r.t.Fatalf("answered %d %q with %s, want %d %q", r.Code, r.code(), r.Body, status, code)
	}
	return r
}

// anywhere is what providers carry to that leave no address out.
func anywhere(*tidings.Address) bool { return true }
