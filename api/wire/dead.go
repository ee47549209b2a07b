package wire

import (
	"fmt"
	"slices"

	"tidings"
	"tidings/api/strict"
)

// DeadLetter is a delivery that needs a person.
type DeadLetter struct {
	ID             tidings.DeliveryID     `json:"id"`
	NotificationID tidings.NotificationID `json:"notification_id"`
	App            string                 `json:"app"`
	Type           string                 `json:"type"`
	UserID         string                 `json:"user_id"`
	Category       string                 `json:"category"`
	Test           bool                   `json:"test"`
	Channel        tidings.Channel        `json:"channel"`
	Lane           tidings.Lane           `json:"lane"`
	AddressID      tidings.AddressID      `json:"address_id"`
	Address        string                 `json:"address" doc:"Masked."`
	Status         tidings.Status         `json:"status" doc:"dead."`
	Reason         tidings.Reason         `json:"reason" doc:"retries_spent, provider_broken, no_provider or poison."`
	QueuedAt       Time                   `json:"queued_at"`
	DiedAt         Time                   `json:"died_at"`
	ExpiresAt      Time                   `json:"expires_at" doc:"From then on another try is of no use."`
	LastAttempt    *Attempt               `json:"last_attempt" doc:"null: it was never attempted."`
}

// DeadLetters is a page of dead letters, those accepted last first.
type DeadLetters struct {
	Data       []DeadLetter `json:"data"`
	NextCursor *string      `json:"next_cursor" doc:"The cursor of the next page; null: this is the last."`
}

// The bounds of one redrive.
const (
	MaxRedriveIDs   = 1000
	RedriveLimit    = 10_000 // unless told
	MaxRedriveLimit = 100_000
)

// Redrive asks for dead letters to be tried again: those that all of its members select.
type Redrive struct {
	IDs           []tidings.DeliveryID `json:"ids,omitempty" doc:"Of these only: 1 to 1000."`
	Channel       tidings.Channel      `json:"channel,omitempty" doc:"On this channel."`
	Lane          tidings.Lane         `json:"lane,omitempty" doc:"In this lane."`
	Reason        tidings.Reason       `json:"reason,omitempty" doc:"Dead for this reason."`
	App           Name                 `json:"app,omitempty" doc:"Of this app."`
	Event         Name                 `json:"event,omitempty" doc:"Of this event type."`
	UserID        Name                 `json:"user_id,omitempty" doc:"To this user."`
	Provider      Name                 `json:"provider,omitempty" doc:"That this provider was called for."`
	Since         Time                 `json:"since,omitzero" doc:"Dead at this time or later."`
	Until         Time                 `json:"until,omitzero" doc:"Dead before this time."`
	Limit         int                  `json:"limit,omitempty" doc:"At most so many, those accepted first: 10000 unless told, at most 100000."`
	RatePerSecond Rate                 `json:"rate_per_second,omitempty" doc:"How many are due in a second; absent or null: all at once."`
	DryRun        bool                 `json:"dry_run,omitempty" doc:"Count, and change nothing."`
}

// ReadJSON reads what is to be tried again.
func (r *Redrive) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		switch name {
		case "ids":
			r.IDs = deliveryIDs(in)
		case "limit":
			n, ok := in.Int()
			if ok && (n < 1 || n > MaxRedriveLimit) {
				in.Report(fmt.Sprintf("must be a whole number from 1 to %d", MaxRedriveLimit))
			}
			r.Limit = int(n)
		case "rate_per_second":
			r.RatePerSecond.ReadJSON(in)
		case "dry_run":
			r.DryRun, _ = in.Bool()
		default:
			return r.filter(in, name)
		}
		return true
	})
}

func (r *Redrive) filter(in *strict.Input, name string) bool {
	switch name {
	case "channel":
		r.Channel = oneOf(in, tidings.Channels())
	case "lane":
		r.Lane = oneOf(in, allLanes())
	case "reason":
		r.Reason = oneOf(in, tidings.Reasons())
	case "app":
		r.App.ReadJSON(in)
	case "event":
		r.Event.ReadJSON(in)
	case "user_id":
		r.UserID.ReadJSON(in)
	case "provider":
		r.Provider.ReadJSON(in)
	case "since":
		r.Since.ReadJSON(in)
	case "until":
		r.Until.ReadJSON(in)
	default:
		return false
	}
	return true
}

func deliveryIDs(in *strict.Input) (all []tidings.DeliveryID) {
	n, ok := in.Array(func(int) {
		s, ok := in.String()
		if !ok {
			return
		}
		id, err := tidings.ParseDeliveryID(s)
		if err != nil {
			in.Report("must be the id of a delivery, such as dlv_…")
		}
		all = append(all, id)
	})
	if ok && (n == 0 || n > MaxRedriveIDs) {
		in.Report(fmt.Sprintf("must have 1 to %d ids; leave it out for all that the other fields select", MaxRedriveIDs))
	}
	return all
}

// oneOf reads a word of a closed list.
func oneOf[T ~string](in *strict.Input, list []T) T {
	s, ok := in.String()
	if ok && !slices.Contains(list, T(s)) {
		in.Report(fmt.Sprintf("must be one of %v", list))
		return ""
	}
	return T(s)
}

func allLanes() (all []tidings.Lane) {
	for _, c := range tidings.Channels() {
		all = append(all, tidings.LaneOf(c, tidings.Urgent), tidings.LaneOf(c, tidings.Bulk))
	}
	return all
}

// Redriven is what a redrive came to, or would come to in a dry run.
type Redriven struct {
	DryRun    bool `json:"dry_run"`
	Matched   int  `json:"matched" doc:"Dead letters that were selected, up to the limit."`
	Redriven  int  `json:"redriven" doc:"Of them: to be tried again. Whether they may still be sent is decided anew at each one's time."`
	Expired   int  `json:"expired" doc:"Of them: of no more use, so they end as expired."`
	Cancelled int  `json:"cancelled" doc:"Of them: called off, or a newer event with the same collapse_key took their place, so they end as cancelled."`
	Skipped   int  `json:"skipped" doc:"Left as they are: not dead when their turn came, not selected by the other fields, or, at this rate, due only after they expire."`
	More      bool `json:"more" doc:"More are selected than the limit lets through."`
	LastDueAt Time `json:"last_due_at" doc:"When the last of them is due; null: none is."`
}
