package api_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tidings"
	"tidings/api"
	"tidings/internal/observe"
	"tidings/internal/testkit"
)

func TestABodyThatNeverEndsIsGivenUp(t *testing.T) {
	for why, c := range map[string]struct {
		path   string
		status int
	}{
		"one that is read":        {"/hooks/twilio", http.StatusBadRequest},
		"one that nobody reads":   {"/hooks/nobody", http.StatusNotFound},
		"one without a good key":  {"/v1/events", http.StatusUnauthorized},
		"one without a good path": {"/nothing", http.StatusNotFound},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				status := stall(t, c.path)
				if took := time.Since(began); status != c.status || took > 30*time.Second {
					t.Errorf("answered %d after %s, want %d", status, took, c.status)
				}
			})
		})
	}
}

func TestACallerOfALargeBodyHearsWhyItIsRefused(t *testing.T) {
	for why, c := range map[string]struct {
		path   string
		status int
	}{
		"too large":           {"/hooks/twilio", http.StatusRequestEntityTooLarge},
		"without a good key":  {"/v1/events/batch", http.StatusUnauthorized},
		"without a good path": {"/nothing", http.StatusNotFound},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := strings.Repeat("a", 5<<20)
				status := send(t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: service\r\nContent-Length: %d\r\n\r\n%s", c.path, len(body), body))
				if status != c.status {
					t.Errorf("answered %d, want %d", status, c.status)
				}
			})
		})
	}
}

func TestACallerWhoAsksFirstIsRefusedWithoutItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		status := send(t, "POST /hooks/twilio HTTP/1.1\r\nHost: service\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n")
		if took := time.Since(began); status != http.StatusRequestEntityTooLarge || took > time.Second {
			t.Errorf("answered %d after %s", status, took)
		}
	})
}

// stall sends a part of a body and waits for the answer.
func stall(t *testing.T, path string) int {
	return send(t, "POST "+path+" HTTP/1.1\r\nHost: service\r\nContent-Length: 10\r\n\r\nabc")
}

// send sends all of a request, as it is, and then reads the answer.
func send(t *testing.T, request string) int {
	network := testkit.NewNetwork()
	listener, err := network.Listen("service:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: api.New(api.Settings{
		Providers: map[string]api.Provider{"twilio": {Name: "twilio", Channel: tidings.SMS, Receipts: forger{make(chan string, 1)}}},
		Metrics:   observe.NewMetrics("test", nil, nil), Log: slog.New(slog.DiscardHandler),
	})}
	go func() { _ = server.Serve(listener) }()
	conn, err := network.Dial(t.Context(), "tcp", "service:80")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	return answer.StatusCode
}
