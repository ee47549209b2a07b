package api

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tidings"
	"tidings/api/problem"
	"tidings/api/wire"
	"tidings/internal/store"
	"tidings/preferences"
)

// anyVersion lets a change go through whatever the current version is.
const anyVersion = -1

func (s *service) getPreferences(c *call) (*answer, error) {
	id, err := c.userID()
	if err != nil {
		return nil, err
	}
	p, u, err := s.Store.Preferences(c.Context(), id)
	if err != nil {
		return nil, err
	}
	return wanted(p, u), nil
}

func (s *service) patchPreferences(c *call) (*answer, error) {
	var in wire.PreferencesPatch
	if err := c.read(&in); err != nil {
		return nil, err
	}
	id, err := c.newUserID()
	if err != nil {
		return nil, err
	}
	versions, err := seenVersions(in.Version, c.Header)
	if err != nil {
		return nil, err
	}
	choices, err := in.Choices()
	if err != nil {
		return nil, err
	}
	by := preferences.Origin{Source: preferences.SourceAPI, App: c.caller.App}
	p, u, err := s.Store.ChangePreferences(c.Context(), id, anyVersion, c.now, func(p *preferences.Preferences, u *tidings.User) ([]preferences.Entry, error) {
		if err := versions.check(p.Version); err != nil {
			return nil, err
		}
		before, was := p.Clone(), *u
		if err := s.change(p, u, &in, choices); err != nil {
			return nil, err
		}
		return append(preferences.Settle(before, p, s.category, by, c.now), by.Moved(&was, u, c.now)...), nil
	})
	if err != nil {
		return nil, patchProblem(err)
	}
	a := wanted(p, u)
	a.body = wire.PatchedPreferences{Preferences: preferencesOf(p, u), Confirm: s.toConfirm(c, id, &in, &p)}
	return a, nil
}

// toConfirm are the links to the consents that wait for one, of the categories that a patch names.
func (s *service) toConfirm(c *call, user string, in *wire.PreferencesPatch, p *preferences.Preferences) map[string]wire.Link {
	waiting := map[string]wire.Link{}
	for _, name := range in.Named() {
		if line := p.Consents[name].Newest(); !line.IsZero() {
			waiting[name] = s.confirmLink(user, name, line, c.now)
		}
	}
	return waiting
}

// change applies a patch to what the user wants now.
func (s *service) change(p *preferences.Preferences, u *tidings.User, in *wire.PreferencesPatch, choices json.RawMessage) error {
	next, err := p.Patch(choices, func(category string) (tidings.CategoryKind, bool) {
		found, known := s.category(category)
		return found.Kind, known
	})
	if err != nil {
		return err
	}
	if err := s.hasThreads(p.Threads, next.Threads); err != nil {
		return err
	}
	*p = next
	if in.Locale != nil {
		u.Locale = string(*in.Locale)
	}
	if in.Timezone != nil {
		u.Timezone = string(*in.Timezone)
	}
	return nil
}

// hasThreads refuses to mute a thread of a category of which no event type has threads: it would be taken
// and change nothing.
func (s *service) hasThreads(before, after map[string]map[string]bool) error {
	catalogue, _ := s.Catalogue()
	threaded := map[string]bool{}
	for _, e := range catalogue.Events {
		threaded[e.Category.Name] = threaded[e.Category.Name] || e.Thread != ""
	}
	for _, category := range slices.Sorted(maps.Keys(after)) {
		for _, key := range slices.Sorted(maps.Keys(after[category])) {
			if _, muted := before[category][key]; !muted && !threaded[category] {
				return invalid(pointer("threads", category, key), "no event type of this category has threads, so there is nothing to mute")
			}
		}
	}
	return nil
}

// category finds a category of the catalogue.
func (s *service) category(name string) (tidings.Category, bool) {
	catalogue, _ := s.Catalogue()
	found, known := catalogue.Categories[name]
	return found, known
}

func patchProblem(err error) error {
	var wrongPatch *preferences.PatchError
	if errors.As(err, &wrongPatch) {
		return wrong(problem.Code(wrongPatch.Code), wrongPatch.Pointer, wrongPatch.Detail)
	}
	if errors.Is(err, store.ErrConflict) {
		return problem.New(problem.VersionConflict, "the preferences were changed since; read them again")
	}
	return err
}

// A seen is the versions of which the caller saw one; nil: any will do.
type seen []int64

// seenVersions are those told in the body and in If-Match (RFC 9110, section 13.1.1): a list of entity
// tags, of which none but strong ones count, or *.
func seenVersions(told *int64, header http.Header) (versions seen, err error) {
	if told != nil {
		if *told < 0 {
			return nil, invalid("/version", "must not be negative")
		}
		versions = seen{*told}
	}
	match := strings.TrimSpace(strings.Join(header.Values("If-Match"), ","))
	if len(header.Values("If-Match")) == 0 || match == "*" {
		return versions, nil
	}
	tags := seen{}
	for tag := range strings.SplitSeq(match, ",") {
		version, err := strconv.ParseInt(strings.Trim(strings.TrimSpace(tag), `"`), 10, 64)
		if err == nil && version >= 0 && (told == nil || version == *told) {
			tags = append(tags, version)
		}
	}
	return tags, nil
}

// check refuses to change what the caller has not seen.
func (s seen) check(current int64) error {
	if s != nil && !slices.Contains(s, current) {
		return store.ErrConflict
	}
	return nil
}

// wanted answers with what a user wants.
func wanted(p preferences.Preferences, u tidings.User) *answer {
	a := ok(preferencesOf(p, u))
	a.header = map[string]string{"ETag": `"` + strconv.FormatInt(p.Version, 10) + `"`}
	return a
}

func preferencesOf(p preferences.Preferences, u tidings.User) wire.Preferences {
	out := wire.Preferences{
		All: p.All == nil || *p.All, Channels: p.Channels, Categories: map[string]any{},
		Threads: p.Threads, QuietHours: p.QuietHours, Locale: u.Locale, Timezone: u.Timezone, Version: p.Version,
	}
	if out.Channels == nil {
		out.Channels = map[tidings.Channel]bool{}
	}
	for name, choice := range p.Categories {
		out.Categories[name] = choiceOf(choice)
	}
	return out
}

// choiceOf is a choice in its shortest form: a truth value, or an object when channels differ.
func choiceOf(c preferences.Choice) any {
	if len(c.Channels) == 0 && c.All != nil {
		return *c.All
	}
	out := map[string]bool{}
	if c.All != nil {
		out["all"] = *c.All
	}
	for channel, on := range c.Channels {
		out[string(channel)] = on
	}
	return out
}
