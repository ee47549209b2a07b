package simulator

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
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
		serve:   a.push,
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
	status    int
	reason    string
	timestamp int64 // milliseconds since 1970, of 410
}

// members are those of its body.
func (r refusal) members() map[string]any {
	m := map[string]any{}
	if r.reason != "" {
		m["reason"] = r.reason
	}
	if r.timestamp != 0 {
		m["timestamp"] = r.timestamp
	}
	return m
}

// push answers one push, outside the connection's reader where the rules make it wait.
func (a *apns) push(x *h2exchange) {
	token := strings.TrimPrefix(x.get(":path"), apnsPath)
	v := a.desk.ask(token)
	if !v.waits() {
		x.answer(a.decide(x, v, token))
		return
	}
	x.outside(func(ctx context.Context) {
		f := v.await(ctx)
		if f == serve {
			answer := a.decide(x, v, token)
			if f = v.awaitAfter(ctx); f == serve {
				x.answer(answer)
			}
		}
		if f == cutOff {
			x.cut()
		}
	})
}

// decide accepts or refuses a push, and makes the answer.
func (a *apns) decide(x *h2exchange, v verdict, token string) h2answer {
	id := x.get("apns-id")
	no := a.check(x, v, token)
	if no == nil && a.desk.accept(a.entry(x, token, id)) != nil {
		no = &refusal{status: http.StatusInternalServerError, reason: "InternalServerError"}
	}
	answer := h2answer{status: http.StatusOK, id: id, more: v.Headers, goAway: v.goAway}
	if no != nil {
		a.desk.reject()
		answer.status, answer.body = no.status, v.body(no.members())
	}
	return answer
}

// check is why the push is refused, or nil: what the rules say, else what Apple would.
func (a *apns) check(x *h2exchange, v verdict, token string) *refusal {
	topic := x.get("apns-topic")
	switch {
	case v.Status != 0 && v.Status != http.StatusOK:
		return &refusal{status: v.Status, reason: v.Reason}
	case !strings.HasPrefix(x.get(":path"), apnsPath):
		return &refusal{status: http.StatusNotFound, reason: "BadPath"}
	case x.get(":method") != http.MethodPost:
		return &refusal{status: http.StatusMethodNotAllowed, reason: "MethodNotAllowed"}
	case topic == "":
		return &refusal{status: http.StatusBadRequest, reason: "MissingTopic"}
	case topic != apnsTopic:
		return &refusal{status: http.StatusBadRequest, reason: "TopicDisallowed"}
	case x.get("apns-push-type") != "alert":
		return &refusal{status: http.StatusBadRequest, reason: "InvalidPushType"}
	case len(x.get("apns-collapse-id")) > 64:
		return &refusal{status: http.StatusBadRequest, reason: "BadCollapseId"}
	case len(x.body) > apnsMaxPayload:
		return &refusal{status: http.StatusRequestEntityTooLarge, reason: "PayloadTooLarge"}
	case len(x.body) == 0:
		return &refusal{status: http.StatusBadRequest, reason: "PayloadEmpty"}
	}
	if reason := a.authorize(x.get("authorization")); reason != "" {
		return &refusal{status: http.StatusForbidden, reason: reason}
	}
	if !isHex(token) || len(token) < 64 {
		return &refusal{status: http.StatusBadRequest, reason: "BadDeviceToken"}
	}
	if isDead(token) {
		return &refusal{http.StatusGone, "Unregistered", time.Now().UnixMilli()}
	}
	return nil
}

func isHex(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return true
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

// entry is the push as the ledger shows it; without a ledger it is not looked into.
func (a *apns) entry(x *h2exchange, token, id string) Entry {
	if !a.desk.keeps() {
		return Entry{}
	}
	e := Entry{Address: token, Ref: id, DeliveryID: deliveryOfUUID(id), Headers: map[string]string{}}
	for _, f := range x.fields {
		if strings.HasPrefix(f.Name, "apns-") {
			e.Headers[f.Name] = f.Value
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
	if json.Unmarshal(x.body, &p) == nil {
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
