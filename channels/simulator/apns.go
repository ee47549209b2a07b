package simulator

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"tidings"
)

// What the simulated APNs knows of its customer.
const (
	apnsKeyID = "SIMKEY0001"
	apnsTeam  = "SIMTEAM001"
	apnsTopic = "com.example.phone"
)

const (
	apnsMaxPayload = 4096      // bytes, Apple's bound for alerts
	apnsMaxAge     = time.Hour // of a provider token, Apple's bound
	apnsPath       = "/3/device/"
)

// apns is Apple's push service: POST /3/device/{token} over HTTP/2.
type apns struct {
	h2server
	desk    *desk
	key     *ecdsa.PublicKey
	keyFile string

	mu       sync.Mutex
	verified string    // guarded by mu; the last good token, so that its signature is checked once
	issued   time.Time // guarded by mu; of verified
}

func openAPNs(d *desk) (service, error) {
	text, file, err := d.keep("apns.p8", newECKey)
	if err != nil {
		return nil, err
	}
	key, err := parseECKey(text)
	if err != nil {
		return nil, err
	}
	a := &apns{desk: d, key: &key.PublicKey, keyFile: file}
	a.h2server = h2server{
		tls:     d.sim.ca.server("h2"),
		handler: a,
		streams: func() int { return d.sim.faults.streams(d.typ) },
	}
	return a, nil
}

func (a *apns) config() []Line {
	return []Line{
		{"name", "apns"}, {"type", a.desk.typ},
		{"key_file", a.keyFile}, {"key_id", apnsKeyID}, {"team_id", apnsTeam},
		{"topic", apnsTopic}, {"environment", "production"},
		{"endpoint", "https://" + a.desk.address}, {"ca_file", a.desk.sim.CAFile()},
	}
}

func (a *apns) report(context.Context, Report) error { return errNoReceipts }

// refusal is APNs' answer to what it does not take.
type refusal struct {
	status int
	reason string
	more   map[string]any
}

// ServeHTTP answers one push.
func (a *apns) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.URL.Path, apnsPath)
	v := a.desk.ask(token)
	v.stall(r)
	v.prepare(w)
	w.Header().Set("apns-id", r.Header.Get("apns-id"))
	payload, err := io.ReadAll(io.LimitReader(r.Body, apnsMaxPayload+1))
	if err != nil {
		return
	}
	if no := a.check(v, token, r, payload); no != nil {
		a.refuse(w, v, *no)
		return
	}
	if err := a.desk.accept(apnsEntry(token, r, payload)); err != nil {
		a.refuse(w, v, refusal{status: http.StatusInternalServerError, reason: "InternalServerError"})
		return
	}
	v.cutAfter(r)
	w.WriteHeader(http.StatusOK)
}

// check is why the push is refused, or nil: what the rules say, else what Apple would.
func (a *apns) check(v verdict, token string, r *http.Request, payload []byte) *refusal {
	h := r.Header
	switch {
	case v.Status != 0 && v.Status != http.StatusOK:
		return &refusal{status: v.Status, reason: v.Reason}
	case !strings.HasPrefix(r.URL.Path, apnsPath):
		return &refusal{status: http.StatusNotFound, reason: "BadPath"}
	case r.Method != http.MethodPost:
		return &refusal{status: http.StatusMethodNotAllowed, reason: "MethodNotAllowed"}
	case h.Get("apns-topic") == "":
		return &refusal{status: http.StatusBadRequest, reason: "MissingTopic"}
	case h.Get("apns-topic") != apnsTopic:
		return &refusal{status: http.StatusBadRequest, reason: "TopicDisallowed"}
	case h.Get("apns-push-type") != "alert":
		return &refusal{status: http.StatusBadRequest, reason: "InvalidPushType"}
	case len(h.Get("apns-collapse-id")) > 64:
		return &refusal{status: http.StatusBadRequest, reason: "BadCollapseId"}
	case len(payload) > apnsMaxPayload:
		return &refusal{status: http.StatusRequestEntityTooLarge, reason: "PayloadTooLarge"}
	case len(payload) == 0:
		return &refusal{status: http.StatusBadRequest, reason: "PayloadEmpty"}
	}
	if reason := a.authorize(h.Get("authorization")); reason != "" {
		return &refusal{status: http.StatusForbidden, reason: reason}
	}
	if _, err := hex.DecodeString(token); err != nil || len(token) < 64 {
		return &refusal{status: http.StatusBadRequest, reason: "BadDeviceToken"}
	}
	if isDead(token) {
		return &refusal{http.StatusGone, "Unregistered", map[string]any{"timestamp": time.Now().UnixMilli()}}
	}
	return nil
}

func (a *apns) refuse(w http.ResponseWriter, v verdict, no refusal) {
	a.desk.reject()
	body := map[string]any{}
	if no.reason != "" {
		body["reason"] = no.reason
	}
	for k, x := range no.more {
		body[k] = x
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(no.status)
	_, _ = w.Write(v.body(body))
}

// authorize is why the provider token is not good, or empty.
func (a *apns) authorize(header string) string {
	bearer, ok := strings.CutPrefix(header, "bearer ")
	if !ok {
		return "MissingProviderToken"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if bearer != a.verified {
		issued, reason := a.verify(bearer)
		if reason != "" {
			return reason
		}
		a.verified, a.issued = bearer, issued
	}
	if time.Since(a.issued) > apnsMaxAge {
		return "ExpiredProviderToken"
	}
	return ""
}

func (a *apns) verify(bearer string) (issued time.Time, reason string) {
	var claims jwt.RegisteredClaims
	t, err := jwt.ParseWithClaims(bearer, &claims, func(*jwt.Token) (any, error) { return a.key, nil },
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer(apnsTeam))
	switch {
	case err != nil || claims.IssuedAt == nil:
		return time.Time{}, "InvalidProviderToken"
	case t.Header["kid"] != apnsKeyID:
		return time.Time{}, "UnrelatedKeyIdInToken"
	}
	return claims.IssuedAt.Time, ""
}

func apnsEntry(token string, r *http.Request, payload []byte) Entry {
	e := Entry{Address: token, Ref: r.Header.Get("apns-id"), Headers: map[string]string{}}
	e.DeliveryID = deliveryOfUUID(e.Ref)
	for name, values := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "apns-") {
			e.Headers[name] = values[0]
		}
	}
	var p struct {
		APS struct {
			Alert struct {
				Title string `json:"title"`
				Body  string `json:"body"`
			} `json:"alert"`
		} `json:"aps"`
	}
	if json.Unmarshal(payload, &p) == nil {
		e.Title, e.Text = p.APS.Alert.Title, p.APS.Alert.Body
	}
	return e
}

// deliveryOfUUID is the text form of the delivery id that a UUID stands for; empty if it is none.
func deliveryOfUUID(uuid string) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil || len(raw) != len(tidings.DeliveryID{}) {
		return ""
	}
	return tidings.DeliveryID(raw).String()
}
