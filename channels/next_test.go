package channels_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"pgregory.net/rapid"

	"tidings"
	"tidings/channels"
	"tidings/internal/golden"
)

var (
	noon   = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	policy = channels.Policy{Base: time.Second, Cap: 15 * time.Minute, MaxAttempts: 24, Unknown: tidings.OnUnknown{Retry: true}}
)

// ordinary is a third try of a push registered yesterday, with a day to go and no other provider.
func ordinary() channels.Case {
	return channels.Case{Tries: 3, Registered: noon.Add(-24 * time.Hour), ExpiresAt: noon.Add(24 * time.Hour), Now: noon, Jitter: 0.5}
}

// situation is one row of the table: the ordinary case, changed.
type situation struct {
	when string
	c    func(*channels.Case, *channels.Error, *channels.Policy)
}

func situations() []situation {
	return []situation{
		{"another provider is left", func(c *channels.Case, _ *channels.Error, _ *channels.Policy) { c.Others = 1 }},
		{"it asked for 90s", func(_ *channels.Case, e *channels.Error, _ *channels.Policy) { e.After = 90 * time.Second }},
		{"it asked for two days", func(_ *channels.Case, e *channels.Error, _ *channels.Policy) { e.After = 48 * time.Hour }},
		{"the last try", func(c *channels.Case, _ *channels.Error, p *channels.Policy) { c.Tries = p.MaxAttempts }},
		{"the last try, another provider is left", func(c *channels.Case, _ *channels.Error, p *channels.Policy) { c.Tries, c.Others = p.MaxAttempts, 1 }},
		{"a second before it expires", func(c *channels.Case, _ *channels.Error, _ *channels.Policy) { c.ExpiresAt = c.Now.Add(time.Second) }},
		{"it has expired", func(c *channels.Case, _ *channels.Error, _ *channels.Policy) { c.ExpiresAt = c.Now }},
	}
}

func TestNextFollowsItsTable(t *testing.T) {
	table := bytes.NewBufferString("# As a rule: the third of 24 tries, a day to go, no other provider, middling luck.\n\n")
	for _, fault := range tidings.Faults() {
		fmt.Fprintf(table, "%s\n", fault)
		w := tabwriter.NewWriter(table, 0, 0, 2, ' ', 0)
		usual := result(situation{"", func(*channels.Case, *channels.Error, *channels.Policy) {}}, fault)
		fmt.Fprintf(w, "  as a rule\t→ %s\n", usual)
		for _, s := range append(situations(), special(fault)...) {
			if r := result(s, fault); r != usual { // what makes no difference is left out
				fmt.Fprintf(w, "  %s\t→ %s\n", s.when, r)
			}
		}
		_ = w.Flush()
		table.WriteByte('\n')
	}
	golden.Check(t, "testdata/next.golden", table.String())
}

// special are the rows that only one fault has.
func special(fault tidings.Outcome) []situation {
	dead := func(ago time.Duration) func(*channels.Case, *channels.Error, *channels.Policy) {
		return func(c *channels.Case, e *channels.Error, _ *channels.Policy) { e.DeadSince = c.Registered.Add(ago) }
	}
	rule := func(r tidings.OnUnknown) func(*channels.Case, *channels.Error, *channels.Policy) {
		return func(_ *channels.Case, _ *channels.Error, p *channels.Policy) { p.Unknown = r }
	}
	switch fault {
	case tidings.RecipientDead:
		return []situation{
			{"dead since after its registration", dead(time.Second)},
			{"dead since before its registration", dead(-time.Second)},
			{"only the second in 24 hours is proof", func(_ *channels.Case, e *channels.Error, _ *channels.Policy) { e.Twice = true }},
		}
	case tidings.OutcomeUnknown:
		return []situation{
			{"rule: wait 2m for a receipt, then retry", rule(tidings.OnUnknown{Wait: 2 * time.Minute, Retry: true})},
			{"rule: wait 15m for a receipt", rule(tidings.OnUnknown{Wait: 15 * time.Minute})},
			{"rule: give up", rule(tidings.OnUnknown{})},
		}
	}
	return nil
}

// result is what follows a fault in a situation.
func result(s situation, fault tidings.Outcome) string {
	c, e, p := ordinary(), &channels.Error{Fault: fault}, policy
	s.c(&c, e, &p)
	return sentence(c, channels.Next(c, e, p))
}

// sentence is a step in words.
func sentence(c channels.Case, s channels.Step) string {
	words := []string{string(s.Status)}
	if s.Reason != "" {
		words[0] += " (" + string(s.Reason) + ")"
	}
	switch {
	case s.Another:
		words = append(words, "next provider at once")
	case s.Status == tidings.Unknown && s.DueAt.IsZero():
		words = append(words, "no more waiting")
	case !s.DueAt.IsZero():
		words = append(words, "due in "+s.DueAt.Sub(c.Now).String())
	}
	for _, mark := range []struct {
		on   bool
		word string
	}{{s.Refund, "no attempt spent"}, {s.Breaker, "counts for the breaker"}, {s.Page, "page"}, {s.Effect != "", string(s.Effect) + " the address"}} {
		if mark.on {
			words = append(words, mark.word)
		}
	}
	return strings.Join(words, ", ")
}

// drawn is any case, fault and policy.
func drawn(t *rapid.T) (channels.Case, *channels.Error, channels.Policy) {
	span := func(most time.Duration, name string) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
	}
	p := channels.Policy{
		Base: span(time.Minute, "base"), Cap: span(time.Hour, "cap"), MaxAttempts: rapid.IntRange(1, 30).Draw(t, "max"),
		Unknown: tidings.OnUnknown{Wait: span(time.Hour, "wait") * time.Duration(rapid.IntRange(0, 1).Draw(t, "waits")), Retry: rapid.Bool().Draw(t, "retry")},
	}
	c := channels.Case{
		Tries: rapid.IntRange(1, 2000).Draw(t, "tries"), Others: rapid.IntRange(0, 3).Draw(t, "others"), Now: noon,
		Registered: noon.Add(-span(time.Hour, "registered")), ExpiresAt: noon.Add(span(48*time.Hour, "left") - time.Hour),
		Jitter: rapid.Float64Range(0, 0.999999).Draw(t, "jitter"),
	}
	e := &channels.Error{Fault: rapid.SampledFrom(append(tidings.Faults(), "unheard_of")).Draw(t, "fault"), After: span(72*time.Hour, "after") * time.Duration(rapid.IntRange(0, 1).Draw(t, "asks"))}
	return c, e, p
}

func TestNextIsNeverDueAfterTheExpiryNorBeforeNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, e, p := drawn(t)
		s := channels.Next(c, e, p)
		if s.Status == tidings.Parked && s.DueAt.IsZero() {
			t.Fatal("parked without a due time: nothing would ever wake it")
		}
		if !s.DueAt.IsZero() && (s.DueAt.Before(c.Now) || s.DueAt.After(c.ExpiresAt)) {
			t.Fatalf("due %s from now, %s left", s.DueAt.Sub(c.Now), c.ExpiresAt.Sub(c.Now))
		}
	})
}

func TestNextNeverSpendsMoreThanTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, e, p := drawn(t)
		s := channels.Next(c, e, p)
		if s.Status == tidings.Parked && !s.Refund && c.Tries >= p.MaxAttempts {
			t.Fatalf("try %d of %d is followed by another", c.Tries, p.MaxAttempts)
		}
	})
}

func TestNextPausesWithinTheBackoffUnlessAskedOtherwise(t *testing.T) {
	retried := []tidings.Outcome{tidings.Throttled, tidings.Transient, tidings.NotSent, tidings.RecipientTemp}
	rapid.Check(t, func(t *rapid.T) {
		c, e, p := drawn(t)
		s := channels.Next(c, e, p)
		if s.Status != tidings.Parked || s.Another || !slices.Contains(retried, e.Fault) {
			return
		}
		pause, left := s.DueAt.Sub(c.Now), c.ExpiresAt.Sub(c.Now)
		if e.After > 0 {
			if pause != min(e.After, left) {
				t.Fatalf("it asked for %s with %s left and gets %s", e.After, left, pause)
			}
			return
		}
		longest := p.Cap
		if c.Tries < 40 {
			longest = min(p.Cap, p.Base<<min(c.Tries-1, 20))
		}
		if pause > longest {
			t.Fatalf("pause of %s after try %d, longest %s", pause, c.Tries, longest)
		}
	})
}

func TestNextGivesEveryEndAReasonAndKeepsAddressesUnlessTheFaultIsTheirs(t *testing.T) {
	theirs := []tidings.Outcome{tidings.RecipientDead, tidings.RecipientSuspect, tidings.RecipientOptout}
	rapid.Check(t, func(t *rapid.T) {
		c, e, p := drawn(t)
		s := channels.Next(c, e, p)
		if s.Status != tidings.Parked && s.Reason == "" {
			t.Fatalf("%s without a reason", s.Status)
		}
		if s.Effect != channels.NoEffect && !slices.Contains(theirs, e.Fault) {
			t.Fatalf("%s does %s to the address", e.Fault, s.Effect)
		}
	})
}

func TestNextNeverSaysThatAnUnknownOutcomeFailed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, e, p := drawn(t)
		e.Fault = tidings.OutcomeUnknown
		s := channels.Next(c, e, p)
		if s.Status != tidings.Parked && s.Status != tidings.Unknown {
			t.Fatalf("it may have been accepted, and is %s (%s)", s.Status, s.Reason)
		}
	})
}
