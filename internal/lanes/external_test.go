package lanes

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"tidings/internal/testkit"
)

func TestAnExternalBrokerServesTheSameLanes(t *testing.T) {
	broker := testkit.NewTCPBroker(t)
	defer broker.Stop()
	l := open(t, Settings{URL: broker.URL()})
	defer closeLanes(t, l)
	all := ids(70)
	publish(t, l, bulk, time.Now(), all)
	got := fetch(t, l, bulk, 10)
	if len(got) == 1 { // over a socket the second may come later
		got = append(got, fetch(t, l, bulk, 10)...)
	}
	if len(got) != 2 || len(got[0].IDs) != 50 || len(got[1].IDs) != 20 {
		t.Errorf("fetched %d entries", len(got))
	}
	if err := l.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
}

// What somebody deletes beside the service is there again when it is needed.
func TestLanesOutliveWhatHappensToAnExternalBroker(t *testing.T) {
	tests := []struct {
		why     string
		happens func(t *testing.T, l *Lanes, b *testkit.Broker)
		kept    bool // what was in the lane
	}{
		{"it restarts on its files", func(_ *testing.T, _ *Lanes, b *testkit.Broker) { b.Stop(); b.Start() }, true},
		{"it restarts on none", func(_ *testing.T, _ *Lanes, b *testkit.Broker) { b.Stop(); b.LoseFiles(); b.Start() }, false},
		{"somebody deletes the consumer", func(t *testing.T, l *Lanes, _ *testkit.Broker) {
			if err := l.js.DeleteConsumer(t.Context(), l.lanes[bulk].streamName(), consumerName); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"somebody deletes the stream", func(t *testing.T, l *Lanes, _ *testkit.Broker) {
			if err := l.js.DeleteStream(t.Context(), l.lanes[bulk].streamName()); err != nil {
				t.Fatal(err)
			}
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			broker := testkit.NewTCPBroker(t)
			defer broker.Stop()
			l := open(t, Settings{URL: broker.URL()})
			defer closeLanes(t, l)
			before := ids(3)
			publish(t, l, bulk, time.Now(), before)
			tt.happens(t, l, broker)
			after := ids(2)
			eventually(t, func() bool {
				failed, err := l.Publish(t.Context(), bulk, time.Now(), after)
				return err == nil && len(failed) == 0
			})
			got := drain(t, l, time.Second)
			if !slices.Contains(got, after[0]) || slices.Contains(got, before[0]) != tt.kept {
				t.Errorf("%d ids came", len(got))
			}
			if err := l.Healthy(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// eventually waits in real time, since a socket has no other.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}

// Not by an outage in virtual time: the client holds a lock while it waits for a silent server.
func TestABrokerThatIsSilentIsFoundOutWithinHalfAMinute(t *testing.T) {
	broker := testkit.NewTCPBroker(t)
	defer broker.Stop()
	l := open(t, Settings{URL: broker.URL()})
	defer closeLanes(t, l)
	o := l.conn.Opts
	if found := o.PingInterval * time.Duration(o.MaxPingsOut+1); found > 30*time.Second {
		t.Errorf("silence is found out after %v", found)
	}
	if o.MaxReconnect != -1 || o.ReconnectBufSize != -1 {
		t.Errorf("the client reconnects %d times and buffers %d bytes; want for ever and nothing", o.MaxReconnect, o.ReconnectBufSize)
	}
}

func TestALaneOfABrokerThatIsAwayHasNoRoom(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		broker := testkit.NewBroker(t)
		defer broker.Stop()
		l := open(t, Settings{URL: broker.URL(), Dial: broker.Dial})
		defer closeLanes(t, l)
		broker.Stop()
		pass(time.Second)
		if err := l.Healthy(t.Context()); !errors.Is(err, ErrUnavailable) || l.Room(bulk) != 0 || l.Space(bulk) != 0 {
			t.Errorf("room %d, space %d, %v", l.Room(bulk), l.Space(bulk), err)
		}
		broker.Start()
		pass(time.Second)
		if err := l.Healthy(t.Context()); err != nil || l.Room(bulk) == 0 || l.Space(bulk) == 0 {
			t.Errorf("room %d, space %d, %v", l.Room(bulk), l.Space(bulk), err)
		}
	})
}

func TestABrokerThatWillNotDoIsRefusedWithTheMend(t *testing.T) {
	plain, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	plain.Start()
	defer stop(plain)
	if !plain.ReadyForConnections(startWait) {
		t.Fatal("server does not start")
	}
	broker := testkit.NewTCPBroker(t)
	defer broker.Stop()
	tests := []struct {
		why  string
		s    Settings
		want string
	}{
		{"its version is too old", Settings{URL: "nats://" + announce(t, "2.11.9")}, "nats-server 2.11.9 is too old: upgrade it to 2.12.1 or newer"},
		{"it has no JetStream", Settings{URL: plain.ClientURL()}, "JetStream"},
		{"it is no cluster", Settings{URL: broker.URL(), Replicas: 3}, "set nats_replicas to 1, or use a cluster"},
		{"it is not there", Settings{URL: "nats://127.0.0.1:1"}, "broker is not available: connect"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			tt.s.Lanes, tt.s.Log = specs(), slog.New(slog.DiscardHandler)
			if _, err := Open(t.Context(), tt.s); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// announce is a server that says that it has a version, and answers pings.
func announce(t *testing.T, version string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(conn, "INFO {\"server_id\":\"x\",\"version\":%q,\"max_payload\":1048576,\"headers\":true}\r\n", version)
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "PING") {
					fmt.Fprint(conn, "PONG\r\n")
				}
			}
		}
	}()
	return listener.Addr().String()
}
