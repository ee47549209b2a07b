package awssms_test

import (
	"net"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels"
	"tidings/channels/channeltest"
	"tidings/channels/simulator"
	"tidings/channels/sms/awssms"
	"tidings/internal/testkit"
)

func TestAWSSMSKeepsTheProvidersPromises(t *testing.T) {
	channeltest.Run(t, channeltest.Harness{
		Vendor:       awssms.Vendor(),
		Address:      "+15550142",
		Content:      tidings.Content{Body: "Your parcel 4711 is on its way"},
		ShowsAttempt: true,
		RetryAfter:   true,
		Expires: func(e simulator.Entry, at time.Time) bool {
			seconds, err := strconv.Atoi(e.Headers["time_to_live"])
			left := at.Sub(e.At) - time.Duration(seconds)*time.Second
			return err == nil && left >= 0 && left < 2*time.Second
		},
		Answers: answers(),
	})
}

// answers are the rows of the fault table.
func answers() []channeltest.Answer {
	named := func(status int, reason string) channeltest.Answer {
		return channeltest.Answer{Do: simulator.Do{Status: status, Reason: reason}}
	}
	bare := func(status int, name, body string) channeltest.Answer {
		return channeltest.Answer{Name: name, Do: simulator.Do{Status: status, Body: jsontext.Value(body)}}
	}
	slow := channeltest.Answer{Name: "ThrottlingException, again after 7 s", Do: simulator.Do{
		Status: 400, Reason: "ThrottlingException", Headers: map[string]string{"Retry-After": "7"}}}
	return []channeltest.Answer{
		named(400, "ConflictException.DESTINATION_PHONE_NUMBER_OPTED_OUT"),
		named(400, "ConflictException.DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION"),
		named(400, "ConflictException.DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE"),
		named(400, "ConflictException.DESTINATION_PHONE_NUMBER_NOT_VERIFIED"),
		named(400, "ConflictException.NO_ORIGINATION_IDENTITIES_FOUND"),
		named(400, "ConflictException.RESOURCE_NOT_ACTIVE"),
		named(400, "AccessDeniedException.ACCOUNT_DISABLED"),
		named(400, "AccessDeniedException.INSUFFICIENT_ACCOUNT_REPUTATION"),
		named(400, "ServiceQuotaExceededException.MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT"),
		named(400, "ServiceQuotaExceededException.DAILY_DESTINATION_CALL_LIMIT"),
		named(400, "ValidationException.SENDER_ID_NOT_REGISTERED"), named(400, "ValidationException.SENDER_ID_NOT_SUPPORTED"),
		named(400, "ValidationException.SENDER_ID_REQUIRES_REGISTRATION"),
		named(400, "ValidationException.INVALID_IDENTITY_FOR_DESTINATION_COUNTRY"),
		named(400, "ValidationException.INVALID_ARN"), named(400, "ValidationException.RESOURCE_NOT_ACCESSIBLE"),
		named(400, "ValidationException.COUNTRY_NOT_ENABLED"), named(400, "ValidationException.DESTINATION_COUNTRY_BLOCKED"),
		named(400, "ValidationException.INTERNATIONAL_SENDING_NOT_SUPPORTED"),
		named(400, "ValidationException.PRICE_OVER_THRESHOLD"), named(400, "ValidationException.MAXIMUM_SIZE_EXCEEDED"),
		named(400, "ValidationException.INVALID_PARAMETER"), named(400, "ValidationException.NEVER_HEARD_OF"),
		named(400, "ResourceNotFoundException"), slow, named(400, "TooManyRequestsException"),
		named(500, "InternalServerException"), named(503, "ServiceUnavailableException"),
		named(403, "UnrecognizedClientException"), named(403, "InvalidSignatureException"), named(403, "ExpiredTokenException"),
		named(400, "IncompleteSignatureException"), named(400, "NeverHeardOfException"),
		bare(200, "a body that is no message", `"fine"`), bare(200, "an answer without an id", `{"MessageId":null}`),
		bare(302, "a redirect", `""`), bare(400, "a body without an exception", `"no"`), bare(403, "a body without an exception", `"no"`),
		bare(404, "a body without an exception", `"no"`), bare(429, "a body without an exception", `"no"`),
		bare(500, "a body without an exception", `"no"`), bare(502, "something in between", `"no"`),
		bare(503, "a body without an exception", `"no"`), bare(504, "something in between", `"no"`),
	}
}

// send sends one message in virtual time and gives the fault, and what the service took.
func send(t *testing.T, adapt func(c *awssms.Config), left time.Duration, m channels.Message) (fault tidings.Outcome, taken []simulator.Entry) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		network, tape := testkit.NewNetwork(), &simulator.Tape{}
		client := &http.Client{Transport: &http.Transport{DialContext: network.Dial}}
		sim, err := simulator.Start(simulator.Settings{
			Listen: func(vendor string) (net.Listener, error) { return network.Listen(vendor + ":80") },
			Dial:   network.Dial, Ledger: tape, Dir: dir,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			client.CloseIdleConnections()
			if err := sim.Close(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}()
		config := &awssms.Config{Region: "eu-west-1", OriginationIdentity: "+15550101", AccessKeyID: "AKIASIMULATED0000000", SecretAccessKey: "any"}
		adapt(config)
		provider, err := awssms.Vendor().Build(config, channels.Settings{Name: "aws-sms", Endpoint: "http://aws_sms", Client: client})
		if err != nil {
			t.Fatal(err)
		}
		m.Delivery = tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 0)
		m.ExpiresAt = time.Now().Add(left)
		m.Address, m.Content.Body = "+15550142", "Your code is 482913"
		_, err = provider.Send(t.Context(), &m)
		fault = tidings.OK
		if err != nil {
			fault = channels.Classify(err).Fault
		}
		if taken, err = tape.Entries(); err != nil {
			t.Error(err)
		}
	})
	return fault, taken
}

func asConfigured(*awssms.Config) {}

func TestTheServiceHasAsLongAsIsLeftWithinItsBounds(t *testing.T) {
	for left, want := range map[time.Duration]string{time.Second: "5", 6 * time.Second: "6", time.Hour: "3600", 100 * time.Hour: "259200"} {
		fault, taken := send(t, asConfigured, left, channels.Message{})
		if fault != tidings.OK || len(taken) != 1 || taken[0].Headers["time_to_live"] != want {
			t.Errorf("%s left: %s, %+v", left, fault, taken)
		}
	}
	if fault, taken := send(t, asConfigured, 0, channels.Message{}); fault != tidings.OutcomeExpired || len(taken) != 0 {
		t.Errorf("nothing left: %s, %d sent", fault, len(taken))
	}
}

func TestMarketingIsSaidToBePromotional(t *testing.T) {
	for marketing, want := range map[bool]string{false: "TRANSACTIONAL", true: "PROMOTIONAL"} {
		_, taken := send(t, asConfigured, time.Minute, channels.Message{Marketing: marketing})
		if len(taken) != 1 || taken[0].Headers["message_type"] != want {
			t.Errorf("marketing %v: %+v", marketing, taken)
		}
	}
}

func TestASetUpThatAWSDoesNotKnowIsOurFault(t *testing.T) {
	for why, adapt := range map[string]func(c *awssms.Config){
		"another key":    func(c *awssms.Config) { c.AccessKeyID = "AKIAOTHER0000000000" },
		"another number": func(c *awssms.Config) { c.OriginationIdentity = "+15550199" },
	} {
		if fault, _ := send(t, adapt, time.Minute, channels.Message{}); fault != tidings.ConfigFault {
			t.Errorf("%s: %s", why, fault)
		}
	}
}

func TestWithoutCredentialsItIsOurFaultAndNothingIsSent(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
	} {
		t.Setenv(name, value)
	}
	none := func(c *awssms.Config) { c.AccessKeyID, c.SecretAccessKey = "", "" }
	fault, taken := send(t, none, time.Minute, channels.Message{})
	if fault != tidings.ConfigFault || len(taken) != 0 {
		t.Errorf("%s, %d sent", fault, len(taken))
	}
}

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	for _, c := range []struct {
		why string
		awssms.Config
		ok bool
	}{
		{"with keys", awssms.Config{Region: "r", OriginationIdentity: "o", AccessKeyID: "k", SecretAccessKey: "s"}, true},
		{"with the machine's own credentials", awssms.Config{Region: "r", OriginationIdentity: "o"}, true},
		{"no region", awssms.Config{OriginationIdentity: "o"}, false},
		{"no sender", awssms.Config{Region: "r"}, false},
		{"half a key", awssms.Config{Region: "r", OriginationIdentity: "o", AccessKeyID: "k"}, false},
		{"receipts, which are not read", awssms.Config{Region: "r", OriginationIdentity: "o", SNSTopics: []string{"arn"}}, false},
	} {
		if err := c.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}
