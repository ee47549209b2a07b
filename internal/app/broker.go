package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tidings/internal/config"
	"tidings/internal/store"
)

const (
	// brokerBeat is how often a process tells the log which broker it works with.
	brokerBeat = 2 * time.Second
	// brokerSilent is how long it may be silent before another broker may take its place: three
	// beats, and clocks that differ by as much as is believed.
	brokerSilent = 3*brokerBeat + maxSkew
	// brokerLeave is how long a process that ends waits for the log to take note.
	brokerLeave = time.Second
)

// A tenure is this process's word in the log that it is worked with its broker. Where each
// process had an embedded broker of its own, each would rebuild, pause, bound and search lanes
// that the others do not use.
type tenure struct {
	log     *store.Store
	own     store.Broker
	tell    *slog.Logger
	usurped chan error // gets one error when the log is worked with another broker
}

// takeBroker has the log worked with this process's broker until the clean-up. While another
// broker has it, it waits for as long as the other's process may take to end.
func (a *App) takeBroker(ctx context.Context, log *slog.Logger) error {
	if a.cfg.DatabaseURL == "" { // data_dir is this process's own already
		return nil
	}
	id, err := brokerID(a.cfg)
	if err != nil {
		return err
	}
	t := &tenure{log: a.Store, own: store.Broker{ID: id, About: whereabouts()}, tell: log, usurped: a.usurped}
	if err := t.await(ctx, a.cfg.ShutdownTimeout+brokerSilent); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var keeping sync.WaitGroup
	keeping.Go(func() { t.keep(ctx) })
	a.push("broker", func(ctx context.Context) error {
		stop()
		keeping.Wait()
		t.leave(ctx)
		return nil
	})
	return nil
}

// brokerID names the embedded broker of data_dir, for ever: who starts again on it is no other.
func brokerID(cfg config.Config) (id store.BrokerID, err error) {
	if cfg.NATSURL != "" {
		return id, nil
	}
	file := filepath.Join(cfg.DataDir, "broker") // this process alone has the folder
	text, err := os.ReadFile(file)
	if err == nil && len(text) == len(id) {
		return store.BrokerID(text), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return id, fmt.Errorf("read the name of the embedded broker: %w", err)
	}
	_, _ = rand.Read(id[:]) // never fails
	if err := os.WriteFile(file, id[:], 0o600); err != nil {
		return id, fmt.Errorf("name the embedded broker: %w", err)
	}
	return id, nil
}

func whereabouts() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a host without a name"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// hold says it once, and gives who stands in the way.
func (t *tenure) hold(ctx context.Context) (*store.Broker, error) {
	t.own.Seen = time.Now().UTC()
	return t.log.HoldBroker(ctx, t.own, brokerSilent)
}

// await says it as soon as nobody stands in the way.
func (t *tenure) await(ctx context.Context, atMost time.Duration) error {
	end := time.Now().Add(atMost)
	tick := time.NewTicker(brokerBeat / 4)
	defer tick.Stop()
	for told := false; ; told = true {
		other, err := t.hold(ctx)
		if err != nil || other == nil {
			return err
		}
		if time.Now().After(end) {
			return t.refusal(other)
		}
		if !told {
			t.tell.Warn("waiting for another process to end", "reason", t.refusal(other), "at_most", atMost)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", t.refusal(other), ctx.Err())
		}
	}
}

// refusal says who works the log with which broker, and how to mend it.
func (t *tenure) refusal(other *store.Broker) error {
	who := fmt.Sprintf("%s, heard of %v ago", other.About, time.Since(other.Seen).Round(time.Second))
	switch {
	case !other.ID.Embedded():
		return fmt.Errorf("database_url is in use with an external broker (%s): name it in nats_url, or stop all who use it", who)
	case t.own.ID.Embedded():
		return fmt.Errorf("database_url is in use by another tidings process with an embedded broker (%s): an embedded broker serves one process alone; "+
			"stop that one, or give all of them one nats_url", who)
	default:
		return fmt.Errorf("database_url is in use by a tidings process with an embedded broker (%s): give it this one's nats_url, or stop it", who)
	}
}

// keep says it again and again until ctx ends, or until another broker has taken the place of
// this one, which must have been silent for too long.
func (t *tenure) keep(ctx context.Context) {
	tick := time.NewTicker(brokerBeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		other, err := t.hold(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			t.tell.Warn("the log is not told which broker it is worked with", "error", err)
		case other != nil:
			t.usurped <- t.refusal(other)
			return
		}
	}
}

// leave makes room for another embedded broker at once. An external one may have other processes.
func (t *tenure) leave(ctx context.Context) {
	if !t.own.ID.Embedded() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), brokerLeave)
	defer cancel()
	if err := t.log.LeaveBroker(ctx, t.own.ID); err != nil {
		t.tell.Warn("another embedded broker has to wait until this one was silent for long enough", "error", err)
	}
}
