package simulator

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// What the simulated AWS knows of its customer.
const (
	awsRegion      = "eu-west-1"
	awsAccessKeyID = "AKIASIMULATED0000000"
	awsOrigination = "+15550101"
)

const (
	awsSMSTarget  = "PinpointSMSVoiceV2.SendTextMessage"
	awsMaxBody    = 64 << 10
	awsSigning    = "AWS4-HMAC-SHA256"
	awsSMSService = "sms-voice"
)

// awsSMS is AWS End User Messaging SMS, JSON protocol 1.0. It knows its customer by the access
// key that a request was signed with, and does not recompute the signature.
type awsSMS struct {
	http.Server
	desk       *desk
	secretFile string
}

func openAWSSMS(d *desk) (service, error) {
	_, file, err := d.keep("aws.secret", func() ([]byte, error) { return []byte(rand.Text()), nil })
	if err != nil {
		return nil, err
	}
	a := &awsSMS{desk: d, secretFile: file}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", a.send)
	a.Server = d.httpServer(mux)
	return a, nil
}

func (a *awsSMS) config() []Line {
	return []Line{
		{"name", "aws-sms"}, {"type", a.desk.typ},
		{"region", awsRegion}, {"origination_identity", awsOrigination},
		{"access_key_id", awsAccessKeyID}, {"secret_access_key", "file:" + a.secretFile},
		{"endpoint", "http://" + a.desk.address},
	}
}

func (a *awsSMS) report(context.Context, Report) error { return errNoReceipts }

// awsSMSInput is as much of a request as is written down.
type awsSMSInput struct {
	DestinationPhoneNumber string
	OriginationIdentity    string
	MessageBody            string
	MessageType            string
	TimeToLive             int
	Context                map[string]string
}

// awsError is a refusal: an exception, and the reason within it where it has one.
type awsError struct {
	status             int
	exception, message string
	reason             string
}

// send answers one message.
func (a *awsSMS) send(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, awsMaxBody))
	if err != nil {
		return
	}
	var in awsSMSInput
	bad := json.Unmarshal(text, &in)
	v := a.desk.ask(in.DestinationPhoneNumber)
	v.stall(r)
	v.prepare(w)
	if no := a.check(v, r, in, bad); no != nil {
		a.refuse(w, v, *no)
		return
	}
	a.take(w, r, v, in)
}

// check is why the message is refused, or nil: what the rules say, else what AWS would. A dead
// number is accepted, as AWS does: its reports tell.
func (a *awsSMS) check(v verdict, r *http.Request, in awsSMSInput, bad error) *awsError {
	switch {
	case v.Status != 0 && v.Status != http.StatusOK:
		return awsRule(v)
	case !signedBy(r, awsAccessKeyID, awsSMSService):
		return &awsError{http.StatusBadRequest, "UnrecognizedClientException", "The security token included in the request is invalid.", ""}
	case r.Header.Get("X-Amz-Target") != awsSMSTarget:
		return &awsError{http.StatusBadRequest, "UnknownOperationException", "", ""}
	case bad != nil:
		return &awsError{http.StatusBadRequest, "SerializationException", "", ""}
	case !strings.HasPrefix(in.DestinationPhoneNumber, "+") || in.MessageBody == "":
		return &awsError{http.StatusBadRequest, "ValidationException", "Provided DestinationPhoneNumber or MessageBody is invalid", "INVALID_PARAMETER"}
	case in.OriginationIdentity != awsOrigination:
		return &awsError{http.StatusBadRequest, "ResourceNotFoundException", "The origination identity could not be found", ""}
	}
	return nil
}

// awsRule is the refusal that a rule asks for. The reason is an exception, the reason of the
// usual exception of that status, or both, joined by a dot: "ConflictException.RESOURCE_NOT_ACTIVE".
func awsRule(v verdict) *awsError {
	usual := map[int]string{
		http.StatusBadRequest: "ValidationException", http.StatusForbidden: "AccessDeniedException",
		http.StatusTooManyRequests: "ThrottlingException", http.StatusConflict: "ConflictException",
		http.StatusInternalServerError: "InternalServerException", http.StatusServiceUnavailable: "ServiceUnavailable",
	}
	no := &awsError{status: v.Status, exception: usual[v.Status], message: http.StatusText(v.Status)}
	first, second, both := strings.Cut(v.Reason, ".")
	switch {
	case both:
		no.exception, no.reason = first, second
	case strings.HasSuffix(first, "Exception"):
		no.exception = first
	case first != "":
		no.reason = first
	}
	return no
}

// signedBy reports whether a request carries a signature, version 4, of a key for a service.
func signedBy(r *http.Request, keyID, service string) bool {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	credential, found := strings.CutPrefix(strings.TrimSpace(rest), "Credential="+keyID+"/")
	scope := strings.Split(strings.SplitN(credential, ",", 2)[0], "/") // date, region, service, aws4_request
	return scheme == awsSigning && found && len(scope) == 4 && scope[2] == service && strings.Contains(rest, "Signature=")
}

func (a *awsSMS) take(w http.ResponseWriter, r *http.Request, v verdict, in awsSMSInput) {
	attempt, _ := strconv.Atoi(in.Context["attempt"])
	ref := uuid.NewString()
	entry := Entry{
		Address: in.DestinationPhoneNumber, Ref: ref, DeliveryID: in.Context["delivery"], Attempt: attempt, Text: in.MessageBody,
		Headers: map[string]string{"origination_identity": in.OriginationIdentity, "message_type": in.MessageType},
	}
	if in.TimeToLive > 0 {
		entry.Headers["time_to_live"] = strconv.Itoa(in.TimeToLive)
	}
	if err := a.desk.accept(entry); err != nil {
		a.refuse(w, v, awsError{http.StatusInternalServerError, "InternalServerException", "", ""})
		return
	}
	v.cutAfter(r)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = w.Write(v.body(map[string]any{"MessageId": ref}))
}

func (a *awsSMS) refuse(w http.ResponseWriter, v verdict, no awsError) {
	a.desk.reject()
	body := map[string]any{"Message": no.message}
	if no.exception != "" {
		body["__type"] = "com.amazonaws.pinpointsmsvoicev2#" + no.exception
	}
	if no.reason != "" {
		body["Reason"] = no.reason
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(no.status)
	_, _ = w.Write(v.body(body))
}
