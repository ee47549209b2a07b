package smtp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/channels/email/smtp"
	"tidings/channels/simulator"
	"tidings/internal/testkit"
)

// A relay is the simulated one and the provider that uses it.
type relay struct {
	sim      *simulator.Simulator
	tape     simulator.Tape
	provider channels.Provider
	dials    atomic.Int32
	last     atomic.Pointer[line] // the newest connection
}

// A line is a connection that can be broken.
type line struct {
	net.Conn
	quota atomic.Int64 // bytes that may still be written; 0: any number
}

func (l *line) Write(p []byte) (int, error) {
	quota := l.quota.Load()
	if quota == 0 {
		return l.Conn.Write(p)
	}
	n, err := l.Conn.Write(p[:min(int64(len(p)), quota)])
	l.quota.Add(-int64(n))
	if err == nil && n < len(p) {
		_ = l.Close()
		err = errors.New("connection reset by peer")
	}
	return n, err
}

// onRelay runs a scene in virtual time, with a configuration that the scene may adapt.
func onRelay(t *testing.T, adapt func(c *smtp.Config, dir string), scene func(t *testing.T, r *relay)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		network, r := testkit.NewNetwork(), &relay{}
		sim, err := simulator.Start(simulator.Settings{
			Listen: func(vendor string) (net.Listener, error) { return network.Listen(vendor + ":25") },
			Dial:   network.Dial, Ledger: &r.tape, Dir: dir,
		})
		if err != nil {
			t.Fatal(err)
		}
		r.sim = sim
		dial := func(ctx context.Context, kind, address string) (net.Conn, error) {
			r.dials.Add(1)
			conn, err := network.Dial(ctx, kind, address)
			if err != nil {
				return nil, err
			}
			l := &line{Conn: conn}
			r.last.Store(l)
			return l, nil
		}
		config := &smtp.Config{Host: "smtp", Port: "25", TLS: "none", From: "Shop <no-reply@example.test>"}
		if adapt != nil {
			adapt(config, dir)
		}
		r.provider, err = smtp.Vendor().Build(config, channels.Settings{Name: "smtp", Dial: dial, TLS: &tls.Config{RootCAs: sim.Roots()}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(r.provider.(interface{ Close() error }).Close(), sim.Close()); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}()
		scene(t, r)
	})
}

// send sends a mail with the given content and gives the fault.
func (r *relay) send(t *testing.T, to string, content tidings.Content) tidings.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := r.provider.Send(ctx, &channels.Message{
		Delivery: tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 1), Attempt: 1, Address: to, Content: content,
	})
	return outcome(err)
}

// arrived is the mails that the relay took.
func (r *relay) arrived(t *testing.T, want int) []simulator.Entry {
	t.Helper()
	entries, err := r.tape.Entries()
	if err != nil || len(entries) != want {
		t.Fatalf("%d mails arrived, want %d; %v", len(entries), want, err)
	}
	return entries
}

func (r *relay) rule(t *testing.T, do simulator.Do, times int) {
	t.Helper()
	if err := r.sim.SetFaults([]simulator.Rule{{Provider: "smtp", Do: do, Times: simulator.Times(times)}}); err != nil {
		t.Fatal(err)
	}
}

var plain = tidings.Content{Subject: "Hello", Text: "It is on its way."}

func TestMailsShareAConnection(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		for range 5 {
			if got := r.send(t, "ann@example.test", plain); got != tidings.OK {
				t.Fatal(got)
			}
			time.Sleep(time.Second)
		}
		if got := r.dials.Load(); got != 1 {
			t.Errorf("%d connections for 5 mails", got)
		}
		r.arrived(t, 5)
	})
}

func TestARefusedMailLeavesTheConnectionFitForTheNext(t *testing.T) {
	for _, at := range []string{"mail", "rcpt", "data", "dot"} {
		onRelay(t, nil, func(t *testing.T, r *relay) {
			r.rule(t, simulator.Do{Status: 451, Enhanced: "4.3.0", At: at}, 1)
			first, second := r.send(t, "ann@example.test", plain), r.send(t, "bob@example.test", plain)
			if first != tidings.Transient || second != tidings.OK {
				t.Errorf("refused at %s: %s, then %s", at, first, second)
			}
			if got := r.dials.Load(); got != 1 {
				t.Errorf("refused at %s: %d connections", at, got)
			}
			if to := r.arrived(t, 1)[0].Address; to != "bob@example.test" {
				t.Errorf("refused at %s: the mail went to %s", at, to)
			}
		})
	}
}

func TestADeadMailboxLeavesTheConnectionFitForTheNext(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		for range 3 {
			first, second := r.send(t, "dead@example.test", plain), r.send(t, "bob@example.test", plain)
			if first != tidings.RecipientDead || second != tidings.OK {
				t.Errorf("%s, then %s", first, second)
			}
		}
		if got := r.dials.Load(); got != 1 {
			t.Errorf("%d connections", got)
		}
	})
}

func TestAConnectionThatTheRelayClosedIsReplacedWithoutAFailure(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		if got := r.send(t, "ann@example.test", plain); got != tidings.OK {
			t.Fatal(got)
		}
		_ = r.last.Load().Close()
		if got := r.send(t, "ann@example.test", plain); got != tidings.OK {
			t.Errorf("on a closed connection: %s", got)
		}
		r.rule(t, simulator.Do{Status: 421, At: "mail"}, 1)
		if got := r.send(t, "ann@example.test", plain); got != tidings.OK {
			t.Errorf("after the relay said 421 to a kept connection: %s", got)
		}
		if got := r.dials.Load(); got != 3 {
			t.Errorf("%d connections, want 3", got)
		}
		r.arrived(t, 3)
	})
}

func TestARelayThatHangsUpAtOnceIsNotAskedAgain(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		r.rule(t, simulator.Do{Status: 421, At: "mail"}, 0)
		if got := r.send(t, "ann@example.test", plain); got != tidings.Transient {
			t.Error(got)
		}
		if got := r.dials.Load(); got != 1 {
			t.Errorf("%d connections for one mail", got)
		}
	})
}

func TestAConnectionIsNotKeptForLong(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		r.send(t, "ann@example.test", plain)
		time.Sleep(time.Minute)
		r.send(t, "ann@example.test", plain)
		if got := r.dials.Load(); got != 2 {
			t.Errorf("%d connections, want 2", got)
		}
		r.arrived(t, 2)
	})
}

func TestAConnectionCarriesAHundredMails(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		for range 101 {
			r.send(t, "ann@example.test", plain)
		}
		if got := r.dials.Load(); got != 2 {
			t.Errorf("%d connections for 101 mails, want 2", got)
		}
		r.arrived(t, 101)
	})
}

func TestWhatACutConnectionMeansDependsOnTheFinalDot(t *testing.T) {
	for _, c := range []struct {
		why   string
		do    simulator.Do
		bytes int64 // that get through on the connection
		want  tidings.Outcome
		mails int
	}{
		{"while the relay greets", simulator.Do{Reset: "before", At: "connect"}, 0, tidings.NotSent, 0},
		{"at the sender", simulator.Do{Reset: "before", At: "mail"}, 0, tidings.NotSent, 0},
		{"at the recipient", simulator.Do{Reset: "before"}, 0, tidings.NotSent, 0},
		{"before the text", simulator.Do{Reset: "before", At: "data"}, 0, tidings.NotSent, 0},
		{"within the text", simulator.Do{}, 400, tidings.NotSent, 0},
		{"after the dot, not accepted", simulator.Do{Reset: "before", At: "dot"}, 0, tidings.OutcomeUnknown, 0},
		{"after the dot, accepted", simulator.Do{Reset: "after"}, 0, tidings.OutcomeUnknown, 1},
		{"silence after the dot", simulator.Do{Hang: simulator.Span(time.Hour), At: "dot"}, 0, tidings.OutcomeUnknown, 0},
		{"silence at the recipient", simulator.Do{Hang: simulator.Span(time.Hour)}, 0, tidings.NotSent, 0},
	} {
		onRelay(t, nil, func(t *testing.T, r *relay) {
			if c.bytes > 0 {
				if got := r.send(t, "ann@example.test", plain); got != tidings.OK { // a kept connection, to count bytes from here
					t.Fatal(got)
				}
				r.last.Load().quota.Store(c.bytes)
				c.mails++
			} else {
				r.rule(t, c.do, 0)
			}
			if got := r.send(t, "ann@example.test", plain); got != c.want {
				t.Errorf("cut %s: %s, want %s", c.why, got, c.want)
			}
			r.arrived(t, c.mails)
		})
	}
}

func TestSTARTTLSAndLoggingIn(t *testing.T) {
	password := func(dir string) channels.Secret {
		text, err := os.ReadFile(filepath.Join(dir, "smtp.password"))
		if err != nil {
			panic(err)
		}
		return channels.Secret(text)
	}
	for _, c := range []struct {
		why   string
		adapt func(c *smtp.Config, dir string)
		want  tidings.Outcome
	}{
		{"with STARTTLS", func(c *smtp.Config, _ string) { c.TLS = "starttls" }, tidings.OK},
		{"with STARTTLS and the password", func(c *smtp.Config, dir string) {
			c.TLS, c.Username, c.Password = "starttls", "tidings", password(dir)
		}, tidings.OK},
		{"with a wrong password", func(c *smtp.Config, _ string) {
			c.TLS, c.Username, c.Password = "starttls", "tidings", "not the password"
		}, tidings.ConfigFault},
		{"with TLS where the relay speaks plainly", func(c *smtp.Config, _ string) { c.TLS = "tls" }, tidings.NotSent},
	} {
		onRelay(t, c.adapt, func(t *testing.T, r *relay) {
			for range 2 {
				if got := r.send(t, "ann@example.test", plain); got != c.want {
					t.Errorf("%s: %s, want %s", c.why, got, c.want)
				}
			}
			if kept := r.dials.Load() == 1; kept != (c.want == tidings.OK) {
				t.Errorf("%s: %d connections", c.why, r.dials.Load())
			}
		})
	}
}
