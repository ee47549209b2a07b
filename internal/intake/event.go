package intake

import (
	"encoding/json"
	"time"

	"tidings"
	"tidings/preferences"
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
	SendAtLocal time.Time     // the same by the user's wall clock; its own zone counts for nothing
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
	Explained []preferences.Explanation           // of a dry run: Decisions with what each rule said
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

func notReady() *Refusal {
	return &Refusal{Code: "not_ready", Detail: "events cannot be taken now; post it again later", After: retryAfter}
}

func dedupeConflict() *Refusal {
	return &Refusal{Code: "dedupe_conflict", Pointer: "/dedupe_key", Detail: "this key was used for another request; give each request a key of its own"}
}

func refuseAll(n int) []Result {
	results := make([]Result, n)
	for i := range results {
		results[i].Refusal = notReady()
	}
	return results
}
