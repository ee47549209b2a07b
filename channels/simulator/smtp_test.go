package simulator_test

import (
	"fmt"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings/channels/simulator"
)

// talk says each line to the simulated relay and compares the code of each reply; "…" as the
// code means that the relay hangs up.
func talk(t *testing.T, sim *simulator.Simulator, dialogue [][2]string) {
	t.Helper()
	c, err := net.Dial("tcp", sim.Address("smtp"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	text := textproto.NewConn(c)
	for _, step := range dialogue {
		if step[0] != "" {
			if err := text.PrintfLine("%s", step[0]); err != nil {
				t.Fatal(err)
			}
		}
		code, said, err := text.ReadResponse(0)
		if hungUp := code == 0 && err != nil; hungUp || step[1] == "…" {
			if !hungUp || step[1] != "…" {
				t.Fatalf("after %q: %d %s, %v; want %s", step[0], code, said, err, step[1])
			}
			return
		}
		if got := fmt.Sprintf("%d %s", code, said); !strings.HasPrefix(got, step[1]) {
			t.Fatalf("after %q: %s, want %s", step[0], got, step[1])
		}
	}
}

func TestTheRelayKeepsToTheProtocol(t *testing.T) {
	tape := &simulator.Tape{}
	sim := start(t, simulator.Settings{Ledger: tape})
	talk(t, sim, [][2]string{
		{"", "220"}, {"NONSENSE", "500 5.5.2"}, {"EHLO me", "250"}, {"DATA", "503 5.5.1"}, {"RCPT TO:<ann@example.test>", "503 5.5.1"},
		{"MAIL FROM:no-brackets", "501 5.5.4"}, {"MAIL FROM:<shop@example.test> BODY=8BITMIME", "250 2.1.0"}, {"MAIL FROM:<shop@example.test>", "503"},
		{"DATA", "503 5.5.1"}, {"RCPT TO:<dead@example.test>", "550 5.1.1"}, {"rcpt to:<ann@example.test>", "250 2.1.5"}, {"RCPT TO:<bob@example.test>", "452 4.5.3"},
		{"RSET", "250"}, {"RCPT TO:<ann@example.test>", "503"},
		{"MAIL FROM:<>", "250"}, {"RCPT TO:<ann@example.test>", "250"}, {"DATA", "354"},
		{"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nX-Tidings-Delivery: dlv_1\r\n\r\n..one dot\r\ntwo\r\n.", "250 2.0.0"},
		{"AUTH LOGIN", "504"}, {"AUTH PLAIN AGEAYg==", "535 5.7.8"}, {"NOOP", "250"}, {"QUIT", "221"}, {"", "…"},
	})
	entries, err := tape.Entries()
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d mails, %v", len(entries), err)
	}
	e := entries[0]
	if e.Address != "ann@example.test" || e.DeliveryID != "dlv_1" || e.Title != "Grüße" || e.Text != ".one dot\ntwo" {
		t.Errorf("%+v", e)
	}
	if want := (simulator.Counts{Requests: 3, Accepts: 1, Rejects: 1}); sim.Stats()["smtp"] != want {
		t.Errorf("counted %+v", sim.Stats()["smtp"])
	}
}

func TestTheRelayFailsAtTheStageThatTheRuleNames(t *testing.T) {
	then := func(first [][2]string, rest ...[2]string) [][2]string { return slices.Concat(first, rest) }
	hello := [][2]string{{"", "220"}, {"EHLO me", "250"}}
	sender := then(hello, [2]string{"MAIL FROM:<shop@example.test>", "250"})
	recipient := then(sender, [2]string{"RCPT TO:<ann@example.test>", "250"})
	for _, c := range []struct {
		do   simulator.Do
		want [][2]string
	}{
		{simulator.Do{At: "connect", Status: 421}, [][2]string{{"", "421"}, {"", "…"}}},
		{simulator.Do{At: "ehlo", Status: 550}, [][2]string{{"", "220"}, {"EHLO me", "550"}, {"HELO me", "250"}}},
		{simulator.Do{At: "mail", Status: 451, Enhanced: "4.3.0"}, then(hello, [2]string{"MAIL FROM:<shop@example.test>", "451 4.3.0"})},
		{simulator.Do{Status: 450, Enhanced: "4.2.0", Reason: "busy"}, then(sender, [2]string{"RCPT TO:<ann@example.test>", "450 4.2.0 busy"})},
		{simulator.Do{At: "data", Status: 451}, then(recipient, [2]string{"DATA", "451"})},
		{simulator.Do{At: "dot", Status: 554}, then(recipient, [2]string{"DATA", "354"}, [2]string{"text\r\n.", "554"})},
		{simulator.Do{Reset: "before"}, then(sender, [2]string{"RCPT TO:<ann@example.test>", "…"})},
		{simulator.Do{Reset: "after"}, then(recipient, [2]string{"DATA", "354"}, [2]string{"text\r\n.", "…"})},
	} {
		sim := start(t, simulator.Settings{})
		if err := sim.SetFaults([]simulator.Rule{{Provider: "smtp", Address: "*", Do: c.do}}); err != nil {
			t.Fatal(err)
		}
		talk(t, sim, c.want)
		if got := sim.Stats()["smtp"].Requests; got != 1 {
			t.Errorf("%+v: %d requests", c.do, got)
		}
	}
}

func TestARuleForOneMailboxLeavesTheOthersAlone(t *testing.T) {
	sim := start(t, simulator.Settings{})
	if err := sim.SetFaults([]simulator.Rule{{Provider: "smtp", Address: "ann@*", Times: 1, Do: simulator.Do{Status: 450}}}); err != nil {
		t.Fatal(err)
	}
	talk(t, sim, [][2]string{
		{"", "220"}, {"HELO me", "250"}, {"MAIL FROM:<shop@example.test>", "250"}, {"RCPT TO:<bob@example.test>", "250"}, {"RSET", "250"},
		{"MAIL FROM:<shop@example.test>", "250"}, {"RCPT TO:<ann@example.test>", "450"},
		{"MAIL FROM:<shop@example.test>", "503"}, {"RCPT TO:<ann@example.test>", "250"},
	})
}
