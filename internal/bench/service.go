package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/channels/simulator"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/playground"
	"tidings/internal/store"
	"tidings/workers"
)

const (
	users     = 2000 // who get the events, each with one phone
	batchSize = 500  // events of one request
	callers   = 256  // calls to the provider at once
	pushLane  = tidings.Lane("push.bulk")
)

// A service is the real one, in this process, with users who have a phone each.
type service struct {
	*app.App
	key  string // what callers show: "id.secret"
	dir  string // where its data lies
	idle int64  // what it takes before the first event, in bytes
	base int64  // the size of the log before the first event, in bytes
}

// startService starts a service whose push provider is the one given.
func (r *run) startService(ctx context.Context, name string, roles []string, provider simulator.Provider, vendors []channels.Vendor) (*service, error) {
	cfg, err := r.configure(name, roles, provider, vendors)
	if err != nil {
		return nil, err
	}
	s := &service{dir: cfg.DataDir}
	err = app.WithStore(ctx, cfg, r.Log, func(ctx context.Context, st *store.Store) error {
		return s.prepare(ctx, st, provider.Get("name"))
	})
	if err != nil {
		return nil, err
	}
	s.base = s.logSize()
	if s.App, err = app.New(ctx, cfg, app.Settings{Version: "bench", Log: r.Log, Vendors: vendors}); err != nil {
		return nil, err
	}
	runtime.GC()
	s.idle = memory("VmRSS")
	return s, nil
}

func (r *run) configure(name string, roles []string, provider simulator.Provider, vendors []channels.Vendor) (config.Config, error) {
	file := filepath.Join(r.dir, name, "tidings.yaml")
	if err := playground.WriteConfig(playground.Setup{File: file, Listen: "127.0.0.1:0", Providers: []simulator.Provider{provider}, Force: true}); err != nil {
		return config.Config{}, err
	}
	cfg, err := config.Load(file, nil, vendors)
	if err != nil {
		return cfg, err
	}
	cfg.Roles = roles
	for i := range cfg.Providers {
		cfg.Providers[i].Concurrency = callers
	}
	lane := cfg.Workers.Lane(pushLane)
	lane.Workers = callers
	cfg.Workers.Lanes = map[string]workers.LaneConfig{string(pushLane): lane}
	return cfg, nil
}

// prepare makes the key and the users.
func (s *service) prepare(ctx context.Context, st *store.Store, provider string) error {
	key, secret, err := app.NewKey("bench", []string{"all"}, false, time.Now())
	if err != nil {
		return err
	}
	if err := st.CreateKey(ctx, key); err != nil {
		return err
	}
	s.key = key.ID + "." + secret
	var registering sync.WaitGroup
	errs := make([]error, users)
	for first := range callers {
		registering.Go(func() {
			for u := first; u < users; u += callers {
				_, _, errs[u] = st.RegisterAddress(ctx, tidings.Address{
					UserID: userID(u), Channel: tidings.Push, Provider: provider, Value: deviceToken(u),
				}, time.Now())
			}
		})
	}
	registering.Wait()
	return errors.Join(errs...)
}

// stop ends the service.
func (s *service) stop(ctx context.Context) error {
	return s.Shutdown(context.WithoutCancel(ctx))
}

// logSize is the size of the log, in bytes; while the service runs, some of it is still ahead of the file.
func (s *service) logSize() int64 {
	var sum int64
	files, _ := filepath.Glob(filepath.Join(s.dir, "tidings.db*")) // the pattern is good
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// grown is by how much the log has grown for each of n items, once the service is stopped.
func (s *service) grown(n int) float64 { return float64(s.logSize()-s.base) / float64(max(n, 1)) }

func (s *service) address() string { return strings.TrimPrefix(s.URL(), "http://") }

// settled waits until the lane holds nothing that is unfinished.
func (s *service) settled(ctx context.Context) error {
	for {
		stats, err := s.Store.LaneStats(ctx, time.Now())
		if err != nil {
			return err
		}
		if l := stats[pushLane]; l == (store.LaneStats{}) || l.Parked+l.Due+l.Queued+l.Sending == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// pollEvery is how often a measurement looks whether it is over.
const pollEvery = 10 * time.Millisecond

func userID(u int) string { return fmt.Sprintf("u_%06d", u) }

// deviceToken is a device token that no simulator takes for a dead one.
func deviceToken(u int) string { return fmt.Sprintf("%063xf", u) }

// event is the JSON of one event for a user; keyed ones have a dedupe key of their own.
func event(u int, keyed bool) string {
	key := ""
	if keyed {
		key = `,"dedupe_key":"order-` + keyMark + `-shipped"`
	}
	return fmt.Sprintf(`{"type":"order.shipped","user":"%s","data":{"order":"%s","carrier":"UPS"}%s}`, userID(u), strings.Repeat("7", 8), key)
}

// singles are requests with one event each, for many users.
func (s *service) singles() []request {
	var list []request
	for u := range users {
		list = append(list, newRequest("/v1/events", s.key, event(u, true), 1))
	}
	return list
}

// batches are requests with size events each that reach all users in turn.
func (s *service) batches(size int, keyed bool) []request {
	var list []request
	for first := 0; first < users; first += size {
		var events []string
		for u := first; u < first+size; u++ {
			events = append(events, event(u%users, keyed))
		}
		list = append(list, newRequest("/v1/events/batch", s.key, `{"events":[`+strings.Join(events, ",")+`]}`, size))
	}
	return list
}

// accepts asks the simulator's control port how many pushes it has accepted.
func accepts(ctx context.Context, control string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, control+"/stats", nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("ask the simulator: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	var stats map[string]simulator.Counts
	if err := json.NewDecoder(res.Body).Decode(&stats); err != nil {
		return 0, fmt.Errorf("ask the simulator: %w", err)
	}
	return int(stats["apns"].Accepts), nil
}
