// Package awssms sends text messages through AWS End User Messaging SMS.
//
// It promises one request for each Send. It must never decide what becomes of a phone number: it
// only says what AWS said.
package awssms

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sms "github.com/aws/aws-sdk-go-v2/service/pinpointsmsvoicev2"
	"github.com/aws/aws-sdk-go-v2/service/pinpointsmsvoicev2/types"

	"tidings"
	"tidings/channels"
)

// The bounds of TimeToLive, in seconds.
const (
	minTimeToLive = 5
	maxTimeToLive = 259200
)

// Config is the operator's part. Without keys the SDK's own chain finds the credentials:
// environment, shared files, container or machine role.
type Config struct {
	Region              string          `yaml:"region"`
	OriginationIdentity string          `yaml:"origination_identity"` // number, sender id or pool, or the ARN of one
	AccessKeyID         string          `yaml:"access_key_id"`
	SecretAccessKey     channels.Secret `yaml:"secret_access_key"`
	SNSTopics           []string        `yaml:"sns_topics"` // who may report what became of messages; refused until reports are read
}

// Validate says what is missing.
func (c *Config) Validate() error {
	switch {
	case c.Region == "":
		return errors.New("region is missing")
	case c.OriginationIdentity == "":
		return errors.New("origination_identity is missing")
	case (c.AccessKeyID == "") != (c.SecretAccessKey == ""):
		return errors.New("give both access_key_id and secret_access_key, or neither")
	case len(c.SNSTopics) > 0:
		return errors.New("sns_topics is not supported yet: remove it")
	}
	return nil
}

// Account names the account in its region: two providers of one are one. Without keys it is that of
// the machine.
func (c *Config) Account() string { return c.Region + " " + c.AccessKeyID }

// Home is the base URL that an endpoint replaces.
func (c *Config) Home() string { return "https://sms-voice." + c.Region + ".amazonaws.com" }

// Vendor is AWS End User Messaging SMS as listed in channels/all.
func Vendor() channels.Vendor {
	return channels.Define("aws_sms", tidings.SMS, channels.Traits{}, Config{}, build)
}

type provider struct {
	origination string
	client      *sms.Client
}

func build(c Config, s channels.Settings) (channels.Provider, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("build aws_sms: %w", err)
	}
	identity, err := c.identity()
	if err != nil {
		return nil, fmt.Errorf("build aws_sms: find credentials: %w", err)
	}
	options := sms.Options{
		Region:      c.Region,
		Credentials: aws.NewCredentialsCache(identity),
		HTTPClient:  oneRequest(s.Client),
		Retryer:     aws.NopRetryer{},
	}
	if s.Endpoint != "" {
		options.BaseEndpoint = &s.Endpoint
	}
	return &provider{origination: c.OriginationIdentity, client: sms.New(options)}, nil
}

// identity is the configured key, else the SDK's chain, which makes requests of its own with a
// client of its own.
func (c *Config) identity() (aws.CredentialsProvider, error) {
	if c.AccessKeyID != "" {
		return credentials.NewStaticCredentialsProvider(c.AccessKeyID, string(c.SecretAccessKey), ""), nil
	}
	found, err := config.LoadDefaultConfig(context.Background(), config.WithRegion(c.Region))
	if err != nil {
		return nil, err
	}
	return chain{found.Credentials}, nil
}

// A chain says that it is our set-up that is wrong when it finds no credentials.
type chain struct{ aws.CredentialsProvider }

// Retrieve finds the credentials.
func (c chain) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil && ctx.Err() == nil {
		err = &channels.Error{Fault: tidings.ConfigFault, Code: "no credentials", Err: err}
	}
	return found, err
}

// oneRequest is a client that makes one request for each call and follows no redirect.
func oneRequest(c *http.Client) *http.Client {
	one := *c
	if one.Transport == nil {
		one.Transport = http.DefaultTransport
	}
	one.Transport = channels.Record(one.Transport)
	one.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &one
}

// Send hands a text message to AWS. Its reports carry the delivery and the attempt as context.
func (p *provider) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	now := time.Now()
	input, inTime := p.input(m, now)
	if !inTime {
		return channels.Answer{}, &channels.Error{Fault: tidings.OutcomeExpired}
	}
	call := new(channels.Call)
	output, err := p.client.SendTextMessage(call.Watch(ctx), input)
	switch {
	case err == nil && output.MessageId != nil && *output.MessageId != "":
		return channels.Answer{Ref: *output.MessageId, HTTPStatus: call.HTTPStatus}, nil
	case err == nil:
		return channels.Answer{}, &channels.Error{Fault: tidings.OutcomeUnknown, HTTPStatus: call.HTTPStatus, Err: errUnreadable}
	case call.HTTPStatus == 0:
		return channels.Answer{}, unanswered(call, err, m.Address)
	}
	return channels.Answer{}, classify(call, err, m.Address, now)
}

var errUnreadable = errors.New("the answer names no message")

// input reports false for a message whose time is over.
func (p *provider) input(m *channels.Message, now time.Time) (input *sms.SendTextMessageInput, inTime bool) {
	input = &sms.SendTextMessageInput{
		DestinationPhoneNumber: &m.Address,
		OriginationIdentity:    &p.origination,
		MessageBody:            &m.Content.Body,
		MessageType:            types.MessageTypeTransactional,
		Context:                map[string]string{"delivery": m.Delivery.String(), "attempt": strconv.Itoa(m.Attempt)},
	}
	if m.Marketing {
		input.MessageType = types.MessageTypePromotional
	}
	if m.ExpiresAt.IsZero() {
		return input, true
	}
	left := m.ExpiresAt.Sub(now)
	ttl := int32(min(max(left/time.Second, minTimeToLive), maxTimeToLive))
	input.TimeToLive = &ttl
	return input, left > 0
}
