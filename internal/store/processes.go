package store

import (
	"context"
	"fmt"
	"time"
)

// A ProcessID names one run of a process that works the lanes.
type ProcessID [16]byte

// Beat notes that a process is alive, forgets those that were not seen for as long as silent, and
// counts the live ones, itself included.
func (s *Store) Beat(ctx context.Context, id ProcessID, now time.Time, silent time.Duration) (live int, err error) {
	err = s.write(ctx, Urgent, func(t *tx) error {
		since := now.Add(-silent).UnixMicro()
		if _, err := t.exec("process_seen", id[:], now.UnixMicro()); err != nil {
			return err
		}
		if _, err := t.exec("process_gone", []byte{}, since); err != nil {
			return err
		}
		_, err := t.one("processes_live", []any{since}, &live)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("note that this process is alive: %w", err)
	}
	return live, nil
}

// Leave says that a process works the lanes no more, so that the others take its share at once.
func (s *Store) Leave(ctx context.Context, id ProcessID) error {
	err := s.write(ctx, Urgent, func(t *tx) error {
		_, err := t.exec("process_gone", id[:], int64(0))
		return err
	})
	if err != nil {
		return fmt.Errorf("say that this process leaves: %w", err)
	}
	return nil
}
