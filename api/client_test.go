package api_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"tidings"
	"tidings/api/client"
	"tidings/api/wire"
)

func TestTheClientCallsTheService(t *testing.T) {
	server := httptest.NewServer(newBench(t))
	defer server.Close()
	c := client.New(server.URL+"/", allKey, secret)
	defer c.CloseIdleConnections()
	_, err := c.Register(t.Context(), "u_1", wire.NewAddress{Channel: tidings.Push, Provider: "apns", Token: strings.Repeat("ab", 32)})
	if err != nil {
		t.Fatal(err)
	}
	posted, err := c.Post(t.Context(), wire.Event{Type: "order.shipped", User: wire.UserRef{ID: "u_1"}, Data: json.RawMessage(`{"order":"1","carrier":"UPS"}`)})
	if err != nil || posted.Decisions[0].Addresses != 1 {
		t.Fatalf("posted %+v, %v", posted, err)
	}
	trail, err := c.Trail(t.Context(), posted.ID)
	if err != nil || trail.ID != posted.ID || trail.AcceptedAt.IsZero() || !trail.Deliveries[0].FinishedAt.IsZero() {
		t.Errorf("the trail is %+v, %v", trail, err)
	}
	if done, err := c.Cancel(t.Context(), posted.ID); err != nil || len(done.Cancelled) != 1 {
		t.Errorf("cancelled %+v, %v", done, err)
	}
}

func TestTheClientSaysWhatTheServiceRefused(t *testing.T) {
	server := httptest.NewServer(newBench(t))
	defer server.Close()
	c := client.New(server.URL, allKey, secret)
	defer c.CloseIdleConnections()
	_, err := c.Post(t.Context(), wire.Event{Type: "no such", User: wire.UserRef{ID: "u_1"}})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 422 || refused.Problem.Errors[0].Pointer != "/type" || !strings.Contains(err.Error(), "/type must be") {
		t.Errorf("refused with %v", err)
	}
	if _, err := client.New(server.URL, allKey, "wrong").Trail(t.Context(), tidings.NotificationID{}); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("a wrong secret gives %v", err)
	}
}
