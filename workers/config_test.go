package workers

import (
	"strings"
	"testing"
	"time"

	"tidings"
)

func TestSpansThatContradictEachOtherAreRefused(t *testing.T) {
	tests := []struct {
		why    string
		change func(*Config, *Provider)
		want   string // empty: accepted
	}{
		{"the defaults fit together", func(*Config, *Provider) {}, ""},
		{"a call may not outlast the lease", func(c *Config, p *Provider) {
			c.Delivery.Lease, p.Timeout = 20*time.Second, 15*time.Second
			c.Lanes = map[string]LaneConfig{"sms": {AckWait: 19 * time.Second}, "push": {AckWait: 19 * time.Second}, "email": {AckWait: 19 * time.Second},
				"inbox": {AckWait: 19 * time.Second}, "webhook": {AckWait: 19 * time.Second}}
		}, "delivery.lease"},
		{"a call may not outlast its entry", func(_ *Config, p *Provider) { p.Timeout = 30 * time.Second }, "ack_wait"},
		{"an entry may not outlast the lease", func(c *Config, _ *Provider) {
			c.Lanes = map[string]LaneConfig{"sms.bulk": {AckWait: time.Minute}}
		}, "lanes.sms.bulk.ack_wait"},
		{"a call needs a time-out", func(_ *Config, p *Provider) { p.Timeout = 0 }, "timeout"},
		{"a provider needs a place for a call", func(_ *Config, p *Provider) { p.Concurrency = 0 }, "concurrency"},
		{"a lane nobody knows", func(c *Config, _ *Provider) { c.Lanes = map[string]LaneConfig{"fax": {}} }, "fax"},
		{"a breaker that never opens", func(c *Config, _ *Provider) { c.Breaker.Failures = 0 }, "breaker"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			c, p := DefaultConfig(), Provider{Name: "one", Channel: tidings.SMS, Timeout: 10 * time.Second, Concurrency: 64}
			tt.change(&c, &p)
			err := c.validateWith([]Provider{p})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestALaneTakesItsOwnOverItsChannelsOverTheDefaults(t *testing.T) {
	c := DefaultConfig()
	c.Lanes = map[string]LaneConfig{"sms": {Workers: 4, Limit: 10}, "sms.bulk": {Workers: 2}}
	if got := c.Lane("sms.bulk"); got.Workers != 2 || got.Limit != 10 || got.AckWait != 30*time.Second {
		t.Errorf("bulk %+v", got)
	}
	if got := c.Lane("sms.priority"); got.Workers != 4 {
		t.Errorf("priority %+v", got)
	}
	if spec := c.Spec("sms.bulk"); spec.MaxIDs != 10 || spec.AckWait != 30*time.Second {
		t.Errorf("spec %+v", spec)
	}
	if spec := c.Spec("push.bulk"); spec.MaxIDs != 64_000 {
		t.Errorf("spec %+v", spec)
	}
}
