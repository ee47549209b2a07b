package pages

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"time"

	"tidings"
	"tidings/preferences"
)

// anyVersion lets a change go through whatever was changed before it.
const anyVersion = -1

// maxUndo bounds what takes a change back, in bytes of a URL: what is longer cannot be undone.
const maxUndo = 4000

// saved is a change that was stored.
type saved struct {
	version int64
	undo    string // empty: it cannot be taken back
}

// save changes what a visitor wants, if it is still at the version they saw.
func (s *Site) save(ctx context.Context, v *visitor, seen int64, source preferences.Source, now time.Time,
	change func(p *preferences.Preferences, u *tidings.User) error) (saved, error) {
	var before preferences.Preferences
	var who tidings.User
	p, u, err := s.Store.ChangePreferences(ctx, v.link.User, seen, now, func(p *preferences.Preferences, u *tidings.User) ([]preferences.Entry, error) {
		before, who = p.Clone(), *u
		if err := change(p, u); err != nil {
			return nil, err
		}
		return preferences.Settle(before, p, v.categoryOf, preferences.Origin{Source: source}, now), nil
	})
	if err != nil {
		return saved{}, err
	}
	if v.losesDoubleConsent(before, p) {
		return saved{version: p.Version}, nil
	}
	return saved{version: p.Version, undo: undoOf(p, before, u, who)}, nil
}

// losesDoubleConsent reports whether a consent is gone that only a link can bring back, which is sent.
func (v *visitor) losesDoubleConsent(before, after preferences.Preferences) bool {
	for name, was := range before.Consents {
		c, _ := v.categoryOf(name)
		if c.Consent == tidings.DoubleOptIn && was.State == preferences.ConsentGiven && after.Consents[name].State != preferences.ConsentGiven {
			return true
		}
	}
	return false
}

// takeBack undoes the last change; store.ErrConflict says that there was another one since. What it
// is given is not signed, since it can do no more than the page that it belongs to.
func (s *Site) takeBack(ctx context.Context, v *visitor, undo string, source preferences.Source, now time.Time) (saved, error) {
	step, ok := readUndo(undo)
	if !ok || !s.known(step.Locale, step.Timezone, v) {
		return saved{}, &notice{status: http.StatusUnprocessableEntity, title: "unclear", text: "unclear_text"}
	}
	back, err := s.save(ctx, v, step.Version, source, now, func(p *preferences.Preferences, u *tidings.User) error {
		next, err := p.Patch(step.Patch, v.kind)
		if err != nil {
			return err
		}
		*p = next
		if step.Locale != nil {
			u.Locale = *step.Locale
		}
		if step.Timezone != nil {
			u.Timezone = *step.Timezone
		}
		return nil
	})
	var wrong *preferences.PatchError
	if errors.As(err, &wrong) {
		return saved{}, &notice{status: http.StatusUnprocessableEntity, title: "unclear", text: "unclear_text"}
	}
	return back, err
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

// An undoStep is a merge patch that leads from a version back to the one before it.
type undoStep struct {
	Version  int64           `json:"v"`
	Patch    json.RawMessage `json:"p"`
	Locale   *string         `json:"l,omitempty"`
	Timezone *string         `json:"z,omitempty"`
}

func readUndo(text string) (step undoStep, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > maxUndo || json.Unmarshal(raw, &step) != nil || len(step.Patch) == 0 {
		return undoStep{}, false
	}
	return step, step.Version >= 0
}

// undoOf is the step from after back to before; empty when they do not differ, or too much.
func undoOf(after, before preferences.Preferences, now, then tidings.User) string {
	patch := difference(after, before)
	step := undoStep{Version: after.Version}
	if now.Locale != then.Locale {
		step.Locale = &then.Locale
	}
	if now.Timezone != then.Timezone {
		step.Timezone = &then.Timezone
	}
	if len(patch) == 0 && step.Locale == nil && step.Timezone == nil {
		return ""
	}
	var err error
	if step.Patch, err = json.Marshal(patch); err != nil {
		return ""
	}
	raw, err := json.Marshal(step)
	if err != nil || base64.RawURLEncoding.EncodedLen(len(raw)) > maxUndo {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
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
	if !reflect.DeepEqual(from.QuietHours, to.QuietHours) {
		patch["quiet_hours"] = to.QuietHours
	}
	return patch
}

func cellsBetween(from, to map[tidings.Channel]bool) map[string]any {
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
