package workers

import (
	"fmt"
	"slices"
	"time"

	"tidings"
)

// DefaultConfig is what holds where the operator says nothing.
func DefaultConfig() Config {
	return Config{
		Delivery: Delivery{
			RetryBase: time.Second, RetryCap: 15 * time.Minute, MaxAttempts: 24, Lease: time.Minute, Sweep: 5 * time.Second,
			DedupeWindow: 24 * time.Hour, ExpiresIn: 24 * time.Hour,
		},
		Breaker: Breaker{Failures: 5, Window: 30 * time.Second, OpenFor: 10 * time.Second},
	}
}

// Lane is the configuration of one lane: its own entry, over its channel's, over the defaults.
func (c Config) Lane(l tidings.Lane) LaneConfig {
	out := LaneConfig{Limit: 50_000, MaxWait: 10 * time.Minute, Workers: 16, AckWait: 30 * time.Second}
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
			if wait := c.Lane(lane).AckWait; wait >= c.Delivery.Lease {
				return fmt.Errorf("lanes.%s.ack_wait: %v must be below delivery.lease %v", lane, wait, c.Delivery.Lease)
			}
		}
	}
	for key, l := range c.Lanes {
		if !slices.Contains(known, key) {
			return fmt.Errorf("lanes: %q is neither a channel nor a lane such as sms.bulk", key)
		}
		if l.Limit < 0 || l.MaxWait < 0 || l.Workers < 0 || l.AckWait < 0 {
			return fmt.Errorf("lanes.%s: nothing may be below 0", key)
		}
	}
	return nil
}
