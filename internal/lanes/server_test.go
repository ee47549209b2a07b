package lanes

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"

	"tidings/internal/testkit"
)

// A stream that a stopped broker still makes would write beside the broker that comes after it,
// into the same files.
func TestABrokerThatStopsLeavesNothingBehindThatIsStillBeingMade(t *testing.T) {
	for round := range 10 {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			dir := t.TempDir()
			testkit.Bubble(t, func(t *testing.T) {
				e := newServer(Settings{Dir: dir, Log: slog.New(slog.DiscardHandler)})
				if err := e.start(); err != nil {
					t.Fatalf("start: %v", err)
				}
				conn, err := nats.Connect("", nats.InProcessServer(inProcess{server: e}), nats.NoReconnect())
				if err != nil {
					t.Fatalf("connect: %v", err)
				}
				defer conn.Close()
				for i := range 30 {
					ask := fmt.Appendf(nil, `{"name":"s%d","subjects":["s%d"]}`, i, i)
					if err := conn.PublishRequest(fmt.Sprint("$JS.API.STREAM.CREATE.s", i), "nobody", ask); err != nil {
						t.Fatalf("ask for a stream: %v", err)
					}
				}
				if err := conn.Flush(); err != nil {
					t.Fatalf("flush: %v", err)
				}
				e.stop()
			})
		})
	}
}
