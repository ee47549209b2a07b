package intake

import (
	"hash/maphash"
	"sync"
	"time"

	"tidings"
)

const (
	brakeShards = 64
	brakeKeep   = 4096 // users and types that a shard remembers at least
)

// A brake counts the events of a type for a user in this process, and tells when they are too many:
// some app posts in a circle. It stops that user and type alone, for as long as it goes on and at most
// one span longer. It remembers those that were busy last.
type brake struct {
	seed   maphash.Seed
	shards [brakeShards]brakeShard
}

type brakeShard struct {
	mu       sync.Mutex
	now, old map[uint64]pace // guarded by mu; what old has and now has not was not seen for long
}

// A pace is how many events came in the span that began then, and whether the span before had too many.
type pace struct {
	began  time.Time
	count  int
	braked bool
}

func newBrake() *brake { return &brake{seed: maphash.MakeSeed()} }

// over counts n events of a type for a user and reports whether they are above the limit.
func (b *brake) over(limit tidings.Cap, typ, user string, test bool, n int, now time.Time) bool {
	if limit.Count == 0 {
		return false
	}
	key := b.key(typ, user, test)
	s := &b.shards[key%brakeShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pace(key).at(limit, now)
	p.count += n
	s.keep(key, p)
	return p.over(limit)
}

// peek reports whether one more event of a type for a user would be above the limit at an instant, by
// what has come so far. It changes nothing.
func (b *brake) peek(limit tidings.Cap, typ, user string, test bool, at time.Time) bool {
	if limit.Count == 0 {
		return false
	}
	key := b.key(typ, user, test)
	s := &b.shards[key%brakeShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pace(key).at(limit, at)
	p.count++
	return p.over(limit)
}

// pace is what is remembered under a key; mu is held.
func (s *brakeShard) pace(key uint64) pace {
	if p, known := s.now[key]; known {
		return p
	}
	return s.old[key]
}

// at is the pace as it stands at an instant if nothing more comes before it.
func (p pace) at(limit tidings.Cap, now time.Time) pace {
	switch span := now.Sub(p.began); {
	case span >= 2*limit.Per:
		return pace{began: now}
	case span >= limit.Per:
		return pace{began: p.began.Add(limit.Per), braked: p.count > limit.Count}
	}
	return p
}

func (p pace) over(limit tidings.Cap) bool { return p.braked || p.count > limit.Count }

func (b *brake) key(typ, user string, test bool) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	_, _ = h.WriteString(typ) // a hash takes all
	_ = h.WriteByte(0)
	_, _ = h.WriteString(user)
	if test {
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// keep remembers a pace; mu is held. When much is remembered, all that was not seen since the last
// time is forgotten.
func (s *brakeShard) keep(key uint64, p pace) {
	if s.now == nil || len(s.now) >= brakeKeep {
		s.old, s.now = s.now, make(map[uint64]pace, len(s.now))
	}
	s.now[key] = p
}

// braked reports whether an item is one of too many: of a dry run, whether it would be at its instant.
// What is taken through a round again was counted.
func (r *round) braked(i *item) bool {
	limit, n := r.in.brakeOf(i.kind), 1
	if i.DryRun {
		return r.in.brake.peek(limit, i.Type, i.User.ID, i.Test, r.instant(i))
	}
	if r.again > 0 {
		n = 0
	}
	return r.in.brake.over(limit, i.Type, i.User.ID, i.Test, n, r.now)
}

// brakeOf is how many events of a type a user may get before they are taken for a loop.
func (in *Intake) brakeOf(kind *tidings.EventType) tidings.Cap {
	if kind.Brake.Count > 0 {
		return kind.Brake
	}
	return in.Defaults.Brake
}
