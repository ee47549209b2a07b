package simulator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Rule makes one service misbehave. Rules are ordered: the first that matches a request is
// the only one applied to it, also before the rule for dead addresses.
type Rule struct {
	Provider string      `json:"provider"`          // the vendor type
	Address  string      `json:"address,omitzero"`  // with * for any run of characters; empty: all; "oauth": FCM's token endpoint
	Times    Times       `json:"times,omitzero"`    // how many matches until the rule is spent; left out: no end
	Share    Share       `json:"share,omitzero"`    // of the requests that it matches; left out: all
	Do       Do          `json:"do,omitzero"`       // what happens to the request
	Receipts ReceiptRule `json:"receipts,omitzero"` // what happens to its receipts
}

// Do says what happens to a request. Without a status, a reset or a hang it is answered as usual.
type Do struct {
	Status   int               `json:"status,omitzero"`   // the answer; SMTP: the reply code
	Reason   string            `json:"reason,omitzero"`   // the vendor's own code
	Headers  map[string]string `json:"headers,omitzero"`  // added to any answer
	Body     jsontext.Value    `json:"body,omitzero"`     // an object: merged into the answer's; else: the whole of it
	Delay    Span              `json:"delay,omitzero"`    // before anything is done
	Reset    string            `json:"reset,omitzero"`    // "before": nothing is accepted; "after": accepted; then the connection is cut unanswered
	Hang     Span              `json:"hang,omitzero"`     // silence, then the connection is cut; nothing is accepted, unless reset is "after"
	Streams  int               `json:"streams,omitzero"`  // HTTP/2: concurrent streams that new connections allow
	GoAway   int               `json:"goaway,omitzero"`   // HTTP/2: the connection is closed gracefully at every so many matches
	Enhanced string            `json:"enhanced,omitzero"` // SMTP: the enhanced status code
	At       string            `json:"at,omitzero"`       // SMTP: connect, ehlo, mail, rcpt, data or dot; empty: rcpt
}

// A ReceiptRule says what happens to the receipts of an accepted send.
type ReceiptRule struct {
	Delay     Span     `json:"delay,omitzero"`     // before each; else the vendor's default
	Order     []string `json:"order,omitzero"`     // the vendor's statuses to report; else its default
	Duplicate bool     `json:"duplicate,omitzero"` // each comes twice
	None      bool     `json:"none,omitzero"`      // none comes
}

// Times is how often a rule matches: once or more.
type Times int

// UnmarshalJSON reads a whole number above 0.
func (t *Times) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 1 {
		return errors.New("times is a whole number above 0; leave it out for no end")
	}
	*t = Times(n)
	return nil
}

// A Share is a part of a whole: above 0 and at most 1.
type Share float64

// UnmarshalJSON reads a number above 0 and at most 1.
func (s *Share) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f <= 0 || f > 1 {
		return errors.New("share is above 0 and at most 1; leave it out for all")
	}
	*s = Share(f)
	return nil
}

// A Span is a duration that is written like "1m30s".
type Span time.Duration

// UnmarshalText reads a Go duration that is not negative.
func (s *Span) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	if err == nil && d < 0 {
		err = errors.New("a span is not negative")
	}
	*s = Span(d)
	return err
}

// MarshalText writes a Go duration.
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

func (r Rule) validate() error {
	all := protocols()
	i := slices.IndexFunc(all, func(p protocol) bool { return p.typ == r.Provider })
	switch {
	case i < 0:
		return fmt.Errorf("provider %q is not simulated", r.Provider)
	case r.Times < 0:
		return errors.New("times is not negative")
	case r.Share < 0 || r.Share > 1:
		return errors.New("share is above 0 and at most 1")
	case r.Do.Status != 0 && (r.Do.Status < 200 || r.Do.Status > 599):
		return errors.New("status is 200 to 599")
	case !slices.Contains([]string{"", "before", "after"}, r.Do.Reset):
		return errors.New("reset is before or after")
	case r.Do.Streams < 0 || r.Do.GoAway < 0:
		return errors.New("streams and goaway are not negative")
	case !slices.Contains([]string{"", "connect", "ehlo", "mail", "rcpt", "data", "dot"}, r.Do.At):
		return errors.New("at is connect, ehlo, mail, rcpt, data or dot")
	case r.Do.Enhanced != "" && !enhancedStatus.MatchString(r.Do.Enhanced):
		return errors.New("enhanced is a status code such as 4.3.0")
	}
	return r.fits(all[i])
}

// enhancedStatus is the form of a status code of RFC 3463.
var enhancedStatus = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}$`)

// fits refuses what the protocol has not: it would be taken and never happen.
func (r Rule) fits(p protocol) error {
	later := r.Receipts.Delay > 0 || len(r.Receipts.Order) > 0 || r.Receipts.Duplicate
	switch {
	case !p.stages && (r.Do.At != "" || r.Do.Enhanced != ""):
		return fmt.Errorf("%s has no stages and no enhanced status codes", p.typ)
	case !p.streams && (r.Do.Streams > 0 || r.Do.GoAway > 0):
		return fmt.Errorf("%s has no streams to limit and no connections to close gracefully", p.typ)
	case p.reports == nil && later, p.mute && r.Receipts.None:
		return fmt.Errorf("%s sends no receipts", p.typ)
	}
	for _, status := range r.Receipts.Order {
		if err := p.reports(status); err != nil {
			return err
		}
	}
	return nil
}

// faults holds the rules in force.
type faults struct {
	mu    sync.Mutex
	rules []*counted // guarded by mu
}

// counted is a rule with how often it matched.
type counted struct {
	Rule
	matches int
}

func (f *faults) set(rules []Rule) error {
	list := make([]*counted, len(rules))
	for i, r := range rules {
		if err := r.validate(); err != nil {
			return fmt.Errorf("rule %d: %w", i, err)
		}
		list[i] = &counted{Rule: r}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = list
	return nil
}

func (f *faults) list() []Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	rules := make([]Rule, len(f.rules))
	for i, r := range f.rules {
		rules[i] = r.Rule
	}
	return rules
}

// A verdict is what the rules want done with one request; the zero verdict is nothing.
type verdict struct {
	Do
	Receipts ReceiptRule
	goAway   bool // this is the request after which the connection closes
	matched  bool
}

// match finds the rule for a request and counts the match. Where a protocol has stages, only
// rules of the given ones are looked at.
func (f *faults) match(typ, address string, at ...string) verdict {
	return f.first(func(r *counted) bool {
		return (len(at) == 0 || slices.Contains(at, r.Do.At)) && r.takes(typ, address)
	})
}

// oauth is the address of rules for requests of access tokens. Rules for all addresses are not
// for them.
const oauth = "oauth"

// matchOAuth is match for a request of an access token.
func (f *faults) matchOAuth(typ string) verdict {
	return f.first(func(r *counted) bool { return r.Address == oauth && r.takes(typ, oauth) })
}

func (f *faults) first(takes func(*counted) bool) verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if !takes(r) {
			continue
		}
		r.matches++
		return verdict{r.Do, r.Receipts, r.Do.GoAway > 0 && r.matches%r.Do.GoAway == 0, true}
	}
	return verdict{}
}

func (r *counted) takes(typ, address string) bool {
	return r.Provider == typ &&
		(r.Times == 0 || r.matches < int(r.Times)) &&
		(r.Address == "" || glob(r.Address, address)) &&
		(r.Share == 0 || rand.Float64() < float64(r.Share))
}

// streams is how many concurrent streams a new connection of a service allows; 0: its default.
func (f *faults) streams(typ string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if r.Provider == typ && r.Do.Streams > 0 {
			return r.Do.Streams
		}
	}
	return 0
}

// glob reports whether text has the form of pattern, where * stands for any run of characters.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == text
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
