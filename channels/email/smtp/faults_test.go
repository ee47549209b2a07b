package smtp

import (
	"slices"
	"strings"
	"testing"

	"tidings"
	"tidings/channels"
)

func TestAReplyIsKeptWithoutMailboxes(t *testing.T) {
	for _, c := range []struct{ why, said, want string }{
		{"the address", "5.1.1 <ann@example.test>: User unknown", "<***>: User unknown"},
		{"the address as the relay rewrote it", "5.1.1 <Ann+shop@mail.example.test>: User unknown", "<***>: User unknown"},
		{"several lines", "5.7.1 see\n5.7.1 https://example.test/help", "see 5.7.1 https://example.test/help"},
	} {
		if got := ofReply(atRcpt, 550, c.said, "ann@example.test").Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestTheRelaysOwnNameOfAMail(t *testing.T) {
	for reply, want := range map[string]string{
		"2.0.0 Ok: queued as 4F1A2B": "4F1A2B",
		"OK Queued as abc-1.2":       "abc-1.2",
		"2.6.0 <x@y> accepted":       "id@example.test",
		"":                           "id@example.test",
	} {
		if got := reference(reply, "id@example.test"); got != want {
			t.Errorf("%q: %q, want %q", reply, got, want)
		}
	}
}

func FuzzReplies(f *testing.F) {
	f.Add(3, 550, "5.1.1 <ann@example.test>: User unknown")
	f.Add(9, 421, "4.7.0 try later")
	f.Add(5, 354, "go ahead\nnow")
	f.Add(0, 999, "5.1")
	stages := []stage{atConnect, atEHLO, atStartTLS, atAuth, atReset, atMail, atRcpt, atData, atContent, atDot}
	proof := []string{"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"}
	known := tidings.Faults()
	f.Fuzz(func(t *testing.T, at, code int, text string) {
		at, code = ((at%10)+10)%10, ((code%1000)+1000)%1000
		e := ofReply(stages[at], code, text, "ann@example.test")
		status, _ := enhanced(code, text)
		switch {
		case !slices.Contains(known, e.Fault):
			t.Fatalf("fault %q", e.Fault)
		case e.Fault == tidings.RecipientDead && !slices.Contains(proof, status):
			t.Fatalf("%q is believed to prove an address dead", text)
		case e.Fault == tidings.OutcomeUnknown && stages[at] != atDot:
			t.Fatalf("unknown at %s", stages[at])
		case len(e.Text) > channels.MaxText || strings.Contains(e.Text, "ann@example.test"):
			t.Fatalf("text %q", e.Text)
		}
	})
}
