package lanes

import (
	"context"
	"fmt"
	"time"

	"tidings"
)

const (
	superviseAt = 5 * time.Second

	// A frozen file store still looks enabled and answers no publish.
	missesBeforeRestart = 3

	reconnectPoll = 20 * time.Millisecond
)

// supervise looks after the broker until ctx ends. An embedded one that no longer stores is
// restarted; a lane whose stream has lost more than entries is made again, empty.
func (l *Lanes) supervise(ctx context.Context) {
	tick := time.NewTicker(superviseAt)
	defer tick.Stop()
	var tried time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-l.alarmed:
			if time.Since(tried) < superviseAt { // what did not help just now does not help yet
				continue
			}
		}
		if l.server != nil && l.lookAfterServer(ctx) {
			tried = time.Now()
		}
		if !l.away.Load() {
			l.lookAfterLanes(ctx)
		}
	}
}

// alarm lets the supervisor look after the broker now.
func (l *Lanes) alarm() {
	select {
	case l.alarmed <- struct{}{}:
	default:
	}
}

// lookAfterServer restarts a server that is in trouble, and reports whether it was.
func (l *Lanes) lookAfterServer(ctx context.Context) bool {
	err := l.trouble()
	if err == nil {
		return false
	}
	l.log.Error("broker does not store: restarting it", "error", err)
	l.reviving.Store(true)
	defer l.reviving.Store(false)
	if err := l.revive(ctx); err != nil {
		l.log.Error("broker is not back yet", "error", err)
	}
	return true
}

// trouble says what is wrong with the embedded server; nil: nothing.
func (l *Lanes) trouble() error {
	if n := l.misses.Load(); n >= missesBeforeRestart {
		return fmt.Errorf("%w: %d publishes in a row were not answered or not stored", ErrUnavailable, n)
	}
	for _, lane := range l.lanes {
		if err := l.server.trouble(lane); err != nil {
			return err
		}
	}
	return nil
}

// revive restarts the embedded server under its clients, without its files where these are
// what keeps it from storing.
func (l *Lanes) revive(ctx context.Context) error {
	again := func() error {
		ctx, cancel := context.WithTimeout(ctx, connectWait)
		defer cancel()
		if err := l.up(ctx); err != nil {
			return err
		}
		return l.probe(ctx, l.Names()[0])
	}
	err := again()
	if err == nil || ctx.Err() != nil {
		return err
	}
	return l.server.withoutFiles(err, again)
}

// reconnect does not wait for the client to notice that the server is another one.
func (l *Lanes) reconnect(ctx context.Context) error {
	if err := l.conn.ForceReconnect(); err != nil {
		return fmt.Errorf("reconnect: %w", err)
	}
	for !l.conn.IsConnected() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: reconnect: %w", ErrUnavailable, ctx.Err())
		case <-time.After(reconnectPoll):
		}
	}
	return nil
}

func (l *Lanes) lookAfterLanes(ctx context.Context) {
	for _, name := range l.Names() {
		if err := l.lookAfter(ctx, name); err != nil && ctx.Err() == nil {
			l.log.Warn("lane is not looked after", "lane", name, "error", err)
			return // the next ones would wait as long
		}
	}
}

// lookAfter makes a lane again whose consumer has handed out more than its stream ever held:
// the stream has lost its files and counts from one again, and what it takes from now on would
// be passed over until it has caught up.
func (l *Lanes) lookAfter(ctx context.Context, name tidings.Lane) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	lane, consumer, err := l.info(ctx, name)
	if err != nil {
		return err
	}
	stream, err := lane.stream.Info(ctx) // after the consumer's: it can only be further on
	if err != nil {
		return fmt.Errorf("ask about %s: %w", name, unavailable(err))
	}
	if consumer.Delivered.Stream <= stream.State.LastSeq {
		return nil
	}
	l.log.Error("lane has lost its entries: it begins empty and is filled from the log", "lane", name,
		"handed_out", consumer.Delivered.Stream, "stored", stream.State.LastSeq)
	return l.Rebuild(ctx, name)
}
