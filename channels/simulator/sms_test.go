package simulator_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"tidings/channels/simulator"
)

// call makes a request of a simulated service and gives what it answered.
func call(t *testing.T, sim *simulator.Simulator, vendor, path, body string, header map[string]string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+sim.Address(vendor)+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	if user, password, ok := strings.Cut(header["login"], ":"); ok {
		r.SetBasicAuth(user, password)
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

func provider(t *testing.T, sim *simulator.Simulator, typ string) simulator.Provider {
	t.Helper()
	for _, p := range sim.Providers() {
		if p.Type == typ {
			return p
		}
	}
	t.Fatalf("%s is not simulated", typ)
	return simulator.Provider{}
}

func TestTwilioAnswersInItsOwnShape(t *testing.T) {
	tape := &simulator.Tape{}
	sim := start(t, simulator.Settings{Ledger: tape})
	twilio := provider(t, sim, "twilio")
	token, err := os.ReadFile(strings.TrimPrefix(twilio.Get("auth_token"), "file:"))
	if err != nil {
		t.Fatal(err)
	}
	account := twilio.Get("account_sid")
	good, path := account+":"+string(token), "/2010-04-01/Accounts/"+account+"/Messages.json"
	for _, c := range []struct {
		why, login, path string
		form             url.Values
		status           int
		holds            []string
	}{
		{"accepted", good, path, url.Values{"To": {"+15550142"}, "From": {"+15550100"}, "Body": {"hi"}}, 201, []string{`"status":"queued"`, `"sid":"SM`}},
		{"wrong token", account + ":x", path, url.Values{"To": {"+15550142"}, "From": {"+15550100"}, "Body": {"hi"}}, 401, []string{`"code":20003`, `"status":401`}},
		{"another account", good, strings.Replace(path, "AC", "AD", 1), url.Values{"To": {"+15550142"}, "From": {"+15550100"}, "Body": {"hi"}}, 401, []string{`"code":20003`}},
		{"dead number", good, path, url.Values{"To": {"+15550000"}, "From": {"+15550100"}, "Body": {"hi"}}, 400, []string{`"code":21211`, `"more_info":"https://www.twilio.com/docs/errors/21211"`}},
		{"no text", good, path, url.Values{"To": {"+15550142"}, "From": {"+15550100"}}, 400, []string{`"code":21602`}},
		{"no sender", good, path, url.Values{"To": {"+15550142"}, "Body": {"hi"}}, 400, []string{`"code":21603`}},
	} {
		status, answer := call(t, sim, "twilio", c.path, c.form.Encode(), map[string]string{"login": c.login, "Content-Type": "application/x-www-form-urlencoded"})
		if status != c.status {
			t.Errorf("%s: %d %s", c.why, status, answer)
		}
		for _, part := range c.holds {
			if !strings.Contains(answer, part) {
				t.Errorf("%s: no %s in %s", c.why, part, answer)
			}
		}
	}
	if entries, err := tape.Entries(); err != nil || len(entries) != 1 {
		t.Errorf("%d messages in the ledger, %v", len(entries), err)
	}
}

func TestAWSAnswersInItsOwnShape(t *testing.T) {
	sim := start(t, simulator.Settings{})
	key := provider(t, sim, "aws_sms").Get("access_key_id")
	signed := "AWS4-HMAC-SHA256 Credential=" + key + "/20261201/eu-west-1/sms-voice/aws4_request, SignedHeaders=host, Signature=00"
	target := "PinpointSMSVoiceV2.SendTextMessage"
	message := `{"DestinationPhoneNumber":"+15550142","OriginationIdentity":"+15550101","MessageBody":"hi"}`
	for _, c := range []struct {
		why, authorization, target, body string
		status                           int
		holds                            string
	}{
		{"accepted", signed, target, message, 200, `"MessageId":"`},
		{"unsigned", "", target, message, 400, "UnrecognizedClientException"},
		{"signed with another key", strings.Replace(signed, key, "AKIAOTHER", 1), target, message, 400, "UnrecognizedClientException"},
		{"signed for another service", strings.Replace(signed, "sms-voice", "sns", 1), target, message, 400, "UnrecognizedClientException"},
		{"another operation", signed, "PinpointSMSVoiceV2.SendVoiceMessage", message, 400, "UnknownOperationException"},
		{"no JSON", signed, target, "{", 400, "SerializationException"},
		{"no text", signed, target, `{"DestinationPhoneNumber":"+15550142","OriginationIdentity":"+15550101"}`, 400, `"Reason":"INVALID_PARAMETER"`},
		{"another sender", signed, target, strings.Replace(message, "0101", "0199", 1), 400, "ResourceNotFoundException"},
	} {
		status, answer := call(t, sim, "aws_sms", "/", c.body, map[string]string{"Authorization": c.authorization, "X-Amz-Target": c.target})
		if status != c.status || !strings.Contains(answer, c.holds) {
			t.Errorf("%s: %d %s", c.why, status, answer)
		}
	}
}

func TestAReportOfSomethingNeverAcceptedIsRefused(t *testing.T) {
	sim := start(t, simulator.Settings{})
	for _, report := range []string{
		`{"provider":"twilio","ref":"SM1","status":"delivered"}`, `{"provider":"aws_sms","ref":"1","event":"TEXT_DELIVERED"}`,
		`{"provider":"smtp","ref":"1","status":"delivered"}`, `{"provider":"pigeon","ref":"1","status":"delivered"}`,
	} {
		if status, answer := control(t, sim, "POST", "/receipts", report); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", report, status, answer)
		}
	}
}
