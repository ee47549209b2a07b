package smtp_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

func TestAMailSaysWhereItsReaderOptsOut(t *testing.T) {
	url := "https://notify.example.test/u/" + strings.Repeat("Ab-_9", 200) // longer than a line should be, and not to be folded
	for _, c := range []struct {
		why          string
		marketing    bool
		unsubscribe  string
		header, post string
	}{
		{"marketing is refused at one click", true, url, "<" + url + ">", "List-Unsubscribe=One-Click"},
		{"what is no marketing asks first", false, url, "<" + url + ">", ""},
		{"what is critical cannot be refused", false, "", "", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			onRelay(t, nil, func(t *testing.T, r *relay) {
				_, err := r.provider.Send(t.Context(), &channels.Message{
					Delivery: tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 1), Address: "ann@example.test",
					Content: plain, Marketing: c.marketing, Unsubscribe: c.unsubscribe,
				})
				if err != nil {
					t.Fatal(err)
				}
				e := r.arrived(t, 1)[0]
				if got := strings.ReplaceAll(e.Headers["List-Unsubscribe"], " ", ""); got != c.header {
					t.Errorf("List-Unsubscribe %q, want %q", got, c.header)
				}
				if got := e.Headers["List-Unsubscribe-Post"]; got != c.post {
					t.Errorf("List-Unsubscribe-Post %q, want %q", got, c.post)
				}
				if c.header != "" && !strings.Contains(e.Raw, c.header) {
					t.Error("the link is torn apart")
				}
			})
		})
	}
}

func TestALinkThatCouldEndItsHeaderIsNotSent(t *testing.T) {
	for _, url := range []string{"https://a\r\nBcc: eve@example.test", "https://a>, <https://b", "https://a b", "https://ä", "https://a\x00"} {
		onRelay(t, nil, func(t *testing.T, r *relay) {
			_, err := r.provider.Send(t.Context(), &channels.Message{
				Delivery: tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 1), Address: "ann@example.test", Content: plain, Unsubscribe: url,
			})
			if got := channels.Classify(err); got == nil || got.Fault != tidings.ContentRejected {
				t.Errorf("%q: %v", url, err)
			}
			if r.dials.Load() != 0 {
				t.Errorf("%q: the relay was called", url)
			}
		})
	}
}
