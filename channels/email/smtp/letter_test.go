package smtp_test

import (
	"net/mail"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/channels/email/smtp"
)

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
