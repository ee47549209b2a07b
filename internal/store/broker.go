package store

import (
	"context"
	"fmt"
	"time"
)

// A BrokerID names an embedded broker; the zero value is an external one.
type BrokerID [16]byte

// Embedded reports whether the broker serves one process alone.
func (id BrokerID) Embedded() bool { return id != BrokerID{} }

func (id BrokerID) bytes() []byte {
	if !id.Embedded() {
		return []byte{}
	}
	return id[:]
}

// A Broker is what the log is worked with.
type Broker struct {
	ID    BrokerID
	About string    // where the process runs that works with it, in words
	Seen  time.Time // when that process last said so
}

// HoldBroker says that the log is worked with a broker as of b.Seen, unless it is worked with
// another one that was heard of within silent: then it gives that one and changes nothing. Of
// several that ask at once, one succeeds.
func (s *Store) HoldBroker(ctx context.Context, b Broker, silent time.Duration) (other *Broker, err error) {
	err = s.write(ctx, Urgent, func(t *tx) error {
		other = nil
		held, err := t.exec("broker_hold", b.ID.bytes(), b.About, b.Seen.UnixMicro(), b.Seen.Add(-silent).UnixMicro())
		if err != nil || held > 0 {
			return err
		}
		other = &Broker{}
		var id []byte
		if _, err := t.one("broker_held", nil, &id, &other.About, instant{&other.Seen}); err != nil {
			return err
		}
		copy(other.ID[:], id)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("say which broker the log is worked with: %w", err)
	}
	return other, nil
}

// LeaveBroker says that the log is worked with a broker no more, so that another one need not
// wait until it was silent for long enough.
func (s *Store) LeaveBroker(ctx context.Context, id BrokerID) error {
	err := s.write(ctx, Urgent, func(t *tx) error {
		_, err := t.exec("broker_leave", id.bytes())
		return err
	})
	if err != nil {
		return fmt.Errorf("say that the log is worked with this broker no more: %w", err)
	}
	return nil
}
