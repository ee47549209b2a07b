package simulator

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"
)

// What the simulated FCM knows of its customer.
const (
	fcmProject  = "tidings-simulated"
	fcmAccount  = "sender@tidings-simulated.iam.example.test"
	fcmKeyID    = "simulated"
	fcmScope    = "https://www.googleapis.com/auth/firebase.messaging"
	fcmTokenURI = "/token"
)

const (
	fcmMaxBody  = 64 << 10
	fcmLifetime = time.Hour // of an access token
)

// fcm is Firebase Cloud Messaging, HTTP v1, with Google's OAuth token endpoint beside it.
type fcm struct {
	http.Server
	desk *desk
	key  *rsa.PrivateKey

	mu     sync.Mutex
	tokens map[string]time.Time // guarded by mu; access token → when it expires
}

func openFCM(d *desk) (service, error) {
	text, _, err := d.keep("fcm.key", newRSAKey)
	if err != nil {
		return nil, err
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM(text)
	if err != nil {
		return nil, err
	}
	f := &fcm{desk: d, key: key, tokens: map[string]time.Time{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+fcmTokenURI, f.grant)
	mux.HandleFunc("POST /v1/projects/{project}/messages:send", f.send)
	f.Server = d.httpServer(mux)
	return f, f.writeCredentials()
}

func newRSAKey() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	return encodeKey(key)
}

func (f *fcm) config() []Line {
	return []Line{
		{"name", "fcm"}, {"type", f.desk.typ},
		{"credentials_file", f.desk.path("fcm.json")}, {"project", fcmProject},
		{"endpoint", "http://" + f.desk.address},
	}
}

func (f *fcm) report(context.Context, Report) error { return errNoReceipts }

// writeCredentials writes the service account's file, which names the token endpoint.
func (f *fcm) writeCredentials() error {
	key, err := encodeKey(f.key)
	if err != nil {
		return err
	}
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": fcmProject, "private_key_id": fcmKeyID,
		"private_key": string(key), "client_email": fcmAccount, "client_id": "1",
		"token_uri": "http://" + f.desk.address + fcmTokenURI,
	}, json.Deterministic(true))
	if err != nil {
		return err
	}
	return f.desk.write("fcm.json", account)
}

// grant answers a JWT bearer grant (RFC 7523) with an access token.
func (f *fcm) grant(w http.ResponseWriter, r *http.Request) {
	assertion := r.FormValue("assertion") // net/http notices a client that leaves once the body is read
	v := f.desk.sim.faults.matchOAuth(f.desk.typ)
	v.stall(r)
	v.prepare(w)
	if v.Status != 0 && v.Status != http.StatusOK {
		writeJSON(w, v.Status, map[string]string{"error": v.Reason})
		return
	}
	var claims struct {
		jwt.RegisteredClaims
		Scope string `json:"scope"`
	}
	_, err := jwt.ParseWithClaims(assertion, &claims, func(*jwt.Token) (any, error) { return f.key.Public(), nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(fcmAccount), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	if err != nil || r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || !strings.Contains(claims.Scope, fcmScope) {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "Invalid JWT Signature."})
		return
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:])
	token := "ya29." + hex.EncodeToString(raw[:])
	f.mu.Lock()
	f.tokens[token] = time.Now().Add(fcmLifetime)
	f.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(fcmLifetime.Seconds())})
}

// fcmMessage is as much of a message as is written down.
type fcmMessage struct {
	Token        string            `json:"token"`
	Data         map[string]string `json:"data"`
	Notification struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	} `json:"notification"`
	Android struct {
		CollapseKey  string `json:"collapse_key"`
		Priority     string `json:"priority"`
		TTL          string `json:"ttl"`
		Notification struct {
			Tag string `json:"tag"`
		} `json:"notification"`
	} `json:"android"`
}

// send answers one message.
func (f *fcm) send(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Message fcmMessage `json:"message"`
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, fcmMaxBody))
	if err != nil {
		return
	}
	bad := json.Unmarshal(text, &body)
	m := body.Message
	v := f.desk.ask(m.Token)
	v.stall(r)
	v.prepare(w)
	switch {
	case v.Status != 0 && v.Status != http.StatusOK:
		f.refuse(w, v, v.Status, v.Reason, "")
	case !f.authorized(r):
		f.refuse(w, v, http.StatusUnauthorized, "", "Request had invalid authentication credentials.")
	case r.PathValue("project") != fcmProject:
		f.refuse(w, v, http.StatusForbidden, "SENDER_ID_MISMATCH", "SenderId mismatch")
	case bad != nil || m.Token == "":
		f.refuse(w, v, http.StatusBadRequest, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token")
	case isDead(m.Token):
		f.refuse(w, v, http.StatusNotFound, "UNREGISTERED", "Requested entity was not found.")
	default:
		f.take(w, r, v, m)
	}
}

func (f *fcm) take(w http.ResponseWriter, r *http.Request, v verdict, m fcmMessage) {
	ref := "projects/" + fcmProject + "/messages/" + m.Data["tidings_delivery"]
	entry := Entry{
		Address: m.Token, Ref: ref, DeliveryID: m.Data["tidings_delivery"],
		Title: m.Notification.Title, Text: m.Notification.Body,
		Headers: map[string]string{
			"ttl": m.Android.TTL, "priority": m.Android.Priority,
			"collapse_key": m.Android.CollapseKey, "tag": m.Android.Notification.Tag,
		},
	}
	if err := f.desk.accept(entry); err != nil {
		f.refuse(w, v, http.StatusInternalServerError, "INTERNAL", "Internal error encountered.")
		return
	}
	v.cutAfter(r)
	writeJSON(w, http.StatusOK, map[string]string{"name": ref})
}

func (f *fcm) authorized(r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.tokens[token])
}

// refuse answers in Google's shape: a status of google.rpc.Code, and FCM's own code as a detail.
func (f *fcm) refuse(w http.ResponseWriter, v verdict, status int, code, text string) {
	f.desk.reject()
	e := map[string]any{"code": status, "message": text, "status": rpcStatus(status)}
	if code != "" {
		e["details"] = []any{map[string]any{
			"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code,
		}}
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(v.body(map[string]any{"error": e}))
}

// rpcStatus is the google.rpc.Code that Google answers beside an HTTP status.
func rpcStatus(status int) string {
	names := map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED",
		http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND",
		http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL",
		http.StatusServiceUnavailable: "UNAVAILABLE",
	}
	if name, ok := names[status]; ok {
		return name
	}
	return "UNKNOWN"
}
