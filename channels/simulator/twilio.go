package simulator

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// What the simulated Twilio knows of its customer.
const (
	twilioAccount = "AC00000000000000000000000000000000"
	twilioFrom    = "+15550100"
)

const (
	twilioMaxBody = 64 << 10
	twilioKept    = 100_000 // how many accepted messages can still be reported on
)

// twilio is Twilio's Messages API, with its status callbacks.
type twilio struct {
	http.Server
	desk      *desk
	token     string // signs callbacks
	tokenFile string

	mu   sync.Mutex
	sent map[string]twilioMessage // guarded by mu; by SID
	sids []string                 // guarded by mu; the keys of sent, oldest first
}

// twilioMessage is what a callback repeats.
type twilioMessage struct{ sid, to, from, callback string }

func openTwilio(d *desk) (service, error) {
	token, file, err := d.keep("twilio.token", func() ([]byte, error) { return []byte(randomHex(16)), nil })
	if err != nil {
		return nil, err
	}
	t := &twilio{desk: d, token: string(token), tokenFile: file, sent: map[string]twilioMessage{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2010-04-01/Accounts/{account}/Messages.json", t.send)
	t.Server = d.httpServer(mux)
	return t, nil
}

func (t *twilio) config() []Line {
	return []Line{
		{"name", "twilio"}, {"type", t.desk.typ},
		{"account_sid", twilioAccount}, {"auth_token", "file:" + t.tokenFile}, {"from", twilioFrom},
		{"endpoint", "http://" + t.desk.address},
	}
}

// twilioError is a refusal; code 0 leaves it out.
type twilioError struct {
	status, code int
	message      string
}

// send answers one message.
func (t *twilio) send(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, twilioMaxBody)
	if err := r.ParseForm(); err != nil {
		t.desk.ask("").stall(r)
		t.refuse(w, verdict{}, twilioError{http.StatusBadRequest, 21620, "Invalid form"})
		return
	}
	v := t.desk.ask(r.PostForm.Get("To"))
	v.stall(r)
	v.prepare(w)
	if no := t.check(v, r); no != nil {
		t.refuse(w, v, *no)
		return
	}
	t.take(w, r, v)
}

// check is why the message is refused, or nil: what the rules say, else what Twilio would.
func (t *twilio) check(v verdict, r *http.Request) *twilioError {
	to := r.PostForm.Get("To")
	switch {
	case v.Status != 0 && (v.Status < 200 || v.Status > 299):
		return twilioRule(v)
	case !t.authorized(r):
		return &twilioError{http.StatusUnauthorized, 20003, "Authenticate"}
	case r.PostForm.Get("From") == "" && r.PostForm.Get("MessagingServiceSid") == "":
		return &twilioError{http.StatusBadRequest, 21603, "A 'From' phone number is required."}
	case r.PostForm.Get("Body") == "":
		return &twilioError{http.StatusBadRequest, 21602, "Message body is required."}
	case isDead(to) || len(to) < 8 || to[0] != '+':
		return &twilioError{http.StatusBadRequest, 21211, "The 'To' number " + to + " is not a valid phone number."}
	}
	return nil
}

// twilioRule is the refusal that a rule asks for. A reason that is no number is only said.
func twilioRule(v verdict) *twilioError {
	no := twilioError{v.Status, 20000 + v.Status, http.StatusText(v.Status)}
	if v.Reason != "" {
		no.code, no.message = 0, v.Reason
	}
	if code, err := strconv.Atoi(v.Reason); err == nil {
		no.code = code
	}
	return &no
}

func (t *twilio) authorized(r *http.Request) bool {
	account, token, ok := r.BasicAuth()
	return ok && account == twilioAccount && r.PathValue("account") == twilioAccount &&
		subtle.ConstantTimeCompare([]byte(token), []byte(t.token)) == 1
}

func (t *twilio) take(w http.ResponseWriter, r *http.Request, v verdict) {
	form := r.PostForm
	m := twilioMessage{sid: "SM" + randomHex(16), to: form.Get("To"), from: form.Get("From"), callback: form.Get("StatusCallback")}
	if err := t.desk.accept(twilioEntry(m, form)); err != nil {
		t.refuse(w, v, twilioError{http.StatusInternalServerError, 20500, "Internal Server Error"})
		return
	}
	t.keep(m)
	t.schedule(m, v.Receipts)
	v.cutAfter(r)
	now := time.Now().UTC().Format(time.RFC1123Z)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(v.body(map[string]any{
		"sid": m.sid, "account_sid": twilioAccount, "to": m.to, "from": m.from, "body": form.Get("Body"),
		"status": "queued", "direction": "outbound-api", "api_version": "2010-04-01", "num_segments": "1", "num_media": "0",
		"date_created": now, "date_updated": now, "date_sent": nil, "error_code": nil, "error_message": nil,
		"uri": "/2010-04-01/Accounts/" + twilioAccount + "/Messages/" + m.sid + ".json",
	}))
}

func twilioEntry(m twilioMessage, form url.Values) Entry {
	e := Entry{Address: m.to, Ref: m.sid, Text: form.Get("Body"), Headers: map[string]string{}}
	for name, key := range map[string]string{
		"from": "From", "messaging_service_sid": "MessagingServiceSid",
		"validity_period": "ValidityPeriod", "status_callback": "StatusCallback",
	} {
		if form.Has(key) {
			e.Headers[name] = form.Get(key)
		}
	}
	if callback, err := url.Parse(m.callback); err == nil {
		e.DeliveryID = callback.Query().Get("d")
		e.Attempt, _ = strconv.Atoi(callback.Query().Get("a"))
	}
	return e
}

func (t *twilio) refuse(w http.ResponseWriter, v verdict, no twilioError) {
	t.desk.reject()
	body := map[string]any{"message": no.message, "status": no.status}
	if no.code != 0 {
		body["code"] = no.code
		body["more_info"] = "https://www.twilio.com/docs/errors/" + strconv.Itoa(no.code)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(no.status)
	_, _ = w.Write(v.body(body))
}

// randomHex is n random bytes in hexadecimal.
func randomHex(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}
