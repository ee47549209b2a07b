package playground

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// post is an event as an app posts it.
type post struct {
	Type      string         `json:"type"`
	User      string         `json:"user"`
	Channels  []string       `json:"channels,omitempty"`
	DedupeKey string         `json:"dedupe_key,omitempty"`
	Data      map[string]any `json:"data"`
}

type answer struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
}

// trail is what the story looks at of a notification's trail.
type trail struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	Summary   string `json:"summary"`
	Decisions []struct {
		Channel string `json:"channel"`
		Reason  string `json:"reason"`
	} `json:"decisions"`
	Deliveries []struct {
		ID       string `json:"id"`
		Final    bool   `json:"final"`
		Status   string `json:"status"`
		Attempts []struct {
			Provider string `json:"provider"`
			Outcome  string `json:"outcome"`
		} `json:"attempts"`
	} `json:"deliveries"`
	Timeline []struct {
		At   time.Time `json:"at"`
		Text string    `json:"text"`
	} `json:"timeline"`
}

// askEvery is the pause between two looks at a trail that is not finished.
const askEvery = 50 * time.Millisecond

// follow posts an event and asks for its trail until every delivery has ended.
func (s *story) follow(ctx context.Context, p post) (trail, error) {
	var a answer
	if err := s.api.Do(ctx, http.MethodPost, "/v1/events", p, &a); err != nil {
		return trail{}, err
	}
	for {
		var t trail
		if err := s.api.Do(ctx, http.MethodGet, "/v1/notifications/"+a.ID, nil, &t); err != nil {
			return trail{ID: a.ID}, err
		}
		if t.finished() {
			return t, nil
		}
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(askEvery):
		}
	}
}

func (t trail) finished() bool {
	for _, d := range t.Deliveries {
		if !d.Final {
			return false
		}
	}
	return true
}

func (t trail) step(ok bool, text string) Step { return Step{OK: ok, Notification: t.ID, Text: text} }

// arrived reports whether every delivery was taken by a provider.
func (t trail) arrived() bool {
	for _, d := range t.Deliveries {
		if d.Status != "sent" && d.Status != "delivered" {
			return false
		}
	}
	return len(t.Deliveries) > 0
}

func (t trail) outcomes() string {
	var all []string
	for _, d := range t.Deliveries {
		for _, a := range d.Attempts {
			all = append(all, a.Outcome)
		}
	}
	return strings.Join(all, " ")
}

func (t trail) providers() string {
	var all []string
	for _, d := range t.Deliveries {
		for _, a := range d.Attempts {
			all = append(all, a.Provider)
		}
	}
	return strings.Join(all, " ")
}

func (t trail) reason(channel string) string {
	for _, d := range t.Decisions {
		if d.Channel == channel {
			return d.Reason
		}
	}
	return ""
}
