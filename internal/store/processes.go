package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tidings"
)

// A ProcessID names one run of a process that works the lanes.
type ProcessID [16]byte

// A Beat says that a process is alive, and what it finished since its last one.
type Beat struct {
	Process  ProcessID
	Now      time.Time
	Silent   time.Duration // who was not seen for as long is forgotten
	Finished map[tidings.Lane]int
	Pauses   []Pause // of its providers: those that last, and those that ended since its last beat
}

const (
	drainSlot = 5 * time.Second  // finished deliveries are summed up in spans of this length
	drainSpan = time.Minute      // over which the drain of a lane is the mean
	drainKept = 10 * time.Minute // so that a lane that rests for a while is not taken for a new one
)

// Beat takes note of a beat and counts the live processes, the one that beats included.
func (s *Store) Beat(ctx context.Context, b Beat) (live int, err error) {
	lanes := slices.Sorted(maps.Keys(b.Finished))
	err = s.write(ctx, Urgent, func(t *tx) error {
		since := b.Now.Add(-b.Silent).UnixMicro()
		if _, err := t.exec("process_seen", b.Process[:], b.Now.UnixMicro()); err != nil {
			return err
		}
		if _, err := t.exec("process_gone", []byte{}, since); err != nil {
			return err
		}
		if err := t.tellPauses(b.Process, b.Pauses, b.Now); err != nil {
			return err
		}
		slot := b.Now.Truncate(drainSlot).UnixMicro()
		err := t.each("drained_add", len(lanes), func(i int) []any { return []any{string(lanes[i]), slot, int64(b.Finished[lanes[i]])} }, nil)
		if err != nil {
			return err
		}
		if _, err := t.exec("drained_forget", b.Now.Add(-drainKept).UnixMicro()); err != nil {
			return err
		}
		_, err = t.one("processes_live", []any{since}, &live)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("note that this process is alive: %w", err)
	}
	return live, nil
}

// Drain is how many deliveries of each lane all processes together finished a second, over the
// last minute or since the first of late; what finished in the last seconds may not be told yet.
func (s *Store) Drain(ctx context.Context, now time.Time) (map[tidings.Lane]float64, error) {
	out := map[tidings.Lane]float64{}
	err := s.read(ctx, func(t *tx) error {
		clear(out)
		return t.query("drained_sum", []any{now.Add(-drainSpan).UnixMicro()}, func(r row) error {
			var lane tidings.Lane
			var finished int64
			var first time.Time
			err := r.Scan(&lane, &finished, instant{&first})
			out[lane] = float64(finished) / max(drainSlot, min(drainSpan, now.Sub(first))).Seconds()
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("sum up what lanes drain: %w", err)
	}
	return out, nil
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
