// Package observe is what an operator sees: the metrics and the log.
//
// It promises that label values come from closed lists and start at zero, and that addresses
// and secrets are masked. It must never change what the service does.
package observe

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tidings"
)

// Metrics are the instruments of one process, on a registry of their own.
type Metrics struct {
	Registry         *prometheus.Registry
	Events           *prometheus.CounterVec   // outcome: accepted, duplicate, refused, conflict, failed, dry_run
	Shed             *prometheus.CounterVec   // code: lane_full, not_ready, quota_exceeded
	Accept           prometheus.Histogram     // seconds from request to durable
	Decisions        *prometheus.CounterVec   // channel, action, reason
	Attempts         *prometheus.CounterVec   // channel, provider, outcome
	AttemptSeconds   *prometheus.HistogramVec // provider
	AttemptTimeouts  *prometheus.CounterVec   // provider
	AttemptsUnknown  *prometheus.CounterVec   // provider
	Deliveries       *prometheus.CounterVec   // channel, provider, status
	Engagement       *prometheus.CounterVec   // channel, provider, kind
	DeadLetters      *prometheus.CounterVec   // channel, reason
	AddressesRetired *prometheus.CounterVec   // provider
	LaneDepth        *prometheus.GaugeVec     // lane
	LaneOldestDue    *prometheus.GaugeVec     // lane
	LaneInFlight     *prometheus.GaugeVec     // lane
	LanePaused       *prometheus.GaugeVec     // lane
	DueRows          *prometheus.GaugeVec     // lane
	DrainPerSecond   *prometheus.GaugeVec     // lane
	BreakerState     *prometheus.GaugeVec     // provider
	BreakerTrips     *prometheus.CounterVec   // provider
	ProviderPaused   *prometheus.GaugeVec     // provider
	AddressesDoubted *prometheus.GaugeVec     // provider
	AddressesKept    *prometheus.CounterVec   // provider
}

// A Provider is what the metrics must know of a configured provider.
type Provider struct{ Name, Channel string }

// NewMetrics registers every instrument of the contract, with each known label value at zero.
func NewMetrics(version string, providers []Provider, lanes []string) *Metrics {
	r := prometheus.NewRegistry()
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tidings_" + name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tidings_" + name, Help: help}, labels)
		r.MustRegister(g)
		return g
	}
	seconds := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	m := &Metrics{
		Registry:         r,
		Events:           counter("events_total", "Events posted, by outcome.", "outcome"),
		Shed:             counter("requests_shed_total", "Requests refused to protect the service, by code.", "code"),
		Accept:           prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tidings_accept_seconds", Help: "Time from an event's arrival to its durable acceptance.", Buckets: seconds}),
		Decisions:        counter("decisions_total", "Decisions, one a channel of each event.", "channel", "action", "reason"),
		Attempts:         counter("attempts_total", "Provider calls, by outcome.", "channel", "provider", "outcome"),
		AttemptSeconds:   prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "tidings_attempt_seconds", Help: "Duration of provider calls.", Buckets: seconds}, []string{"provider"}),
		AttemptTimeouts:  counter("attempt_timeouts_total", "Provider calls that ran into their time-out.", "provider"),
		AttemptsUnknown:  counter("attempts_unknown_total", "Provider calls of which nobody knows whether they were accepted.", "provider"),
		Deliveries:       counter("deliveries_total", "Deliveries that reached a status, by the provider whose answer or report brought them there; empty: none did.", "channel", "provider", "status"),
		Engagement:       counter("engagement_total", "What users did with deliveries.", "channel", "provider", "kind"),
		DeadLetters:      counter("dead_letters_total", "Deliveries that need a person, by reason.", "channel", "reason"),
		AddressesRetired: counter("addresses_retired_total", "Addresses taken out of use on proof.", "provider"),
		LaneDepth:        gauge("lane_depth", "Deliveries due or in the lane, of all processes, as the last sweep (delivery.sweep) found it; GET /v1/lanes counts when asked.", "lane"),
		LaneOldestDue:    gauge("lane_oldest_due_seconds", "Age of the oldest due delivery of all processes, as the last sweep found it.", "lane"),
		LaneInFlight:     gauge("lane_in_flight", "Deliveries that this process has claimed and not recorded: the sum over all processes is in_flight of GET /v1/lanes.", "lane"),
		LanePaused:       gauge("lane_paused", "1 while an operator has paused the lane, as this process knows within a second.", "lane"),
		DueRows:          gauge("due_rows", "Deliveries that are due and not yet in their lane, of all processes, as the last sweep found it.", "lane"),
		DrainPerSecond:   gauge("drain_per_second", "Deliveries that this process finished a second, over the last minute.", "lane"),
		BreakerState:     gauge("breaker_state", "State of the provider's breaker: 0 closed, 1 half-open, 2 open.", "provider"),
		BreakerTrips:     counter("breaker_trips_total", "How often a provider was left alone after failures.", "provider"),
		AddressesDoubted: gauge("addresses_doubted", "1 while a provider calls so many addresses dead that none is taken out of use.", "provider"),
		AddressesKept:    counter("addresses_kept_total", "Addresses that a provider called dead and that were kept, because it said so of too many.", "provider"),
		ProviderPaused:   gauge("provider_paused", "1 while a provider is left alone because it asked for it.", "provider"),
	}
	r.MustRegister(m.Accept, m.AttemptSeconds)
	build := gauge("build_info", "1, with the version of this binary.", "version")
	build.WithLabelValues(version).Set(1)
	m.zero(providers, lanes)
	return m
}

func (m *Metrics) zero(providers []Provider, lanes []string) {
	for _, o := range []string{"accepted", "duplicate", "refused", "conflict", "failed", "dry_run"} {
		m.Events.WithLabelValues(o)
	}
	for _, c := range []string{"lane_full", "not_ready", "quota_exceeded"} {
		m.Shed.WithLabelValues(c)
	}
	for _, p := range providers {
		m.AttemptTimeouts.WithLabelValues(p.Name)
		m.AttemptsUnknown.WithLabelValues(p.Name)
		m.AddressesRetired.WithLabelValues(p.Name)
		m.BreakerState.WithLabelValues(p.Name)
		m.BreakerTrips.WithLabelValues(p.Name)
		m.ProviderPaused.WithLabelValues(p.Name)
		m.AddressesDoubted.WithLabelValues(p.Name)
		m.AddressesKept.WithLabelValues(p.Name)
		m.AttemptSeconds.WithLabelValues(p.Name)
		m.Attempts.WithLabelValues(p.Channel, p.Name, "ok")
		for _, s := range []string{"sent", "delivered", "bounced", "failed", "expired", "cancelled", "suppressed", "dead", "unknown"} {
			m.Deliveries.WithLabelValues(p.Channel, p.Name, s)
			m.Deliveries.WithLabelValues(p.Channel, noProvider, s)
		}
		for _, k := range []string{"opened", "clicked", "complained", "unsubscribed"} {
			m.Engagement.WithLabelValues(p.Channel, p.Name, k)
		}
		for _, r := range []string{"retries_spent", "provider_broken", "no_provider", "poison"} {
			m.DeadLetters.WithLabelValues(p.Channel, r)
		}
	}
	for _, l := range lanes {
		for _, g := range []*prometheus.GaugeVec{m.LaneDepth, m.LaneOldestDue, m.LaneInFlight, m.LanePaused, m.DueRows, m.DrainPerSecond} {
			g.WithLabelValues(l)
		}
	}
}

// noProvider is the provider of what no provider's answer or report brought about.
const noProvider = ""

// Ended counts a delivery that came to an end, or from one end to another; an empty provider means
// that none had a part in it.
func (m *Metrics) Ended(channel tidings.Channel, provider string, status tidings.Status, reason tidings.Reason) {
	m.Deliveries.WithLabelValues(string(channel), provider, string(status)).Inc()
	if status == tidings.Dead {
		m.DeadLetters.WithLabelValues(string(channel), string(reason)).Inc()
	}
}

// Handler shows the metrics in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{DisableCompression: true})
}
