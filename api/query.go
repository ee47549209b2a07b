package api

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tidings"
	"tidings/api/wire"
)

// How long pages are.
const (
	pageLimit    = 50
	maxPageLimit = 200
)

// pageParameters are those of every list that comes in pages.
func pageParameters() []parameter {
	return []parameter{
		{"limit", fmt.Sprintf("How many: %d unless told, at most %d.", pageLimit, maxPageLimit)}, {"cursor", "The next_cursor of the page before."},
	}
}

// pageOf is how many of a list are asked for, and where they begin; zero: at the newest.
func pageOf[ID any](q url.Values, parse func(string) (ID, error)) (before ID, limit int, err error) {
	if limit, err = limitOf(q); err != nil || !q.Has("cursor") {
		return before, limit, err
	}
	if before, err = parse(q.Get("cursor")); err != nil {
		return before, 0, invalid("/cursor", "must be the next_cursor of a page")
	}
	return before, limit, nil
}

// cut takes what is beyond the limit off a list that was read one longer, which tells whether there
// is a next page, and gives that page's cursor; nil: there is none.
func cut[T any](found []T, limit int, id func(*T) fmt.Stringer) (page []T, next *string) {
	if len(found) <= limit {
		return found, nil
	}
	cursor := id(&found[limit-1]).String()
	return found[:limit], &cursor
}

// limitOf is how many of a list are asked for.
func limitOf(q url.Values) (int, error) {
	if !q.Has("limit") {
		return pageLimit, nil
	}
	n, err := strconv.Atoi(q.Get("limit"))
	if err != nil || n < 1 || n > maxPageLimit {
		return 0, invalid("/limit", fmt.Sprintf("must be a whole number from 1 to %d", maxPageLimit))
	}
	return n, nil
}

// names refuses parameters that are to be names and are not.
func names(q url.Values, all ...string) error {
	for _, name := range all {
		if q.Has(name) && !wire.IsName(q.Get(name)) {
			return invalid(pointer(name), "must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : @ -")
		}
	}
	return nil
}

// oneOf refuses a parameter that is on no closed list.
func oneOf[T ~string](q url.Values, name string, list []T) error {
	if q.Has(name) && !slices.Contains(list, T(q.Get(name))) {
		return invalid(pointer(name), fmt.Sprintf("must be one of %v", list))
	}
	return nil
}

func channelAndReason(q url.Values) error {
	if err := oneOf(q, "channel", tidings.Channels()); err != nil {
		return err
	}
	return oneOf(q, "reason", tidings.Reasons())
}

// sinceUntil are the bounds of a list in time; zero: none.
func sinceUntil(q url.Values) (since, until time.Time, err error) {
	if since, err = instant(q, "since"); err != nil {
		return since, until, err
	}
	until, err = instant(q, "until")
	return since, until, err
}

func instant(q url.Values, name string) (time.Time, error) {
	if !q.Has(name) {
		return time.Time{}, nil
	}
	t, ok := wire.ParseTime(q.Get(name))
	if !ok {
		return t, invalid(pointer(name), "must be a time since 1970 as in RFC 3339, such as 2026-12-01T08:00:00Z")
	}
	return t, nil
}
