package wire

import (
	"encoding/json"
	"strconv"

	"tidings"
	"tidings/api/strict"
)

// Lanes are all lanes.
type Lanes struct {
	Data       []Lane  `json:"data"`
	NextCursor *string `json:"next_cursor" doc:"null: all lanes are on one page."`
}

// Lane is how one lane stands.
type Lane struct {
	Name             tidings.Lane `json:"name"`
	Depth            int          `json:"depth" doc:"Deliveries due or in the lane, counted when asked (where more than 20,000 wait, seconds before); tidings_lane_depth is as old as the last sweep."`
	OldestAgeSeconds float64      `json:"oldest_age_seconds" doc:"How long the oldest of them has been due."`
	InFlight         int          `json:"in_flight" doc:"Being sent now, by all processes together; tidings_lane_in_flight is what one process sends."`
	Parked           int          `json:"parked" doc:"Waiting for a later time: the next try, or that fresh work goes first."`
	DrainPerSecond   float64      `json:"drain_per_second" doc:"Deliveries finished a second, over the last minute, by all processes together."`
	Limit            int          `json:"limit" doc:"How many may wait before posts are refused."`
	Paused           bool         `json:"paused"`
	RatePerSecond    Rate         `json:"rate_per_second" doc:"How many are sent a second, by all processes together; null: as many as the providers take."`
}

// LaneChange is what an operator sets for a lane.
type LaneChange struct {
	RatePerSecond Rate `json:"rate_per_second" doc:"How many are sent a second, by all processes together; null lifts the rate."`
}

// ReadJSON reads the change.
func (l *LaneChange) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		if name != "rate_per_second" {
			return false
		}
		l.RatePerSecond.ReadJSON(in)
		return true
	}, "rate_per_second")
}

// maxRate bounds a rate, a second: far above what one deployment sends.
const maxRate = 1_000_000

// Rate is how many a second; 0 is none, which JSON writes as null.
type Rate float64

// ReadJSON reads a number above 0, or null.
func (r *Rate) ReadJSON(in *strict.Input) {
	raw := in.Raw()
	if raw.Kind() == 'n' {
		*r = 0
		return
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n <= 0 || n > maxRate {
		in.Report("must be a number above 0 and up to 1000000, or null")
		return
	}
	*r = Rate(n)
}

// MarshalJSON writes the rate, or null for none.
func (r Rate) MarshalJSON() ([]byte, error) {
	if r == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(float64(r))
}

// Schema is the rule in words of JSON Schema.
func (Rate) Schema() map[string]any {
	return map[string]any{"type": []string{"number", "null"}, "exclusiveMinimum": 0, "maximum": maxRate}
}
