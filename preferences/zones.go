package preferences

import (
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // zones are known without files of the system

	"tidings"
	"tidings/internal/numbers"
)

// Zones finds the zone whose wall clock a user lives by. It is safe for concurrent use, and keeps
// what it has loaded: no more than there are zones and areas of phone numbers.
type Zones struct {
	fallback *time.Location
	loaded   sync.Map // name → *time.Location
	areas    sync.Map // *numbers.Area → []*time.Location
}

// NewZones makes Zones; fallback is the IANA name of the zone of users of whom nothing is known.
func NewZones(fallback string) (*Zones, error) {
	zone, err := time.LoadLocation(fallback)
	if err != nil {
		return nil, fmt.Errorf("load the default time zone: %w", err)
	}
	return &Zones{fallback: zone}, nil
}

// A ZoneSource says how a user's zone was found.
type ZoneSource string

// The sources of zones.
const (
	ZoneOfUser    ZoneSource = "user"    // they named it
	ZoneOfPhone   ZoneSource = "phone"   // it is the likeliest at the home of their phone's number
	ZoneOfDefault ZoneSource = "default" // nothing is known of them
)

// ZoneSources is every ZoneSource.
func ZoneSources() []ZoneSource { return []ZoneSource{ZoneOfUser, ZoneOfPhone, ZoneOfDefault} }

// Of is the user's zone: the one they named, else the likeliest at the home of their phone's
// number, else the deployment's. A nil Zones knows UTC alone.
func (z *Zones) Of(u *tidings.User) *time.Location {
	zone, _ := z.find(u)
	return zone
}

func (z *Zones) find(u *tidings.User) (*time.Location, ZoneSource) {
	if z == nil {
		return time.UTC, ZoneOfDefault
	}
	if zone := z.load(u.Timezone); zone != nil {
		return zone, ZoneOfUser
	}
	if zones := z.around(u.Phone); len(zones) > 0 {
		return zones[0], ZoneOfPhone
	}
	return z.fallback, ZoneOfDefault
}

// Called are the zones in one of which the user is when a phone rings: the one they named, else
// all at the home of its number, else the deployment's.
func (z *Zones) Called(u *tidings.User, phone string) []*time.Location {
	if z == nil {
		return []*time.Location{time.UTC}
	}
	if zone := z.load(u.Timezone); zone != nil {
		return []*time.Location{zone}
	}
	if zones := z.around(phone); len(zones) > 0 {
		return zones
	}
	return []*time.Location{z.fallback}
}

// Place completes facts with where the user is.
func (z *Zones) Place(f *Facts) {
	f.Zone, f.ZoneFrom = z.find(&f.User)
	f.Zones = z
}

// around are the zones of a number's area; none where its digits tell of no place.
func (z *Zones) around(phone string) []*time.Location {
	if phone == "" {
		return nil
	}
	area := numbers.AreaOf(phone)
	if area == nil {
		return nil
	}
	if zones, ok := z.areas.Load(area); ok {
		return zones.([]*time.Location)
	}
	var zones []*time.Location
	for _, name := range area.Zones {
		if zone := z.load(name); zone != nil {
			zones = append(zones, zone)
		}
	}
	z.areas.Store(area, zones)
	return zones
}

// load is the zone of that name; nil: it is empty, or was known when it was stored and has gone from the data since.
func (z *Zones) load(name string) *time.Location {
	if name == "" {
		return nil
	}
	if zone, ok := z.loaded.Load(name); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	z.loaded.Store(name, zone)
	return zone
}
