package store

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"tidings"
)

// A dedupeKey is what must be unique: test and live keys do not meet.
type dedupeKey struct {
	app  string
	test bool
	key  string
}

func keyOf(c *Acceptance) dedupeKey {
	return dedupeKey{c.Notification.App, c.Notification.Test, c.Notification.DedupeKey}
}

func (k dedupeKey) compare(o dedupeKey) int {
	return cmp.Or(strings.Compare(k.app, o.app), cmp.Compare(flag(k.test), flag(o.test)), strings.Compare(k.key, o.key))
}

// dedupe sorts out which acceptances are new. Of equal keys in the chunk the first counts.
func (a *accepting) dedupe() error {
	first := map[dedupeKey]int{}
	var keyed, later []int
	for i := range a.chunk {
		c := &a.chunk[i]
		a.out[i].ID = c.Notification.ID
		switch key := keyOf(c); {
		case c.Release != nil, c.Flush != nil:
		case c.Dedupe == nil:
			a.fresh = append(a.fresh, i)
		default:
			if _, twice := first[key]; twice {
				later = append(later, i)
				continue
			}
			first[key] = i
			keyed = append(keyed, i)
		}
	}
	if err := a.takeKeys(keyed); err != nil {
		return err
	}
	for _, i := range later {
		f := first[keyOf(&a.chunk[i])]
		hash, taken := a.held[f]
		if !taken {
			hash = a.chunk[f].Dedupe.Hash
		}
		a.repeat(i, a.out[f].ID, hash)
	}
	return nil
}

// takeKeys claims the keys in their order and reads, in a second statement, who holds the others.
func (a *accepting) takeKeys(keyed []int) error {
	slices.SortFunc(keyed, func(i, j int) int { return keyOf(&a.chunk[i]).compare(keyOf(&a.chunk[j])) })
	taken := make([]bool, len(keyed))
	err := a.each("dedupe_take", len(keyed), func(k int) []any {
		c := &a.chunk[keyed[k]]
		n := &c.Notification
		return []any{n.App, flag(n.Test), n.DedupeKey, n.ID[:], c.Dedupe.Hash[:], c.Dedupe.ExpiresAt.UnixMicro(), n.AcceptedAt.UnixMicro()}
	}, func(k int, r row) error {
		taken[k] = true
		return nil
	})
	if err != nil {
		return err
	}
	var held []int
	for k, i := range keyed {
		if taken[k] {
			a.fresh = append(a.fresh, i)
			continue
		}
		held = append(held, i)
	}
	slices.Sort(a.fresh)
	return a.findHolders(held)
}

func (a *accepting) findHolders(held []int) error {
	found := 0
	err := a.each("dedupe_find", len(held), func(k int) []any {
		n := &a.chunk[held[k]].Notification
		return []any{n.App, flag(n.Test), n.DedupeKey, n.AcceptedAt.UnixMicro()}
	}, func(k int, r row) error {
		var id tidings.NotificationID
		var hash []byte
		if err := r.Scan(into(&id), &hash); err != nil {
			return err
		}
		found++
		a.held[held[k]] = [32]byte(hash)
		a.repeat(held[k], id, [32]byte(hash))
		return nil
	})
	if err == nil && found != len(held) {
		err = errors.New("a dedupe key went away while it was looked at")
	}
	return err
}

// repeat notes that the acceptance at i comes after one with that id and hash under the same key.
func (a *accepting) repeat(i int, first tidings.NotificationID, hash [32]byte) {
	same := a.chunk[i].Dedupe.Hash == hash
	a.out[i] = Accepted{ID: first, Duplicate: same, Conflict: !same}
}
