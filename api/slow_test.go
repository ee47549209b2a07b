package api_test

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
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

// stall sends a part of a body and waits for the answer.
func stall(t *testing.T, path string) int {
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
	if _, err := io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: service\r\nContent-Length: 10\r\n\r\nabc"); err != nil {
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
