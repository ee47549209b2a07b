package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
)

// ErasedRemark is what the timeline says of a notification that an erasure called off.
const ErasedRemark = "the user was erased"

// EraseUser deletes the person: user, addresses, preferences, consents, counters, digests, and in
// their notifications the data, the callers' own words and the user's id, in place of which stands
// a pseudonym. Suppression hashes stay. What waits, dead letters too, ends cancelled with reason
// erased, and so do holds; what is being sent at that moment is not tried again, and nothing is
// redriven.
func (s *Store) EraseUser(ctx context.Context, id string, now time.Time) error {
	at := now.UnixMicro()
	mark := []step{
		{"erase_dedupe", []any{id}},
		{"erase_mark", []any{id, at}},
		{"erase_told", []any{id, at, ErasedRemark}},
		{"erase_deaths", []any{id}},
	}
	forget := []step{
		{"erase_under_way", []any{id}},
		{"erase_words", []any{id}},
		{"erase_holds", []any{id}},
		{"erase_digest_items", []any{id}},
		{"erase_digests", []any{id}},
		{"erase_preferences", []any{id}},
		{"erase_consents", []any{id}},
		{"erase_addresses", []any{id}},
		{"erase_user", []any{id}},
		{"erase_user_data", []any{id, s.seal.erased(id)}}, // last, since the others find their rows by the id
	}
	err := s.write(ctx, Normal, func(t *tx) error {
		if _, err := t.exec("erase_alone"); err != nil {
			return err
		}
		if _, err := t.lockUser(id); err != nil {
			return err
		}
		if err := t.execAll(mark); err != nil {
			return err
		}
		if err := t.endAll("erase_deliveries", []any{id, at}, tidings.Cancelled, tidings.ReasonErased); err != nil {
			return err
		}
		if err := t.execAll(forget); err != nil {
			return err
		}
		if err := t.eraseDigestKeys(id, s.seal.erased(id)); err != nil {
			return err
		}
		return t.eraseCounters(id)
	})
	if err != nil {
		return fmt.Errorf("erase user: %w", err)
	}
	return nil
}

// A step is a named statement with its arguments.
type step struct {
	name string
	args []any
}

func (t *tx) execAll(all []step) error {
	for _, s := range all {
		if _, err := t.exec(s.name, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// eraseDigestKeys leaves of the digests that were told of, or were to be, no more than on which channels.
func (t *tx) eraseDigestKeys(id, pseudonym string) error {
	var digests []tidings.DigestID
	var keys []string
	err := t.query("erase_digest_keys", []any{id}, func(r row) error {
		var digest tidings.DigestID
		var key string
		err := r.Scan(into(&digest), &key)
		channels, _, _ := strings.Cut(key, ":")
		digests, keys = append(digests, digest), append(keys, channels+":")
		return err
	})
	if err != nil {
		return err
	}
	return t.each("erase_digest_key", len(digests), func(k int) []any { return []any{digests[k][:], pseudonym, keys[k]} }, nil)
}

// eraseCounters locks the counters of a user in the order in which all others do.
func (t *tx) eraseCounters(id string) error {
	var scopes []string
	err := t.query("counters_of", []any{id}, func(r row) error {
		var scope string
		err := r.Scan(&scope)
		scopes = append(scopes, scope)
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(scopes)
	if err := t.lock("counter_lock", len(scopes), func(k int) []any { return []any{id, scopes[k]} }); err != nil {
		return err
	}
	_, err = t.exec("erase_counters", id)
	return err
}
