package wire

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"tidings"
	"tidings/api/problem"
	"tidings/api/strict"
	"tidings/preferences"
)

// The bounds of what a person was shown, in bytes.
const (
	maxWording = 4 << 10
	maxVersion = 128
)

// The actions of a ConsentChange.
const (
	Give     = "give"
	Withdraw = "withdraw"
)

// ConsentChange is a consent to one category that an app got from a person, or that they took back.
type ConsentChange struct {
	Category Name               `json:"category"`
	Channel  tidings.Channel    `json:"channel,omitempty" doc:"Absent: the whole category."`
	Action   string             `json:"action" doc:"give or withdraw."`
	Wording  string             `json:"wording,omitempty" doc:"What the person was shown: 1 to 4096 bytes. Required to give."`
	Version  string             `json:"version,omitempty" doc:"Of that wording: 1 to 128 bytes. Required to give."`
	Source   preferences.Source `json:"source,omitempty" doc:"By which way it came: api (unless told), page or operator."`
}

// ReadJSON reads the change. Whether there is such a category is not known here.
func (c *ConsentChange) ReadJSON(in *strict.Input) {
	c.Source = preferences.SourceAPI
	var given []string
	in.Object(func(name string) bool {
		given = append(given, name)
		switch name {
		case "category":
			c.Category.ReadJSON(in)
		case "channel":
			c.Channel = word(in, tidings.Channels()...)
		case "action":
			c.Action = word(in, Give, Withdraw)
		case "wording":
			c.Wording = shown(in, maxWording)
		case "version":
			c.Version = shown(in, maxVersion)
		case "source":
			c.Source = word(in, preferences.SourceAPI, preferences.SourcePage, preferences.SourceOperator)
		default:
			return false
		}
		return true
	}, "category", "action")
	for _, name := range []string{"wording", "version"} {
		if c.Action == Give && !slices.Contains(given, name) {
			in.ReportAt(name, problem.InvalidInput, "is required to give a consent")
		}
	}
}

// word is one of a closed list.
func word[T ~string](in *strict.Input, words ...T) T {
	s, ok := in.String()
	for _, w := range words {
		if s == string(w) {
			return w
		}
	}
	if ok {
		in.Report(fmt.Sprintf("must be one of %v", words))
	}
	return ""
}

func shown(in *strict.Input, limit int) string {
	s, ok := in.String()
	if ok && (s == "" || len(s) > limit || !utf8.ValidString(s)) {
		in.Report(fmt.Sprintf("must have 1 to %d bytes", limit))
		return ""
	}
	return s
}

// Consent is one line of the consent ledger: an opt-in or an opt-out of a user, a thread that was
// muted, or a setting that was changed.
type Consent struct {
	ID       tidings.ConsentID        `json:"id"`
	Category string                   `json:"category" doc:"Empty: all of them."`
	Channel  string                   `json:"channel" doc:"Empty: all of them."`
	Action   preferences.ConsentState `json:"action" doc:"asked: to be confirmed by a link. muted and unmuted are about a thread, set about a setting."`
	About    string                   `json:"about,omitempty" doc:"The key of the thread; or the setting: quiet_hours, timezone or locale."`
	Value    string                   `json:"value,omitempty" doc:"What a setting was set to, quiet hours as 22:00-07:00; absent: it was forgotten."`
	Wording  string                   `json:"wording" doc:"What the person was shown; empty: not told."`
	Version  string                   `json:"version"`
	Source   preferences.Source       `json:"source" doc:"By which way it came."`
	App      string                   `json:"app" doc:"Whose key it was; empty: nobody's."`
	At       Time                     `json:"at"`
	// What the person has to open, of a consent that was asked for just now.
	ConfirmURL       string `json:"confirm_url,omitempty" doc:"Of a category with double_opt_in, once: the link by which the person confirms. Send it to them."`
	ConfirmExpiresAt Time   `json:"confirm_expires_at,omitzero" doc:"From then on the link is of no use."`
}

// Consents is a page of the consent ledger of a user, newest first.
type Consents struct {
	Data       []Consent `json:"data"`
	NextCursor *string   `json:"next_cursor" doc:"The cursor of the next page; null: this is the last."`
}
