// Package lanes is the transport between the log and the workers: one bounded JetStream work
// queue per channel and priority, in an embedded server or on an external one.
//
// It promises that an entry carries ids and a stamp only, and that every lane can be deleted
// and filled again from the log. It must never hold anything that is not in the log.
package lanes

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"tidings"
)

// ErrUnavailable says that the broker does not answer.
var ErrUnavailable = errors.New("broker is not available")

// Settings say where the broker is and which lanes there are.
type Settings struct {
	URL   string // nats://…; empty: an embedded server that keeps its files in Dir
	Dir   string
	Lanes []Spec
	Log   *slog.Logger
}

// A Spec describes one lane.
type Spec struct {
	Lane      tidings.Lane
	MaxIDs    int           // how many deliveries the lane may hold: about ten seconds of drain
	AckWait   time.Duration // how long the broker waits for an acknowledgement or a heartbeat
	MaxInHand int           // how many entries may be fetched and unacknowledged at once
}

// Lanes is a connection to the broker. It is safe for concurrent use.
type Lanes struct{}

// Open starts or reaches the broker and makes the streams and consumers that are missing.
func Open(ctx context.Context, s Settings) (*Lanes, error) { panic("not built") }

// Close drains the connection and stops an embedded server.
func (l *Lanes) Close() error { panic("not built") }

// Healthy reports whether the broker stores and answers.
func (l *Lanes) Healthy(ctx context.Context) error { panic("not built") }

// Publish puts deliveries into a lane under one stamp: alone at urgent priority, else up to 50
// an entry. It gives back the ids that are not known to be stored; err says why.
func (l *Lanes) Publish(ctx context.Context, lane tidings.Lane, stamp time.Time, ids []tidings.DeliveryID) (failed []tidings.DeliveryID, err error) {
	panic("not built")
}

// An Entry is what a lane hands out: ids under one stamp. It must be acknowledged, and kept
// alive with Working while that takes longer than the lane's AckWait.
type Entry struct {
	Lane  tidings.Lane
	Stamp time.Time
	IDs   []tidings.DeliveryID
	Times int // how often it was handed out, from 1
}

// Ack removes the entry from its lane.
func (e *Entry) Ack() error { panic("not built") }

// Working asks the broker for another AckWait.
func (e *Entry) Working() error { panic("not built") }

// Fetch waits for entries, at most max of them, until the first comes or ctx ends; none and no error at its end.
func (l *Lanes) Fetch(ctx context.Context, lane tidings.Lane, max int) ([]*Entry, error) {
	panic("not built")
}

// A Depth is how full a lane is.
type Depth struct {
	Entries int // stored, handed out or not
	InHand  int // handed out and not acknowledged
}

// Depth counts the entries of a lane.
func (l *Lanes) Depth(ctx context.Context, lane tidings.Lane) (Depth, error) { panic("not built") }

// Horizon is the stamp of the first entry not handed out yet; now when there is none.
func (l *Lanes) Horizon(ctx context.Context, lane tidings.Lane, now time.Time) (time.Time, error) {
	panic("not built")
}

// Room is about how many more deliveries a lane takes now; 0 while it is paused. It costs no
// round trip: it is the last count less what was published since.
func (l *Lanes) Room(lane tidings.Lane) int { panic("not built") }

// Gauge tells Room what the dispatcher counted: how many deliveries are queued in the lane,
// and whether it is closed to direct publishing (paused, or a backlog waits in the log).
func (l *Lanes) Gauge(lane tidings.Lane, queued int, closed bool) { panic("not built") }
