package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
)

// A CounterKey names what counts when a user was told something: test and live keys do not meet.
type CounterKey struct {
	User  string
	Test  bool
	Scope string // of a limit
}

// testScope begins the stored scopes of test keys.
const testScope = "test "

// row is the scope as stored.
func (k CounterKey) row() string {
	if k.Test {
		return testScope + k.Scope
	}
	return k.Scope
}

func (k CounterKey) compare(o CounterKey) int {
	return cmp.Or(strings.Compare(k.User, o.User), strings.Compare(k.row(), o.row()))
}

// Told is when users were told something, oldest first, by key; what was never counted is
// missing. Nothing is locked, so it is a guess by the time that it is used.
func (s *Store) Told(ctx context.Context, keys []CounterKey) (map[CounterKey][]time.Time, error) {
	told := map[CounterKey][]time.Time{}
	err := s.read(ctx, func(t *tx) error {
		clear(told)
		return t.each("counter_read", len(keys), func(i int) []any { return []any{keys[i].User, keys[i].row()} }, func(i int, r row) error {
			c := counter{}
			err := c.scan(r)
			told[keys[i]] = c.times
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return told, nil
}

// A counter is one row of counters while a transaction has it.
type counter struct {
	times   []time.Time // oldest first
	idle    time.Time
	changed bool
}

func (c *counter) scan(r row) error {
	var text string
	if err := r.Scan(&text, instant{&c.idle}); err != nil {
		return err
	}
	var list []int64
	if json.Unmarshal([]byte(text), &list) != nil {
		return errors.New("read a counter: the stored text is damaged")
	}
	c.times = make([]time.Time, len(list), len(list)+1)
	for i, at := range list {
		c.times[i] = time.UnixMicro(at).UTC()
	}
	return nil
}

// add counts an instant and keeps as many as the scope can need. Clocks differ, so it may not be the last.
func (c *counter) add(at time.Time, s CountScope) {
	n, _ := slices.BinarySearchFunc(c.times, at, func(t, at time.Time) int {
		if t.After(at) {
			return 1
		}
		return -1
	})
	c.times = slices.Insert(slices.Clip(c.times), n, at) // what was told of the times before stands
	c.times = c.times[max(0, len(c.times)-s.Keep):]
	if end := at.Add(s.Per); end.After(c.idle) {
		c.idle = end
	}
	c.changed = true
}

// remove takes one count of an instant back.
func (c *counter) remove(at time.Time) {
	if n := slices.IndexFunc(c.times, at.Equal); n >= 0 {
		c.times, c.changed = slices.Delete(slices.Clone(c.times), n, n+1), true
	}
}

func (c *counter) text() string {
	list := make([]int64, len(c.times))
	for i, at := range c.times {
		list[i] = at.UnixMicro()
	}
	text, _ := json.Marshal(list) // numbers always can be
	return string(text)
}

// putCounters writes the counters that changed, in the order of keys.
func (t *tx) putCounters(keys []CounterKey, all map[CounterKey]*counter) error {
	keys = slices.DeleteFunc(keys, func(k CounterKey) bool { return all[k] == nil || !all[k].changed })
	return t.each("counter_put", len(keys), func(i int) []any {
		c := all[keys[i]]
		return []any{keys[i].User, keys[i].row(), c.text(), c.idle.UnixMicro()}
	}, nil)
}

// refund takes back what was counted of notifications that came to an end without a call of a
// provider. Of two transactions that end two deliveries of one notification at once, each may leave
// it to the other: then the user is told less, never more.
func (t *tx) refund(ids []tidings.NotificationID) error {
	back, err := t.refunds(ids)
	if err != nil || len(back) == 0 {
		return err
	}
	keys := sortedKeys(back)
	all := map[CounterKey]*counter{}
	err = t.each("counter_lock", len(keys), func(i int) []any { return []any{keys[i].User, keys[i].row()} }, func(i int, r row) error {
		c := &counter{}
		all[keys[i]] = c
		return c.scan(r)
	})
	if err != nil {
		return err
	}
	return t.takeBack(back, all)
}

// refunds are the instants to take back, by counter.
func (t *tx) refunds(ids []tidings.NotificationID) (map[CounterKey][]time.Time, error) {
	back := map[CounterKey][]time.Time{}
	return back, t.each("refund_find", len(ids), func(i int) []any { return []any{ids[i][:]} }, func(_ int, r row) error {
		var at time.Time
		keys, err := countersOf(r, instant{&at})
		for _, key := range keys {
			back[key] = append(back[key], at)
		}
		return err
	})
}

// countersOf reads whose notification it is and of what kind, and more, and names the counters that
// may have counted it.
func countersOf(r row, more ...any) ([]CounterKey, error) {
	var user, typ, category string
	var test bool
	if err := r.Scan(append([]any{&user, truth{&test}, &typ, &category}, more...)...); err != nil {
		return nil, err
	}
	return []CounterKey{{user, test, "user"}, {user, test, "category:" + category}, {user, test, "type:" + typ}}, nil
}

// takeBack takes instants back from counters that are locked.
func (t *tx) takeBack(back map[CounterKey][]time.Time, all map[CounterKey]*counter) error {
	keys := slices.DeleteFunc(sortedKeys(back), func(k CounterKey) bool { return all[k] == nil })
	for _, key := range keys {
		for _, at := range back[key] {
			all[key].remove(at)
		}
	}
	return t.putCounters(keys, all)
}

func sortedKeys[V any](m map[CounterKey]V) []CounterKey {
	keys := make([]CounterKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, CounterKey.compare)
	return keys
}
