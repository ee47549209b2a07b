package workers

import (
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/lanes"
	"tidings/internal/setting"
)

// DefaultConfig is what holds where the operator says nothing.
func DefaultConfig() Config {
	return Config{
		Delivery: Delivery{
			RetryBase: time.Second, RetryCap: 15 * time.Minute, MaxAttempts: 24, Lease: time.Minute, Sweep: 5 * time.Second,
			DedupeWindow: 24 * time.Hour, ExpiresIn: 24 * time.Hour, ReleaseSpread: time.Minute,
		},
		Retention: 30 * 24 * time.Hour,
		Breaker:   Breaker{Failures: 5, Window: 30 * time.Second, OpenFor: 10 * time.Second, Slow: 0.9},
	}
}

// Lane is the configuration of one lane: its own entry, over its channel's, over the defaults.
func (c Config) Lane(l tidings.Lane) LaneConfig {
	out := LaneConfig{Limit: 1_000_000, MaxWait: 10 * time.Minute, Workers: 16, AckWait: 30 * time.Second, SideRate: 20}
	if l.Channel() == tidings.Push {
		out.Workers = 64 // push services answer many calls on one connection
	}
	for _, key := range []string{string(l.Channel()), string(l)} {
		over := c.Lanes[key]
		if over.Limit > 0 {
			out.Limit = over.Limit
		}
		if over.MaxWait > 0 {
			out.MaxWait = over.MaxWait
		}
		if over.Workers > 0 {
			out.Workers = over.Workers
		}
		if over.AckWait > 0 {
			out.AckWait = over.AckWait
		}
		if over.SideRate > 0 {
			out.SideRate = over.SideRate
		}
	}
	return out
}

// leastRetention is the shortest retention: receipts of a day ago still find their delivery.
const leastRetention = 24 * time.Hour

// Validate refuses what cannot be meant or cannot work together.
func (c Config) Validate() error {
	d := c.Delivery
	for name, span := range map[string]time.Duration{
		"delivery.retry_base": d.RetryBase, "delivery.retry_cap": d.RetryCap, "delivery.lease": d.Lease, "delivery.sweep": d.Sweep,
		"delivery.dedupe_window": d.DedupeWindow, "delivery.expires_in": d.ExpiresIn,
		"breaker.window": c.Breaker.Window, "breaker.open_for": c.Breaker.OpenFor,
	} {
		if span <= 0 {
			return setting.Wrong(name, "must be above 0")
		}
	}
	switch {
	case d.RetryCap < d.RetryBase:
		return setting.Wrong("delivery.retry_cap", "%v is below retry_base %v", d.RetryCap, d.RetryBase)
	case d.ReleaseSpread < 0:
		return setting.Wrong("delivery.release_spread", "must not be below 0")
	case d.MaxAttempts < 1:
		return setting.Wrong("delivery.max_attempts", "must be above 0")
	case c.Retention < leastRetention:
		return setting.Wrong("retention", "must be at least %v", leastRetention)
	case c.Breaker.Failures < 1:
		return setting.Wrong("breaker.failures", "must be above 0")
	case c.Breaker.Slow < 0 || c.Breaker.Slow > 1:
		return setting.Wrong("breaker.slow", "it is a part of a provider's timeout, from 0 (none is slow) to 1, not %v", c.Breaker.Slow)
	}
	return c.validateLanes()
}

// LaneKeys are the names under which lanes are configured: channels, and lanes.
func LaneKeys() []string {
	var known []string
	for _, ch := range tidings.Channels() {
		known = append(known, string(ch), string(tidings.LaneOf(ch, tidings.Urgent)), string(tidings.LaneOf(ch, tidings.Bulk)))
	}
	return known
}

func (c Config) validateLanes() error {
	known := LaneKeys()
	for key, l := range c.Lanes {
		if !slices.Contains(known, key) {
			return setting.Wrong("lanes."+key, "%q is neither a channel nor a lane such as sms.bulk", key)
		}
		if l.Limit < 0 || l.MaxWait < 0 || l.Workers < 0 || l.AckWait < 0 || l.SideRate < 0 {
			return setting.Wrong("lanes."+key, "nothing may be below 0")
		}
	}
	for _, ch := range tidings.Channels() {
		for _, p := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
			if lane := tidings.LaneOf(ch, p); c.sets(ch, lane) {
				if err := c.ValidateAckWait(lane); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ValidateAckWait refuses a lane whose entries come back later than its leases end.
func (c Config) ValidateAckWait(lane tidings.Lane) error {
	wait, lease := c.Lane(lane).AckWait, c.Delivery.Lease
	if wait < lease {
		return nil
	}
	path := "lanes." + string(lane) + ".ack_wait"
	if own := c.Lanes[string(lane)]; own.AckWait == 0 && c.Lanes[string(lane.Channel())].AckWait != 0 {
		path = "lanes." + string(lane.Channel()) + ".ack_wait"
	}
	return setting.Wrong(path, "%v must be below delivery.lease %v", wait, lease)
}

// sets reports whether the configuration speaks of the lane. What it does not speak of is checked
// with the providers that use it: a lane that nobody sends through contradicts nothing.
func (c Config) sets(ch tidings.Channel, lane tidings.Lane) bool {
	_, whole := c.Lanes[string(ch)]
	_, one := c.Lanes[string(lane)]
	return whole || one
}

// longestMargin is what must be left of a lease when a provider call has run into its time-out:
// time to record it. Leases of less than twenty seconds leave a quarter.
const longestMargin = 5 * time.Second

// Margin is what must be left of the lease when a call has run into its time-out.
func (d Delivery) Margin() time.Duration { return min(longestMargin, d.Lease/4) }

// validateWith checks the spans of the configuration against those of the providers.
func (c Config) validateWith(providers []Provider) error {
	if err := c.Validate(); err != nil {
		return err
	}
	for _, p := range providers {
		if p.Timeout <= 0 || p.Concurrency < 1 || p.PerSecond < 0 {
			return fmt.Errorf("provider %s: timeout and concurrency must be above 0, rate_per_second not below 0", p.Name)
		}
		if margin := c.Delivery.Margin(); p.Timeout+margin >= c.Delivery.Lease {
			return fmt.Errorf("provider %s: timeout %v and %v to record it must be below delivery.lease %v: a delivery would be tried again while its call is under way",
				p.Name, p.Timeout, margin, c.Delivery.Lease)
		}
		for _, priority := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
			lane := tidings.LaneOf(p.Channel, priority)
			if wait := c.Lane(lane).AckWait; p.Timeout >= wait {
				return fmt.Errorf("provider %s: timeout %v must be below lanes.%s.ack_wait %v", p.Name, p.Timeout, lane, wait)
			}
			if err := c.ValidateAckWait(lane); err != nil {
				return err
			}
		}
	}
	return nil
}

// Spec is how the lane is to be made.
func (c Config) Spec(l tidings.Lane) lanes.Spec {
	lane := c.Lane(l)
	return lanes.Spec{Lane: l, MaxIDs: min(lane.Limit, lane.Workers*idsAWorker), AckWait: lane.AckWait, MaxInHand: maxInHand}
}

const (
	idsAWorker = 1000 // ten seconds of calls of ten milliseconds
	maxInHand  = 1024 // entries, over all processes; above what one process holds, since fetching at the limit is slow
)
