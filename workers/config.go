package workers

import (
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/lanes"
)

// DefaultConfig is what holds where the operator says nothing.
func DefaultConfig() Config {
	return Config{
		Delivery: Delivery{
			RetryBase: time.Second, RetryCap: 15 * time.Minute, MaxAttempts: 24, Lease: time.Minute, Sweep: 5 * time.Second,
			DedupeWindow: 24 * time.Hour, ExpiresIn: 24 * time.Hour,
		},
		Breaker: Breaker{Failures: 5, Window: 30 * time.Second, OpenFor: 10 * time.Second, Slow: 0.9},
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

// Validate refuses what cannot work together.
func (c Config) Validate() error {
	d := c.Delivery
	for name, span := range map[string]time.Duration{
		"retry_base": d.RetryBase, "retry_cap": d.RetryCap, "lease": d.Lease, "sweep": d.Sweep,
		"dedupe_window": d.DedupeWindow, "expires_in": d.ExpiresIn,
	} {
		if span <= 0 {
			return fmt.Errorf("delivery.%s: must be above 0", name)
		}
	}
	switch {
	case d.RetryCap < d.RetryBase:
		return fmt.Errorf("delivery: retry_cap %v is below retry_base %v", d.RetryCap, d.RetryBase)
	case d.MaxAttempts < 1:
		return fmt.Errorf("delivery.max_attempts: must be above 0")
	case c.Breaker.Failures < 1 || c.Breaker.Window <= 0 || c.Breaker.OpenFor <= 0:
		return fmt.Errorf("breaker: failures, window and open_for must be above 0")
	case c.Breaker.Slow < 0 || c.Breaker.Slow > 1:
		return fmt.Errorf("breaker.slow: it is a part of a provider's timeout, from 0 (none is slow) to 1, not %v", c.Breaker.Slow)
	}
	return c.validateLanes()
}

func (c Config) validateLanes() error {
	var known []string
	for _, ch := range tidings.Channels() {
		known = append(known, string(ch))
		for _, p := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
			lane := tidings.LaneOf(ch, p)
			known = append(known, string(lane))
			if wait := c.Lane(lane).AckWait; c.sets(ch, lane) && wait >= c.Delivery.Lease {
				return fmt.Errorf("lanes.%s.ack_wait: %v must be below delivery.lease %v", lane, wait, c.Delivery.Lease)
			}
		}
	}
	for key, l := range c.Lanes {
		if !slices.Contains(known, key) {
			return fmt.Errorf("lanes: %q is neither a channel nor a lane such as sms.bulk", key)
		}
		if l.Limit < 0 || l.MaxWait < 0 || l.Workers < 0 || l.AckWait < 0 || l.SideRate < 0 {
			return fmt.Errorf("lanes.%s: nothing may be below 0", key)
		}
	}
	return nil
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
			} else if wait >= c.Delivery.Lease {
				return fmt.Errorf("lanes.%s.ack_wait: %v must be below delivery.lease %v", lane, wait, c.Delivery.Lease)
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
