package pages

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"tidings"
	"tidings/internal/links"
	"tidings/internal/store"
	"tidings/preferences"
)

// A step says what a page has just done, and how that is taken back: by a merge patch that leads
// from the version it made to the one before. It is signed with the page's link, so that a page
// neither says what was not done nor takes back what it did not do.
type step struct {
	Did       string          `json:"d"`           // what the page says of it, by the name of its words
	Version   int64           `json:"v"`           // of the preferences, afterwards
	Catalogue int64           `json:"c,omitempty"` // under which it was done: another may ask for more consents
	Patch     json.RawMessage `json:"p,omitempty"` // none: it cannot be taken back
	Locale    *string         `json:"l,omitempty"`
	Timezone  *string         `json:"z,omitempty"`
}

// What a page did.
const (
	didSave    = "saved"
	didNothing = "saved_nothing"
	didUndo    = "undone"
)

// stepBack is the step that led from before to after. It cannot be taken back when that would not
// leave the consents as they were: a consent that is confirmed by a link comes back by a link
// alone, and nobody consents by taking something back who had not before.
func (v *visitor) stepBack(after, before preferences.Preferences, now, then tidings.User) step {
	s := step{Did: didSave, Version: after.Version, Catalogue: v.version}
	patch, err := json.Marshal(difference(after, before))
	if err != nil {
		return s
	}
	back, err := after.Patch(patch, v.kind)
	if err != nil {
		return s
	}
	preferences.Settle(after, &back, v.categoryOf, preferences.Origin{}, time.Time{})
	for name := range union(before.Consents, back.Consents) {
		if !back.SameConsent(&before, name) {
			return s
		}
	}
	s.Patch = patch
	if now.Locale != then.Locale {
		s.Locale = &then.Locale
	}
	if now.Timezone != then.Timezone {
		s.Timezone = &then.Timezone
	}
	return s
}

// empty reports whether there is nothing to take back.
func (s *step) empty() bool { return string(s.Patch) == "{}" && s.Locale == nil && s.Timezone == nil }

// sign is the token of a step on the page of a visitor. One that is too long for a URL keeps only
// what was done.
func (s *Site) sign(v *visitor, done step, now time.Time) string {
	for _, said := range []step{done, {Did: done.Did, Version: done.Version}} {
		raw, err := json.Marshal(said)
		if err != nil {
			continue
		}
		if token, ok := s.Links.Undo(v.link.User, v.link.Category, string(raw), now); ok {
			return token
		}
	}
	return ""
}

// undo is the token that takes a step back; empty: it cannot be.
func (s *Site) undo(v *visitor, done step, now time.Time) string {
	if len(done.Patch) == 0 || done.empty() {
		return ""
	}
	token := s.sign(v, done, now)
	if signed, err := s.stepOf(v, token, now); err != nil || len(signed.Patch) == 0 {
		return ""
	}
	return token
}

// stepOf reads a token that was made on a page of the same person behind the same kind of link;
// its error is that of links.Open.
func (s *Site) stepOf(v *visitor, token string, now time.Time) (done step, err error) {
	l, err := s.Links.Open(links.Undo, token, now)
	if l.User != v.link.User || l.Category != v.link.Category {
		return step{}, links.ErrForged
	}
	if err == nil && json.Unmarshal([]byte(l.Ref), &done) != nil {
		err = links.ErrForged
	}
	return done, err
}

// takeBack undoes what a page did; store.ErrConflict says that there was another change since.
func (s *Site) takeBack(ctx context.Context, v *visitor, token string, source preferences.Source, now time.Time) (step, error) {
	done, err := s.stepOf(v, token, now)
	switch {
	case errors.Is(err, links.ErrExpired):
		return step{}, &notice{status: http.StatusGone, title: "expired", text: "undo_expired"}
	case err != nil || len(done.Patch) == 0:
		return step{}, unclear()
	case done.Catalogue != v.version:
		return step{}, store.ErrConflict
	}
	if !s.changes.take(v.link.User, now) {
		return step{}, busy()
	}
	back, err := s.save(ctx, v, done.Version, source, now, func(p *preferences.Preferences, u *tidings.User) error {
		next, err := p.Patch(done.Patch, v.kind)
		if err != nil {
			return err
		}
		*p = next
		if done.Locale != nil {
			u.Locale = *done.Locale
		}
		if done.Timezone != nil {
			u.Timezone = *done.Timezone
		}
		return nil
	})
	if err != nil {
		s.changes.giveBack(v.link.User)
	}
	return step{Did: didUndo, Version: back.Version}, err
}
