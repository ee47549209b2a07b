package preferences

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
)

// input is what a rule looks at, in a few words: counts of addresses and none of them, and nothing
// of the event's data.
func (q *question) input(rule string) string {
	switch rule {
	case "requested":
		return q.inputRequested()
	case "provider":
		return q.inputProvider()
	case "expiry":
		return q.usefulAt(later(q.now, q.SendAt))
	case "address":
		return q.inputAddress()
	case "brake":
		return either(q.Braked, "too many of this type to this user", "not tripped") + q.countedLater()
	case "schedule":
		return either(q.SendAt.IsZero(), "at once", "not before "+instant(q.SendAt))
	case "digest":
		return q.inputDigest()
	}
	return q.inputOfWishes(rule)
}

// inputOfWishes is the input of the rules that what is critical passes.
func (q *question) inputOfWishes(rule string) string {
	if q.critical() {
		return "the category is critical"
	}
	switch rule {
	case "all":
		return "all is " + setting(q.Preferences.All)
	case "channel":
		on, named := q.Preferences.Channels[q.channel]
		return fmt.Sprintf("%s is %s", q.channel, setting(chosen(on, named)))
	case "category":
		return q.inputCategory()
	case "thread":
		muted := q.Preferences.refusesThread(q.Event.Category.Name, q.Thread) != ""
		return either(q.Thread == "", "no thread", either(muted, "the thread is muted", "the thread is not muted"))
	case "consent":
		return q.inputConsent()
	case "quiet_hours":
		return q.inputQuietHours()
	case "limits":
		return q.inputLimits()
	}
	return ""
}

func (q *question) inputRequested() string {
	if q.Channels == nil {
		return "all channels"
	}
	names := make([]string, len(q.Channels))
	for i, c := range q.Channels {
		names[i] = string(c)
	}
	return "only " + strings.Join(names, ", ")
}

func (q *question) inputProvider() string {
	carries := q.Providers[q.channel]
	if carries == nil {
		return "no provider is configured"
	}
	var usable, stranded int
	for i := range q.Addresses {
		a := &q.Addresses[i]
		if _, stopped := q.Suppressed[a.ID]; a.Channel != q.channel || unusable(a) != "" || stopped {
			continue
		}
		usable++
		if !carries(a) {
			stranded++
		}
	}
	if stranded == 0 {
		return "a provider is configured"
	}
	return fmt.Sprintf("a provider is configured, but none carries to %d of the %d addresses that can be used", stranded, usable)
}

// usefulAt compares an instant with the expiry.
func (q *question) usefulAt(at time.Time) string {
	if q.ExpiresAt.IsZero() {
		return "of use for ever"
	}
	return fmt.Sprintf("at %s, of use until %s", instant(at), instant(q.ExpiresAt))
}

func (q *question) inputCategory() string {
	name := q.Event.Category.Name
	choice := q.Preferences.Categories[name]
	if on, named := choice.Channels[q.channel]; named {
		return fmt.Sprintf("%s is %s for %s", q.channel, setting(&on), name)
	}
	return fmt.Sprintf("%s is %s", name, setting(choice.All))
}

func (q *question) inputConsent() string {
	c := &q.Event.Category
	var parts []string
	if c.AsksFirst() {
		parts = append(parts, c.Name+" asks first; "+q.Preferences.Consents[c.Name].stance(q.channel))
	}
	if on, named := c.Channels[q.channel]; named && !on {
		asked := q.Preferences.Categories[c.Name].asks(q.channel)
		parts = append(parts, fmt.Sprintf("%s is off for %s until asked for; %s", q.channel, c.Name, either(asked, "it was", "it was not")))
	}
	if len(parts) == 0 {
		return "none is needed"
	}
	return strings.Join(parts, "; ")
}

// stance is where a consent stands on a channel.
func (c Consent) stance(channel tidings.Channel) string {
	switch said := fmt.Sprintf("%s on %s", c.State, instant(c.At)); {
	case c.State == "":
		return "no consent is recorded"
	case c.State == ConsentGiven && c.Waits(channel):
		return fmt.Sprintf("%s, but %s was asked for and is not confirmed", said, channel)
	default:
		return said
	}
}

func (q *question) inputAddress() string {
	var known, usable, quarantined, suppressed int
	for i := range q.Addresses {
		a := &q.Addresses[i]
		if a.Channel != q.channel {
			continue
		}
		known++
		_, stopped := q.Suppressed[a.ID]
		switch reason := unusable(a); {
		case reason == tidings.ReasonQuarantined:
			quarantined++
		case reason == "" && stopped:
			suppressed++
		case reason == "":
			usable++
		}
	}
	retired := known - usable - quarantined - suppressed
	return fmt.Sprintf("%d known: %d can be used, %d quarantined, %d retired, %d suppressed", known, usable, quarantined, retired, suppressed)
}

func (q *question) inputDigest() string {
	d := q.Event.Digest
	switch {
	case d == nil:
		return "the event type is not digested"
	case !slices.Contains(d.Channels, q.channel):
		return fmt.Sprintf("%s tells of each event for itself", q.channel)
	}
	return either(q.Digest, "it is a digest itself", fmt.Sprintf("gathered for %s", span(d.Window)))
}

func (q *question) inputLimits() string {
	if len(q.Event.Limits) == 0 {
		return "none"
	}
	if q.at.After(q.now) {
		return "counted when it is sent"
	}
	parts := make([]string, len(q.Event.Limits))
	for i := range q.Event.Limits {
		l := &q.Event.Limits[i]
		n := 0
		for _, at := range q.Told[l.Scope] {
			if at.Add(l.Per).After(q.now) {
				n++
			}
		}
		parts[i] = fmt.Sprintf("%d of %d told in %s of %s", n, l.Count, span(l.Per), counted(l.Scope))
	}
	return strings.Join(parts, "; ") + q.countedLater()
}

// counted is what a limit counts, by its scope.
func counted(scope string) string {
	switch kind, name, _ := strings.Cut(scope, ":"); kind {
	case "type":
		return "the event type " + name
	case "category":
		return "the category " + name
	}
	return "all that is not critical"
}

// countedLater is said of counts for an instant in the past: those of then are not kept.
func (q *question) countedLater() string {
	if !q.Counted.After(q.now) {
		return ""
	}
	return "; counted at " + instant(q.Counted) + ", since the counts of the past are not kept"
}

// setting is what a user chose; nil: nothing.
func setting(on *bool) string {
	if on == nil {
		return "not set"
	}
	return either(*on, "on", "off")
}

func chosen(on, named bool) *bool {
	if !named {
		return nil
	}
	return &on
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func instant(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }

// span is a duration without parts that are zero.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
