// Package intake is the only place that makes notifications and deliveries.
//
// It promises that a notification is durable before its result is returned, that equal
// requests give one notification, and that what is refused leaves no trace. It must never call
// a provider.
package intake

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"tidings"
	"tidings/internal/lanes"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/templates"
)

// An Event is what an app posted, in its right form but not yet checked against the catalogue.
type Event struct {
	App         string
	Test        bool
	Type        string
	User        UserPatch
	Data        json.RawMessage // an object; nil is {}
	DedupeKey   string
	CollapseKey string
	Channels    []tidings.Channel // nil: all of the event type
	SendAt      time.Time
	ExpiresIn   time.Duration // 0: the event type's
	DryRun      bool
	At          time.Time // of a dry run: the instant to decide for
	Hash        [32]byte  // of the canonical request without its dedupe key
}

// A UserPatch names a user and the fields to merge into it; nil fields stay.
type UserPatch struct {
	ID         string
	Locale     *string
	Timezone   *string
	Email      *string
	Phone      *string
	Attributes json.RawMessage // merged member by member (RFC 7396)
}

// A Result is what became of an event.
type Result struct {
	ID        tidings.NotificationID // zero for a dry run
	Duplicate bool
	Status    tidings.NotificationStatus
	Decisions []tidings.Decision
	Rendered  map[tidings.Channel]tidings.Content // of a dry run
	Refusal   *Refusal                            // the event was not accepted
}

// A Refusal says why an event was not accepted, in the words of the API.
type Refusal struct {
	Code    string // unknown_event_type, missing_data, dedupe_conflict, lane_full, …
	Pointer string // RFC 6901, relative to the event; empty: the whole
	Detail  string
	After   time.Duration // for lane_full, not_ready and quota_exceeded: when to try again
}

// Error is the detail.
func (r *Refusal) Error() string { return r.Detail }

// Settings wire an Intake.
type Settings struct {
	Store     *store.Store
	Lanes     *lanes.Lanes
	Catalogue func() (*templates.Catalogue, int64)      // the current version
	Version   func(int64) (*templates.Catalogue, error) // a pinned one
	Providers map[tidings.Channel]bool                  // channels with a configured provider
	Types     map[string]string                         // configured provider name → vendor type, of push providers
	Defaults  Defaults
	Metrics   *observe.Metrics
	Log       *slog.Logger
}

// Defaults hold where neither the event nor its type says otherwise.
type Defaults struct {
	ExpiresIn    time.Duration
	DedupeWindow time.Duration
	Locale       string
	Timezone     string
}

// An Intake accepts events. It is safe for concurrent use.
type Intake struct{}

// New starts an Intake; Close ends it.
func New(s Settings) *Intake { panic("not built") }

// Close waits for the groups under way and refuses what comes later as not_ready.
func (in *Intake) Close() { panic("not built") }

// Post takes one event; it is grouped with others for the commit. An error means that it is not
// known to be durable; a refusal is in the Result.
func (in *Intake) Post(ctx context.Context, e Event) (Result, error) { panic("not built") }

// PostBatch takes up to 1000 events, each for itself.
func (in *Intake) PostBatch(ctx context.Context, events []Event) ([]Result, error) {
	panic("not built")
}

// Release decides again about holds whose time has come and writes what follows.
func (in *Intake) Release(ctx context.Context, holds []tidings.Hold, of []tidings.Notification, now time.Time) error {
	panic("not built")
}
