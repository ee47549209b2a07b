package apns

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"tidings"
	"tidings/channels"
)

// maxPayload is Apple's bound for alerts, in bytes.
const maxPayload = 4096

type payload struct {
	APS struct {
		Alert struct {
			Title string `json:"title,omitzero"`
			Body  string `json:"body,omitzero"`
		} `json:"alert"`
	} `json:"aps"`
	URL      string             `json:"url,omitzero"`
	Data     map[string]string  `json:"data,omitempty"`
	Delivery tidings.DeliveryID `json:"tidings_delivery"` // for the phone app to report what was opened
}

// payloadOf is the message as Apple wants it; what Apple would refuse for its size is not tried.
func payloadOf(m *channels.Message) ([]byte, error) {
	p := payload{URL: m.Content.URL, Data: m.Content.Data, Delivery: m.Delivery}
	p.APS.Alert.Title, p.APS.Alert.Body = m.Content.Title, m.Content.Body
	text, err := json.Marshal(p, json.Deterministic(true))
	if err != nil {
		return nil, &channels.Error{Fault: tidings.ContentRejected, Code: "PayloadInvalid", Text: "the content is not valid UTF-8"}
	}
	if len(text) > maxPayload {
		return nil, &channels.Error{
			Fault: tidings.ContentRejected, Code: "PayloadTooLarge",
			Text: fmt.Sprintf("the payload has %d bytes, Apple takes %d", len(text), maxPayload),
		}
	}
	return text, nil
}
