package pages

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"tidings"
	"tidings/preferences"
)

// anyVersion lets a change go through whatever was changed before it.
const anyVersion = -1

// save changes what a visitor wants, if it is still at the version they saw, and gives the step that
// takes the change back.
func (s *Site) save(ctx context.Context, v *visitor, seen int64, source preferences.Source, now time.Time,
	change func(p *preferences.Preferences, u *tidings.User) error) (step, error) {
	var before preferences.Preferences
	var who tidings.User
	p, u, err := s.Store.ChangePreferences(ctx, v.link.User, seen, now, func(p *preferences.Preferences, u *tidings.User) ([]preferences.Entry, error) {
		before, who = p.Clone(), *u
		if err := change(p, u); err != nil {
			return nil, err
		}
		by := preferences.Origin{Source: source}
		lines := preferences.Settle(before, p, v.categoryOf, by, now)
		if source == preferences.SourcePage {
			v.tell(lines)
		}
		return append(lines, by.Moved(&who, u, now)...), nil
	})
	if err != nil {
		return step{}, err
	}
	return v.stepBack(p, before, u, who), nil
}

// tell writes into the lines what the page showed the person beside what they switched.
func (v *visitor) tell(lines []preferences.Entry) {
	for i := range lines {
		e := &lines[i]
		if e.About != "" {
			continue
		}
		e.Version = fmt.Sprintf("catalogue %d", v.version)
		switch c, known := v.categoryOf(e.Category); {
		case known:
			title, description := v.describe(&c)
			e.Wording = strings.TrimSpace(title + "\n" + description)
		case e.Category != "": // it is gone from the catalogue, so the page did not show it
			e.Version = ""
		case e.Channel != "":
			e.Wording = v.words.text(string(e.Channel)) + "\n" + v.words.text("ways_hint")
		default:
			e.Wording = v.words.text("all_label") + "\n" + v.words.text("all_hint")
		}
	}
}

// categoryOf is a category of the catalogue, or the one that the link is about: a link outlives
// the catalogue it was made under, so one that is gone from there can still be refused, should it
// come back.
func (v *visitor) categoryOf(name string) (tidings.Category, bool) {
	c, known := v.catalogue.Categories[name]
	if !known && name != "" && name == v.link.Category {
		return tidings.Category{Name: name, Kind: tidings.Transactional}, true
	}
	return c, known
}

func (v *visitor) kind(category string) (tidings.CategoryKind, bool) {
	c, known := v.categoryOf(category)
	return c.Kind, known
}

// difference is the merge patch that leads from one to the other, in what a page can change.
func difference(from, to preferences.Preferences) map[string]any {
	patch := map[string]any{}
	if !same(from.All, to.All) {
		patch["all"] = to.All
	}
	if cells := cellsBetween(from.Channels, to.Channels); len(cells) > 0 {
		patch["channels"] = cells
	}
	categories := map[string]any{}
	for name := range union(from.Categories, to.Categories) {
		a, b := from.Categories[name], to.Categories[name]
		cells := cellsBetween(a.Channels, b.Channels)
		if !same(a.All, b.All) {
			cells["all"] = b.All
		}
		if len(cells) > 0 {
			categories[name] = cells
		}
	}
	if len(categories) > 0 {
		patch["categories"] = categories
	}
	threads := map[string]any{}
	for category := range union(from.Threads, to.Threads) {
		if cells := cellsBetween(from.Threads[category], to.Threads[category]); len(cells) > 0 {
			threads[category] = cells
		}
	}
	if len(threads) > 0 {
		patch["threads"] = threads
	}
	if !reflect.DeepEqual(from.QuietHours, to.QuietHours) {
		patch["quiet_hours"] = to.QuietHours
	}
	return patch
}

func cellsBetween[K ~string](from, to map[K]bool) map[string]any {
	cells := map[string]any{}
	for channel := range union(from, to) {
		was, had := from[channel]
		is, has := to[channel]
		switch {
		case had && !has:
			cells[string(channel)] = nil
		case was != is || had != has:
			cells[string(channel)] = is
		}
	}
	return cells
}

func union[K comparable, V any](a, b map[K]V) map[K]bool {
	keys := map[K]bool{}
	for _, m := range []map[K]V{a, b} {
		for k := range m {
			keys[k] = true
		}
	}
	return keys
}

func same(a, b *bool) bool { return a == b || a != nil && b != nil && *a == *b }

// with is the map with one more entry; the map given stays as it is.
func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	if m = maps.Clone(m); m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}

// without is the map with one entry less; the map given stays as it is.
func without[K comparable, V any](m map[K]V, key K) map[K]V {
	m = maps.Clone(m)
	delete(m, key)
	return m
}
