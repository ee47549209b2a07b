// Package workers runs what has no caller: the senders of each lane and the dispatcher of what
// is due.
//
// It promises that nothing is sent without a claim, that permits are taken before the claim,
// and that every claim is recorded. It must never make a notification: released holds go to
// intake.
package workers

import (
	"context"
	"log/slog"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/lanes"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/templates"
)

// Config is the operator's part.
type Config struct {
	Delivery Delivery              `yaml:"delivery"`
	Lanes    map[string]LaneConfig `yaml:"lanes"` // by channel ("sms") or lane ("sms.bulk")
	Breaker  Breaker               `yaml:"breaker"`
}

// Delivery says how deliveries are retried and leased.
type Delivery struct {
	RetryBase    time.Duration `yaml:"retry_base"`
	RetryCap     time.Duration `yaml:"retry_cap"`
	MaxAttempts  int           `yaml:"max_attempts"`
	Lease        time.Duration `yaml:"lease"`
	Sweep        time.Duration `yaml:"sweep"`
	DedupeWindow time.Duration `yaml:"dedupe_window"`
	ExpiresIn    time.Duration `yaml:"expires_in"`
}

// LaneConfig says how one lane is worked.
type LaneConfig struct {
	Limit   int           `yaml:"limit"`    // deliveries that may wait in the log
	MaxWait time.Duration `yaml:"max_wait"` // longest acceptable wait
	Workers int           `yaml:"workers"`  // calls at once
	AckWait time.Duration `yaml:"ack_wait"`
}

// Breaker says when a provider is left alone.
type Breaker struct {
	Failures int           `yaml:"failures"`
	Window   time.Duration `yaml:"window"`
	OpenFor  time.Duration `yaml:"open_for"`
}

// A Provider is a configured provider with what is known of it.
type Provider struct {
	Name        string
	Type        string
	Channel     tidings.Channel
	Traits      channels.Traits
	Provider    channels.Provider
	Timeout     time.Duration
	Concurrency int
	PerSecond   float64 // 0: no limit
}

// A Route lists the providers that may carry a channel to countries (calling codes' ISO names, or "*").
type Route struct {
	Countries []string
	Providers []Weighted
}

// Weighted is a provider of a route: the first is drawn by weight, the rest follow in order.
type Weighted struct {
	Name   string
	Weight int // all zero: strictly in order
}

// Settings wire the workers.
type Settings struct {
	Config    Config
	Store     *store.Store
	Lanes     *lanes.Lanes
	Catalogue func(version int64) (*templates.Catalogue, error)
	Providers []Provider
	Routes    map[tidings.Channel][]Route // a channel without: its providers in configured order
	Release   func(ctx context.Context, holds []tidings.Hold, of []tidings.Notification, now time.Time) error
	Metrics   *observe.Metrics
	Log       *slog.Logger
}

// Workers are the running senders and the dispatcher.
type Workers struct{}

// Start starts them; Stop ends them.
func Start(ctx context.Context, s Settings) (*Workers, error) { panic("not built") }

// Stop stops fetching, lets what is in flight end until ctx ends, and gives the rest back.
func (w *Workers) Stop(ctx context.Context) error { panic("not built") }

// Wake tells the dispatcher that something is due at that time.
func (w *Workers) Wake(at time.Time) { panic("not built") }

// DrainPerSecond is how many deliveries of a lane finished a second over the last minute.
func (w *Workers) DrainPerSecond(lane tidings.Lane) float64 { panic("not built") }

// InFlight is how many deliveries of a lane this process has claimed.
func (w *Workers) InFlight(lane tidings.Lane) int { panic("not built") }
