package wire

import (
	"encoding/json"
	"fmt"
	"slices"

	"tidings"
	"tidings/api/problem"
	"tidings/api/strict"
)

// Event is what an app posts.
type Event struct {
	Type        Name              `json:"type" doc:"The event type, as in the catalogue."`
	User        UserRef           `json:"user" doc:"Whom it is for: the user's id, or an object whose fields are merged into the user. An unknown user is made."`
	Data        json.RawMessage   `json:"data,omitempty" doc:"What the templates show: an object of at most 64 KiB, at most 32 levels deep."`
	DedupeKey   Key               `json:"dedupe_key,omitempty" doc:"The same key again, within the window of the event type, gives the first notification. Idempotency-Key is read when it is absent."`
	Channels    []tidings.Channel `json:"channels,omitempty" doc:"Only these of the channels of the event type."`
	SendAt      Time              `json:"send_at,omitzero" doc:"Not before this time."`
	SendAtLocal LocalTime         `json:"send_at_local,omitzero" doc:"Not before the user's wall clock shows this time, in their zone as this event leaves it. A time that their clock is put forward over means the first instant after the gap (the decision says shifted), one that occurs twice the first. Not beside send_at."`
	ExpiresIn   Expiry            `json:"expires_in,omitzero" doc:"How long it is of use, from send_at, send_at_local or now."`
	CollapseKey Key               `json:"collapse_key,omitempty" doc:"A later notification of the same app and user with the same key takes the place of what still waits or is held of this one, and replaces it on the device where it was sent. One that is for later (send_at) does so only when its time has come."`
	DryRun      bool              `json:"dry_run,omitempty" doc:"Decide, explain and render, and change nothing."`
	At          Time              `json:"at,omitzero" doc:"Only with dry_run: the instant to decide for, before the year 3000. All that is known counts as it stands now, also for an instant in the past: earlier counts are not kept, and the explanation says so."`
}

// ReadJSON reads the event.
func (e *Event) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		switch name {
		case "type":
			e.Type.ReadJSON(in)
		case "user":
			e.User.ReadJSON(in)
		case "data":
			e.Data, _ = in.Free(maxData, maxDepth)
		case "dedupe_key":
			e.DedupeKey.ReadJSON(in)
		case "channels":
			e.Channels = channels(in)
		case "send_at":
			e.SendAt.ReadJSON(in)
		case "send_at_local":
			e.SendAtLocal.ReadJSON(in)
		case "expires_in":
			e.ExpiresIn.ReadJSON(in)
		case "collapse_key":
			e.CollapseKey.ReadJSON(in)
		case "dry_run":
			e.DryRun, _ = in.Bool()
		case "at":
			e.At.ReadJSON(in)
		default:
			return false
		}
		return true
	}, "type", "user")
	if !e.SendAt.IsZero() && !e.SendAtLocal.IsZero() {
		in.ReportAt("send_at_local", problem.InvalidInput, "is not taken beside send_at")
	}
	if e.At.Far() {
		in.ReportAt("at", problem.InvalidInput, TooFar)
	}
	if !e.At.IsZero() && !e.DryRun {
		in.ReportAt("at", problem.InvalidInput, "is taken with dry_run only")
	}
}

// channels reads the channels that an event is narrowed to.
func channels(in *strict.Input) (all []tidings.Channel) {
	n, ok := in.Array(func(int) {
		s, ok := in.String()
		c := tidings.Channel(s)
		switch {
		case !ok:
		case !slices.Contains(tidings.Channels(), c):
			in.Report(fmt.Sprintf("must be one of %v", tidings.Channels()))
		case slices.Contains(all, c):
			in.Report("is given twice")
		default:
			all = append(all, c)
		}
	})
	if ok && n == 0 {
		in.Report("must not be empty; leave it out for all channels of the event type")
	}
	return all
}

// UserRef names a user, and the fields to merge into it. A bare id is read too.
type UserRef struct {
	ID Name `json:"id"`
	UserFields
}

// UserFields are what callers tell about a user; absent ones stay as they are.
type UserFields struct {
	Locale     *Locale         `json:"locale,omitempty" doc:"Language tag; absent: the deployment's default."`
	Timezone   *Zone           `json:"timezone,omitempty" doc:"IANA name; absent: the likeliest at the home of the phone's number, else the deployment's default."`
	Email      *Email          `json:"email,omitempty" doc:"Becomes an address of the user."`
	Phone      *Phone          `json:"phone,omitempty" doc:"Becomes an address of the user."`
	Attributes json.RawMessage `json:"attributes,omitempty" doc:"What templates may show of the user: an object."`
}

// ReadJSON reads the reference: an id, or an object with one.
func (u *UserRef) ReadJSON(in *strict.Input) {
	if in.Kind() == '"' {
		u.ID.ReadJSON(in)
		return
	}
	in.Object(func(name string) bool {
		if name == "id" {
			u.ID.ReadJSON(in)
			return true
		}
		return u.field(in, name)
	}, "id")
}

// Like says that a bare id and an object are both a reference.
func (UserRef) Like() []any {
	type object UserRef // without methods: an object and no more
	return []any{Name(""), object{}}
}

func (u *UserFields) field(in *strict.Input, name string) bool {
	switch name {
	case "locale":
		u.Locale = new(Locale)
		u.Locale.ReadJSON(in)
	case "timezone":
		u.Timezone = new(Zone)
		u.Timezone.ReadJSON(in)
	case "email":
		u.Email = new(Email)
		u.Email.ReadJSON(in)
	case "phone":
		u.Phone = new(Phone)
		u.Phone.ReadJSON(in)
	case "attributes":
		u.Attributes, _ = in.Free(maxData, maxDepth)
	default:
		return false
	}
	return true
}

// MaxBatch is how many events one batch may have.
const MaxBatch = 1000

// Batch is many events at once, each for itself.
type Batch struct {
	Events []Item `json:"events" doc:"1 to 1000 events; pointers of problems are relative to the event."`
}

// Item is an event of a batch, not read yet: one that is broken does not fail the others.
type Item struct{ json.RawMessage }

// Like says that an item is an event.
func (Item) Like() []any { return []any{Event{}} }

// ReadJSON reads the batch, and leaves its events unread.
func (b *Batch) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		if name != "events" {
			return false
		}
		n, ok := in.Array(func(i int) {
			if raw := in.Raw(); i < MaxBatch {
				b.Events = append(b.Events, Item{json.RawMessage(raw.Clone())})
			}
		})
		if ok && (n == 0 || n > MaxBatch) {
			in.Report("must have 1 to 1000 events")
		}
		return true
	}, "events")
}
