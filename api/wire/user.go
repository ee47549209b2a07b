package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tidings"
	"tidings/api/problem"
	"tidings/api/strict"
	"tidings/preferences"
)

// UserChange replaces what is known of a user.
type UserChange struct{ UserFields }

// ReadJSON reads the change.
func (u *UserChange) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool { return u.field(in, name) })
}

// User is a person to be told something.
type User struct {
	ID string `json:"id"`
	UserFields
	CreatedAt Time `json:"created_at"`
	UpdatedAt Time `json:"updated_at"`
}

// NewAddress registers an address of a user.
type NewAddress struct {
	Channel  tidings.Channel `json:"channel" doc:"push, email or sms."`
	Provider Name            `json:"provider,omitempty" doc:"With push: the configured provider that the token belongs to."`
	Token    string          `json:"token,omitempty" doc:"With push: 64 to 200 hexadecimal digits for APNs, 1 to 4096 printable characters for FCM."`
	Email    Email           `json:"email,omitempty" doc:"With email."`
	Phone    Phone           `json:"phone,omitempty" doc:"With sms."`
}

// ReadJSON reads the address. Whether the token fits its provider is not known here.
func (a *NewAddress) ReadJSON(in *strict.Input) {
	var given []string
	later := false // it has members of a kind of address whose turn has not come
	in.Object(func(name string) bool {
		switch name {
		case "channel":
			a.Channel = addressChannel(in)
			return true
		case "provider":
			a.Provider.ReadJSON(in)
		case "token":
			a.Token, _ = in.String()
		case "email":
			a.Email.ReadJSON(in)
		case "phone":
			a.Phone.ReadJSON(in)
		case "endpoint", "keys", "url":
			in.Refuse("is not supported yet")
			later = true
			return true
		default:
			return false
		}
		given = append(given, name)
		return true
	}, "channel")
	if a.Channel != "" && !later {
		members(in, a.Channel, given)
	}
}

func addressChannel(in *strict.Input) tidings.Channel {
	s, ok := in.String()
	switch c := tidings.Channel(s); {
	case !ok:
	case c == tidings.Push, c == tidings.Email, c == tidings.SMS:
		return c
	case slices.Contains(tidings.Channels(), c):
		in.RefuseLast("is not supported yet")
	default:
		in.Report("must be push, email or sms")
	}
	return ""
}

// members reports what an address of a channel lacks, and what it must not have.
func members(in *strict.Input, c tidings.Channel, given []string) {
	wanted := map[tidings.Channel][]string{
		tidings.Push: {"provider", "token"}, tidings.Email: {"email"}, tidings.SMS: {"phone"},
	}[c]
	for _, name := range wanted {
		if !slices.Contains(given, name) {
			in.ReportAt(name, problem.InvalidInput, "is required")
		}
	}
	for _, name := range given {
		if !slices.Contains(wanted, name) {
			in.ReportAt(name, problem.InvalidInput, fmt.Sprintf("does not belong to an address of %s", c))
		}
	}
}

// Address is one place where a user can be reached.
type Address struct {
	ID           tidings.AddressID     `json:"id"`
	Channel      tidings.Channel       `json:"channel"`
	Provider     string                `json:"provider"`
	Value        string                `json:"value" doc:"Masked."`
	Status       tidings.AddressStatus `json:"status"`
	Reason       tidings.Reason        `json:"reason"`
	RegisteredAt Time                  `json:"registered_at"`
	LastOKAt     Time                  `json:"last_ok_at"`
	RetiredAt    Time                  `json:"retired_at"`
}

// Addresses is a page of the addresses of a user, newest first.
type Addresses struct {
	Data       []Address `json:"data"`
	NextCursor *string   `json:"next_cursor" doc:"The cursor of the next page; null: this is the last."`
}

// Preferences are what a user wants.
type Preferences struct {
	All        bool                       `json:"all" doc:"false: nothing that is not critical."`
	Channels   map[tidings.Channel]bool   `json:"channels" doc:"false: nothing that is not critical on this channel."`
	Categories map[string]any             `json:"categories" doc:"A category is a truth value, which is all, or an object of truth values: all, and each channel that goes its own way."`
	Threads    map[string]map[string]bool `json:"threads,omitempty" doc:"By category, the threads that the user has muted: false by their key."`
	QuietHours *preferences.Hours         `json:"quiet_hours,omitempty" doc:"From start up to and without end, on the wall clock of the user's time zone; over midnight when end is before start."`
	Locale     string                     `json:"locale,omitempty"`
	Timezone   string                     `json:"timezone,omitempty"`
	Version    int64                      `json:"version" doc:"Rises whenever something shown here changes, whichever way it was changed, and only then; also in the ETag."`
}

// PatchedPreferences are what a user wants after a patch.
type PatchedPreferences struct {
	Preferences
	Confirm map[string]Link `json:"confirm,omitempty" doc:"By category with double_opt_in that the patch names and that waits to be confirmed: the newest link by which the person does so, within 7 days. Send it to them. POST …/consents gives the same, and keeps what the person was shown."`
}

// PreferencesPatch is a JSON merge patch (RFC 7396) of preferences: what it does not name stays.
type PreferencesPatch struct {
	All        json.RawMessage `json:"all,omitempty" doc:"A truth value; null forgets it."`
	Channels   json.RawMessage `json:"channels,omitempty" doc:"Truth values by channel; null forgets."`
	Categories json.RawMessage `json:"categories,omitempty" doc:"By category a truth value, which is the same as all, or truth values for all and by channel; what is not named stays; null forgets."`
	Threads    json.RawMessage `json:"threads,omitempty" doc:"By category and key of a thread: false mutes it, true and null take that back."`
	QuietHours json.RawMessage `json:"quiet_hours,omitempty" doc:"start and end, as 22:00 and 07:00; null forgets them."`
	Locale     *Nullable       `json:"locale,omitempty" doc:"Language tag; null forgets it."`
	Timezone   *Nullable       `json:"timezone,omitempty" doc:"IANA name; null forgets it."`
	Version    *int64          `json:"version,omitempty" doc:"The version that the caller saw; another current one is a conflict."`
}

// maxPatchDepth is how deep a patch of preferences may nest; three levels have a meaning.
const maxPatchDepth = 8

// ReadJSON reads the patch. What choices mean is not known here.
func (p *PreferencesPatch) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		switch name {
		case "all":
			p.All, _ = in.Flaws(maxPatchDepth)
		case "channels":
			p.Channels, _ = in.Flaws(maxPatchDepth)
		case "categories":
			p.Categories, _ = in.Flaws(maxPatchDepth)
		case "threads":
			p.Threads, _ = in.Flaws(maxPatchDepth)
		case "quiet_hours":
			p.QuietHours, _ = in.Flaws(maxPatchDepth)
		case "locale":
			p.Locale = nullable(in, new(Locale))
		case "timezone":
			p.Timezone = nullable(in, new(Zone))
		case "version":
			if n, ok := in.Int(); ok {
				p.Version = &n
			}
		default:
			return false
		}
		return true
	})
}

// Nullable is a text, or null for none.
type Nullable string

// Schema is the rule in words of JSON Schema.
func (Nullable) Schema() map[string]any { return map[string]any{"type": []string{"string", "null"}} }

func nullable[T interface {
	*Locale | *Zone
	strict.Reader
}](in *strict.Input, t T) *Nullable {
	var out Nullable
	if in.Kind() == 'n' {
		in.Raw()
		return &out
	}
	t.ReadJSON(in)
	switch t := any(t).(type) {
	case *Locale:
		out = Nullable(*t)
	case *Zone:
		out = Nullable(*t)
	}
	return &out
}

// Choices is the patch of what the user wants, without the members beside it.
func (p *PreferencesPatch) Choices() (json.RawMessage, error) {
	return json.Marshal(struct {
		All        json.RawMessage `json:"all,omitempty"`
		Channels   json.RawMessage `json:"channels,omitempty"`
		Categories json.RawMessage `json:"categories,omitempty"`
		Threads    json.RawMessage `json:"threads,omitempty"`
		QuietHours json.RawMessage `json:"quiet_hours,omitempty"`
	}{p.All, p.Channels, p.Categories, p.Threads, p.QuietHours})
}

// Named are the categories that the patch names.
func (p *PreferencesPatch) Named() []string {
	var named map[string]json.RawMessage
	if json.Unmarshal(p.Categories, &named) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(named))
}

// Link leads a person to a page.
type Link struct {
	URL       string `json:"url"`
	ExpiresAt Time   `json:"expires_at"`
}
