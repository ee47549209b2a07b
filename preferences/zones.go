package preferences

import (
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // zones are known without files of the system

	"tidings"
)

// Zones finds the zone whose wall clock a user lives by. It is safe for concurrent use, and keeps
// what it has loaded: no more than there are zones.
type Zones struct {
	fallback *time.Location
	loaded   sync.Map // name → *time.Location
}

// NewZones makes Zones; fallback is the IANA name of the zone of users of whom nothing is known.
func NewZones(fallback string) (*Zones, error) {
	zone, err := time.LoadLocation(fallback)
	if err != nil {
		return nil, fmt.Errorf("load the default time zone: %w", err)
	}
	return &Zones{fallback: zone}, nil
}

// Of is the user's zone: the one they named, else the deployment's. A nil Zones knows UTC alone.
func (z *Zones) Of(u *tidings.User) *time.Location {
	if z == nil {
		return time.UTC
	}
	if u.Timezone == "" {
		return z.fallback
	}
	if zone, ok := z.loaded.Load(u.Timezone); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(u.Timezone)
	if err != nil { // known when it was stored, and gone from the data since
		return z.fallback
	}
	z.loaded.Store(u.Timezone, zone)
	return zone
}
