package twilio

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/twilio/twilio-go/client"

	"tidings"
	"tidings/channels"
)

// signatureHeader carries the HMAC-SHA1 of the public URL and the sorted form
// (https://www.twilio.com/docs/usage/security).
const signatureHeader = "X-Twilio-Signature"

// maxAttempt bounds the number of an attempt that a callback may name.
const maxAttempt = 1 << 20

// ReadReceipts checks the signature of a status callback and reads it. A status that is not
// known gives no receipt.
func (p *provider) ReadReceipts(r *http.Request, publicURL string, body []byte) ([]tidings.Receipt, error) {
	if !p.signed(publicURL, body, r.Header.Get(signatureHeader)) {
		return nil, channels.ErrForged
	}
	return readReceipts(p.name, publicURL, body, time.Now().UTC())
}

// signed reports whether either auth token made the signature.
func (p *provider) signed(publicURL string, body []byte, signature string) bool {
	if signature == "" {
		return false
	}
	for _, token := range []channels.Secret{p.AuthToken, p.AuthTokenSecondary} {
		if token == "" {
			continue
		}
		validator := client.NewRequestValidator(string(token))
		if validator.ValidateBody(publicURL, body, signature) {
			return true
		}
	}
	return false
}

// readReceipts reads a callback that is known to be Twilio's.
func readReceipts(provider, publicURL string, body []byte, now time.Time) ([]tidings.Receipt, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errors.New("read twilio receipt: the body is not a form")
	}
	status, known := statusOf(form.Get("MessageStatus"))
	if !known {
		return nil, nil
	}
	receipt := tidings.Receipt{Provider: provider, Ref: form.Get("MessageSid"), Status: status, At: now, ReceivedAt: now}
	receipt.Delivery, receipt.Attempt = addressee(publicURL)
	if status == tidings.ReceiptFailed {
		receipt.Outcome, receipt.Code = failure(form)
	}
	return []tidings.Receipt{receipt}, nil
}

// statusOf is the status of a receipt by Twilio's name. Callbacks come in any order.
func statusOf(name string) (status tidings.ReceiptStatus, known bool) {
	switch name {
	case "accepted", "scheduled", "queued", "sending":
		return tidings.ReceiptAccepted, true
	case "sent", "partially_delivered":
		return tidings.ReceiptSent, true
	case "delivered", "read":
		return tidings.ReceiptDelivered, true
	case "undelivered", "failed", "canceled":
		return tidings.ReceiptFailed, true
	}
	return "", false
}

// failure is the fault that a negative receipt amounts to, and its code. What is not known is
// taken like Twilio's own "unknown error".
func failure(form url.Values) (fault tidings.Outcome, code string) {
	number, err := strconv.Atoi(form.Get("ErrorCode"))
	if err != nil || number <= 0 {
		return tidings.RecipientTemp, ""
	}
	fault = ofCode(number)
	if fault == "" {
		fault = tidings.RecipientTemp
	}
	return fault, strconv.Itoa(number)
}

// addressee is the delivery and the attempt that the callback's URL names, as far as it does.
func addressee(publicURL string) (id tidings.DeliveryID, attempt int) {
	target, err := url.Parse(publicURL)
	if err != nil {
		return id, 0
	}
	query := target.Query()
	id, err = tidings.ParseDeliveryID(query.Get("d"))
	if err != nil {
		return tidings.DeliveryID{}, 0
	}
	attempt, err = strconv.Atoi(query.Get("a"))
	if err != nil || attempt < 1 || attempt > maxAttempt {
		return id, 0
	}
	return id, attempt
}
