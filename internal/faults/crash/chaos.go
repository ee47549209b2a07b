package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"tidings/channels/simulator"
	"tidings/internal/faults"
	"tidings/internal/faults/fleet"
)

const (
	databaseEvery = 23 // kills between two restarts of the database
	brokerEvery   = 31 // kills between two restarts of the broker
	brokerAway    = 2 * time.Second
	meddleEvery   = 2 * time.Second         // how often the providers' faults change
	burstEvery    = 10                      // kills between two bursts, of which each meets two kills
	burstTime     = 1200 * time.Millisecond // in which a burst is posted, and told of
	dialTime      = 5 * time.Second         // to reach the simulators' control port
)

// A death is one kill of one process.
type death struct {
	service *fleet.Service
	killed  time.Time
	started time.Time // when it was started again
	ready   time.Time // when it listened
	logged  int64     // how much its log held by then
}

// chaos kills processes, and makes the providers misbehave meanwhile.
type chaos struct {
	*trial
	random  *rand.Rand
	began   time.Time
	deaths  []death
	crashes int // of the database
	outages int // of the broker
}

func newChaos(t *trial) *chaos { return &chaos{trial: t, random: rand.New(rand.NewPCG(t.Seed, 1))} }

// run kills until there were enough or the time is over.
func (c *chaos) run(ctx context.Context) error {
	meddling, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- c.meddle(meddling, rand.New(rand.NewPCG(c.Seed, 2))) }()
	err := c.kills(ctx)
	stop()
	if failed := <-done; err == nil {
		err = failed
	}
	return err
}

func (c *chaos) kills(ctx context.Context) (err error) {
	c.began = time.Now()
	var bursts []<-chan error
	defer func() {
		for _, over := range bursts {
			err = errors.Join(err, <-over)
		}
	}()
	for n := 1; n <= c.Kills && (c.Longest == 0 || time.Since(c.began) < c.Longest); n++ {
		if c.Burst > 0 && n%burstEvery == 1 {
			bursts = append(bursts, c.burst(ctx))
		}
		if err := sleep(ctx, c.untilKill(n)); err != nil {
			return err
		}
		if err := c.kill(ctx, c.victim(n)); err != nil {
			return err
		}
		if err := c.restarts(ctx, n); err != nil {
			return err
		}
		if n%20 == 0 {
			fmt.Fprintf(c.Progress, "%d of %d kills\n", n, c.Kills)
		}
	}
	return nil
}

// burst begins to post what fills digests; the error comes once all of it is answered.
func (c *chaos) burst(ctx context.Context) <-chan error {
	over := make(chan error, 1)
	go func() { over <- c.traffic.burst(ctx, c.Burst) }()
	return over
}

// meetsBurst reports whether the nth kill is one of the two that come while a burst is told of.
func (c *chaos) meetsBurst(n int) bool {
	return c.Burst > 0 && (n%burstEvery == 1 || n%burstEvery == 2)
}

// untilKill is how long it is until the nth kill.
func (c *chaos) untilKill(n int) time.Duration {
	if c.Every > 0 {
		return time.Until(c.began.Add(time.Duration(n) * c.Every))
	}
	if c.meetsBurst(n) {
		return time.Duration(c.random.Float64() * float64(burstTime))
	}
	return time.Duration(c.random.Float64() * 2 * float64(c.pause()))
}

// pause is how long a process lives in the mean. Where the machine is so slow that starting takes
// longer, it is as long as that: else hardly anything would be done between two kills.
func (c *chaos) pause() time.Duration {
	if len(c.deaths) == 0 {
		return c.Pause
	}
	last := c.deaths[len(c.deaths)-1]
	return max(c.Pause, last.ready.Sub(last.started))
}

func (c *chaos) kill(ctx context.Context, s *fleet.Service) error {
	d := death{service: s, killed: time.Now()}
	end := s.Kill
	if c.Gently {
		end = s.Stop
	}
	if err := end(); err != nil {
		return err
	}
	if log, err := os.Stat(s.LogFile()); err == nil {
		d.logged = log.Size()
	}
	d.started = time.Now()
	err := s.Start(ctx)
	d.ready = time.Now()
	c.deaths = append(c.deaths, d)
	return err
}

// lives are when the one process lived; nil where there are several, of which most do.
func (c *chaos) lives() (all []faults.Span) {
	if len(c.fleet.Services()) > 1 {
		return nil
	}
	from := c.began
	for _, d := range c.deaths {
		all = append(all, faults.Span{From: from, To: d.killed})
		from = d.ready
	}
	return append(all, faults.Span{From: from, To: time.Now()})
}

// victim is whose turn the nth kill is: anybody's at random of those that may be killed, or the next
// one's. While a burst is told of, it is one of those that tell, and after it another.
func (c *chaos) victim(n int) *fleet.Service {
	all := c.mortal()
	if c.Gently {
		return all[len(c.deaths)%len(all)]
	}
	if telling := c.telling(all); c.meetsBurst(n) && len(telling) > 0 {
		all = telling
	}
	return all[c.random.IntN(len(all))]
}

// telling are those that deliver, but for the one that was killed last.
func (c *chaos) telling(all []*fleet.Service) []*fleet.Service {
	return slices.DeleteFunc(slices.Clone(all), func(s *fleet.Service) bool {
		last := len(c.deaths) > 0 && c.deaths[len(c.deaths)-1].service == s
		return last || !strings.HasPrefix(s.Name, workerName)
	})
}

// restarts ends the database or the broker now and then.
func (c *chaos) restarts(ctx context.Context, n int) error {
	if c.Restarts && n%databaseEvery == 0 {
		c.crashes++
		if err := c.database.Crash(ctx); err != nil {
			return err
		}
	}
	if c.Restarts && n%brokerEvery == 0 {
		c.outages++
		c.broker.Stop()
		if err := sleep(ctx, brokerAway); err != nil {
			return err
		}
		return c.broker.Start()
	}
	return nil
}

// meddle changes what the providers do wrong, until ctx ends.
func (c *chaos) meddle(ctx context.Context, random *rand.Rand) error {
	for !c.Gently {
		if err := c.setFaults(context.WithoutCancel(ctx), mischief(random)); err != nil {
			return err
		}
		if sleep(ctx, meddleEvery) != nil {
			break
		}
	}
	return nil
}

// mischief is a set of faults: each provider refuses, cuts, or dawdles a little.
func mischief(random *rand.Rand) []simulator.Rule {
	var rules []simulator.Rule
	for _, provider := range []string{"apns", "fcm", "twilio", "aws_sms", "smtp"} {
		share := func(most float64) simulator.Share { return simulator.Share(0.01 + most*random.Float64()) }
		trouble := simulator.Do{Status: http.StatusServiceUnavailable, Headers: map[string]string{"Retry-After": "1"}}
		if provider == "smtp" {
			trouble = simulator.Do{Status: 451, Enhanced: "4.3.0", At: "data"}
		}
		rules = append(rules,
			simulator.Rule{Provider: provider, Share: share(0.05), Do: simulator.Do{Reset: "after"}},
			simulator.Rule{Provider: provider, Share: share(0.05), Do: simulator.Do{Reset: "before"}},
			simulator.Rule{Provider: provider, Share: share(0.1), Do: trouble},
			simulator.Rule{Provider: provider, Share: share(0.5), Do: simulator.Do{Delay: simulator.Span(random.Int64N(int64(longestLag)))}},
		)
	}
	return rules
}

// calm lets the providers behave and sees that every process lives.
func (c *chaos) calm(ctx context.Context) error {
	for _, s := range c.fleet.Services() {
		if !s.Running() {
			return fmt.Errorf("%s has ended by itself", s.Name)
		}
	}
	return c.setFaults(ctx, []simulator.Rule{})
}

func (c *chaos) setFaults(ctx context.Context, rules []simulator.Rule) error {
	body, err := json.Marshal(rules)
	if err != nil {
		return fmt.Errorf("set faults: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, c.fleet.Control+"/faults", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("set faults: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("set faults: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("set faults: the simulator answers %d", res.StatusCode)
	}
	return res.Body.Close()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
