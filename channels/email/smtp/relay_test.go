package smtp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
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
	if err := r.sim.SetFaults([]simulator.Rule{{Provider: "smtp", Do: do, Times: times}}); err != nil {
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

func TestAnAddressIsOneMailboxOrNothingIsSent(t *testing.T) {
	for _, address := range []string{
		"", "ann", "ann@example.test, bob@example.test", "ann@example.test\r\nRCPT TO:<bob@example.test>", "<ann@example.test>",
		"Ann <ann@example.test>", "ann@example.test>\r\nDATA", "ann@example.test\x00", strings.Repeat("a", 250) + "@example.test",
	} {
		onRelay(t, nil, func(t *testing.T, r *relay) {
			if got := r.send(t, address, plain); got != tidings.RecipientSuspect {
				t.Errorf("%q: %s", address, got)
			}
			if got := r.dials.Load(); got != 0 {
				t.Errorf("%q: the relay was called", address)
			}
		})
	}
}

func TestNothingInAHeaderCanEndIt(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		content := tidings.Content{
			Subject: "Hi\r\nBcc: eve@example.test\r\n\r\nnew body\x00\nX: y", Text: "text",
			From: "Shop\r\nX-Evil: 1 <shop@example.test>",
		}
		if got := r.send(t, "ann@example.test", content); got != tidings.OK && got != tidings.ContentRejected {
			t.Fatal(got)
		}
		content.From = ""
		if got := r.send(t, "ann@example.test", content); got != tidings.OK {
			t.Fatal(got)
		}
		entries, err := r.tape.Entries()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			for _, name := range []string{"Bcc", "X-Evil", "X"} {
				if value, found := e.Headers[name]; found {
					t.Errorf("a header was smuggled in: %s: %s", name, value)
				}
			}
			if e.Text != "text" || e.Title != "Hi  Bcc: eve@example.test    new body  X: y" {
				t.Errorf("title %q, text %q", e.Title, e.Text)
			}
		}
	})
}

func TestAMailAsItArrives(t *testing.T) {
	content := tidings.Content{
		Subject: "Ihr Päckchen 📦 4711", From: "Grüße GmbH <gruss@example.test>",
		Text: "Hallo Ann,\n.\n.. es ist unterwegs – " + strings.Repeat("weit ", 40), HTML: "<p>Hallo <b>Ann</b></p>",
	}
	onRelay(t, nil, func(t *testing.T, r *relay) {
		id := tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 1)
		answer, err := r.provider.Send(t.Context(), &channels.Message{Delivery: id, Address: "ann@example.test", Content: content})
		if err != nil {
			t.Fatal(err)
		}
		e := r.arrived(t, 1)[0]
		if e.Ref != answer.Ref || e.DeliveryID != id.String() || e.Title != content.Subject {
			t.Errorf("ref %s, delivery %s, title %q", e.Ref, e.DeliveryID, e.Title)
		}
		if e.Text != content.Text {
			t.Errorf("text %q", e.Text)
		}
		if !strings.Contains(e.Raw, "multipart/alternative") || !strings.Contains(e.Raw, "text/html") {
			t.Errorf("not both forms:\n%s", e.Raw)
		}
		if got := e.Headers["Message-Id"]; got != "<"+id.String()+"@example.test>" {
			t.Errorf("Message-ID %s", got)
		}
		if from, err := mail.ParseAddress(e.Headers["From"]); err != nil || from.String() != (&mail.Address{Name: "Grüße GmbH", Address: "gruss@example.test"}).String() {
			t.Errorf("from %s, %v", e.Headers["From"], err)
		}
		if _, err := mail.ParseDate(e.Headers["Date"]); err != nil {
			t.Errorf("date: %v", err)
		}
		for line := range strings.SplitSeq(e.Raw, "\r\n") {
			if len(line) > 998 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	})
}

func TestATextOnlyAndAnHTMLOnlyMailHaveOnePart(t *testing.T) {
	for _, content := range []tidings.Content{{Subject: "s", Text: "words"}, {Subject: "s", HTML: "words"}} {
		onRelay(t, nil, func(t *testing.T, r *relay) {
			if got := r.send(t, "ann@example.test", content); got != tidings.OK {
				t.Fatal(got)
			}
			e := r.arrived(t, 1)[0]
			if strings.Contains(e.Raw, "multipart") || e.Text != "words" {
				t.Errorf("text %q in\n%s", e.Text, e.Raw)
			}
		})
	}
}

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	good := smtp.Config{Host: "mail.example.test", Port: "587", TLS: "starttls", From: "no-reply@example.test"}
	for _, c := range []struct {
		why    string
		change func(c *smtp.Config)
		ok     bool
	}{
		{"as it should be", func(*smtp.Config) {}, true},
		{"no host", func(c *smtp.Config) { c.Host = "" }, false},
		{"no port", func(c *smtp.Config) { c.Port = "" }, false},
		{"port zero", func(c *smtp.Config) { c.Port = "0" }, false},
		{"port too high", func(c *smtp.Config) { c.Port = "65536" }, false},
		{"another kind of TLS", func(c *smtp.Config) { c.TLS = "ssl" }, false},
		{"no sender", func(c *smtp.Config) { c.From = "" }, false},
		{"a sender that is no address", func(c *smtp.Config) { c.From = "Shop" }, false},
		{"a name without a password", func(c *smtp.Config) { c.Username = "u" }, false},
		{"a password in the clear", func(c *smtp.Config) { c.TLS, c.Username, c.Password = "none", "u", "p" }, false},
		{"a password in the clear on this machine", func(c *smtp.Config) { c.Host, c.TLS, c.Username, c.Password = "127.0.0.1", "none", "u", "p" }, true},
	} {
		config := good
		c.change(&config)
		if err := config.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}
