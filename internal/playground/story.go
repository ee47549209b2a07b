package playground

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tidings/channels/simulator"
)

// A Step is one scene of the story: what was done, whether it came out as it should, and the
// notification to ask about.
type Step struct {
	Step         string `json:"step"`
	OK           bool   `json:"ok"`
	Notification string `json:"notification,omitempty"`
	Text         string `json:"text"`
}

// story is what a scene may use.
type story struct {
	api    caller
	sim    *simulator.Simulator
	ledger string
	tell   func(Step)
}

// A caller speaks to the service's API.
type caller interface {
	Do(ctx context.Context, method, path string, in, out any) error
}

// The people and devices of the story are made up; the numbers are the fictitious 555 ones.
const (
	annID     = "u_ann"
	annEmail  = "ann@example.test"
	annPhone  = "+15550123001"
	annDevice = "a11ce0000000000000000000000000000000000000000000000000000000a11c"
	bobID     = "u_bob"
	bobDevice = "deadbeef0000000000000000000000000000000000000000000000000000beef"
	carlaID   = "u_carla"
	carlaMail = "carla@example.test"
)

// mailLines is how much of a mail the story shows; the ledger has it whole.
const mailLines = 9

// sceneTime is how long a scene may take before it counts as failed.
const sceneTime = 20 * time.Second

// run plays every scene and says whether all came out as they should. It leaves no faults behind.
func (s *story) run(ctx context.Context) (bool, error) {
	if err := s.people(ctx); err != nil {
		return false, fmt.Errorf("prepare the story: %w", err)
	}
	scenes := []struct {
		name string
		play func(ctx context.Context) (Step, error)
	}{
		{"retry", s.pushThatFailsTwice},
		{"fallback", s.textThatTakesTheOtherProvider},
		{"email", s.mailThatCanBeRead},
		{"dead_token", s.deviceThatIsGone},
		{"opt_out", s.userWhoSaidNo},
		{"duplicate", s.requestSentTwice},
		{"trail", s.answerForSupport},
	}
	all := true
	for _, scene := range scenes {
		step, err := s.play(ctx, scene.play)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil {
			step.OK, step.Text = false, strings.TrimPrefix(step.Text+": "+err.Error(), ": ")
		}
		step.Step = scene.name
		all = all && step.OK
		s.tell(step)
	}
	return all, nil
}

func (s *story) play(ctx context.Context, play func(ctx context.Context) (Step, error)) (Step, error) {
	ctx, cancel := context.WithTimeout(ctx, sceneTime)
	defer cancel()
	defer s.sim.ClearFaults()
	return play(ctx)
}

func (s *story) people(ctx context.Context) error {
	put := func(id string, user map[string]any) error {
		return s.api.Do(ctx, http.MethodPut, "/v1/users/"+id, user, nil)
	}
	device := func(id, token string) error {
		body := map[string]any{"channel": "push", "provider": "apns", "token": token}
		return s.api.Do(ctx, http.MethodPost, "/v1/users/"+id+"/addresses", body, nil)
	}
	return errors.Join(
		put(annID, map[string]any{"locale": "en", "timezone": "Europe/Berlin", "email": annEmail, "phone": annPhone}),
		device(annID, annDevice),
		put(bobID, map[string]any{"locale": "de"}),
		device(bobID, bobDevice),
		put(carlaID, map[string]any{"locale": "en", "email": carlaMail}),
	)
}

func (s *story) pushThatFailsTwice(ctx context.Context) (Step, error) {
	err := s.fault(`[{"provider":"apns","address":"` + annDevice + `","times":2,"do":{"status":503,"reason":"ServiceUnavailable"}}]`)
	if err != nil {
		return Step{}, err
	}
	t, err := s.follow(ctx, post{Type: "order.shipped", User: annID, Channels: []string{"push"},
		Data: map[string]any{"order": "4711", "carrier": "UPS"}})
	return t.step(t.Status == "sent" && t.outcomes() == "transient transient ok",
		"APNs answered 503 twice, then took the push"), err
}

func (s *story) textThatTakesTheOtherProvider(ctx context.Context) (Step, error) {
	err := s.fault(`[{"provider":"twilio","address":"` + annPhone + `","do":{"status":503}}]`)
	if err != nil {
		return Step{}, err
	}
	t, err := s.follow(ctx, post{Type: "payment.failed", User: annID, Channels: []string{"sms"},
		Data: map[string]any{"amount": 1999, "currency": "EUR"}})
	return t.step(t.arrived() && t.providers() == "twilio aws-sms",
		"Twilio was down, so the text went out through AWS"), err
}

func (s *story) mailThatCanBeRead(ctx context.Context) (Step, error) {
	t, err := s.follow(ctx, post{Type: "order.shipped", User: carlaID, Channels: []string{"email"},
		Data: map[string]any{"order": "4712", "carrier": "DHL"}})
	if err != nil || len(t.Deliveries) != 1 {
		return t.step(false, "an e-mail was posted"), err
	}
	mails, err := accepted(s.ledger, t.Deliveries[0].ID)
	if err != nil || len(mails) != 1 {
		return t.step(false, fmt.Sprintf("the mail server has %d copies of the e-mail", len(mails))), err
	}
	mail := mails[0]
	lines := []string{fmt.Sprintf("the mail server has it, to %s, in %d bytes that begin", mail.Address, len(mail.Raw))}
	for line := range strings.Lines(mail.Raw) {
		if len(lines) > mailLines {
			break
		}
		lines = append(lines, "    "+strings.TrimSpace(line))
	}
	return t.step(t.arrived() && strings.Contains(mail.Text, "4712"), strings.Join(lines, "\n")), nil
}

func (s *story) deviceThatIsGone(ctx context.Context) (Step, error) {
	t, err := s.follow(ctx, post{Type: "security.alert", User: bobID, Channels: []string{"push"},
		Data: map[string]any{"device": "Laptop", "place": "Oslo"}})
	if err != nil {
		return t.step(false, "a push was posted"), err
	}
	var list struct {
		Data []struct{ Status, Reason string } `json:"data"`
	}
	err = s.api.Do(ctx, http.MethodGet, "/v1/users/"+bobID+"/addresses", nil, &list)
	retired := len(list.Data) == 1 && list.Data[0].Status == "retired"
	return t.step(t.Status == "failed" && retired, "APNs said that the app is gone from the device: its token is retired"), err
}

func (s *story) userWhoSaidNo(ctx context.Context) (Step, error) {
	patch := map[string]any{"categories": map[string]any{"orders": map[string]any{"email": false}}}
	if err := s.api.Do(ctx, http.MethodPatch, "/v1/users/"+carlaID+"/preferences", patch, nil); err != nil {
		return Step{}, err
	}
	t, err := s.follow(ctx, post{Type: "order.shipped", User: carlaID, Channels: []string{"email"},
		Data: map[string]any{"order": "4713", "carrier": "DHL"}})
	return t.step(t.Status == "suppressed" && t.reason("email") == "opted_out_category",
		"the user switched off e-mail for orders, so none was sent"), err
}

func (s *story) requestSentTwice(ctx context.Context) (Step, error) {
	event := post{Type: "order.shipped", User: annID, Channels: []string{"push"}, DedupeKey: "order-4714-shipped",
		Data: map[string]any{"order": "4714", "carrier": "UPS"}}
	first, err := s.follow(ctx, event)
	if err != nil {
		return first.step(false, "a push was posted"), err
	}
	var second answer
	err = s.api.Do(ctx, http.MethodPost, "/v1/events", event, &second)
	return first.step(second.Duplicate && second.ID == first.ID, "the same request again gave the same notification, and no second push"), err
}

func (s *story) answerForSupport(ctx context.Context) (Step, error) {
	t, err := s.follow(ctx, post{Type: "security.alert", User: annID, Data: map[string]any{"device": "Phone", "place": "Lisbon"}})
	if err != nil {
		return t.step(false, "a push and an e-mail were posted"), err
	}
	lines := []string{t.Summary}
	for _, m := range t.Timeline {
		lines = append(lines, "    "+m.At.UTC().Format("15:04:05.000")+"  "+m.Text)
	}
	return t.step(t.arrived(), strings.Join(lines, "\n")), nil
}

func (s *story) fault(rules string) error {
	var list []simulator.Rule
	if err := json.Unmarshal([]byte(rules), &list); err != nil {
		return err
	}
	return s.sim.SetFaults(list)
}
