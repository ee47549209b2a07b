package api

import (
	"fmt"
	"net/http"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/wire"
	"tidings/preferences"
)

func (s *service) addConsent(c *call) (*answer, error) {
	var in wire.ConsentChange
	if err := c.read(&in); err != nil {
		return nil, err
	}
	user, err := c.newUserID()
	if err != nil {
		return nil, err
	}
	category, err := s.consentable(&in)
	if err != nil {
		return nil, err
	}
	var line preferences.Entry
	by := preferences.Origin{Source: in.Source, App: c.caller.App, Wording: in.Wording, Version: in.Version}
	_, _, err = s.Store.ChangePreferences(c.Context(), user, anyVersion, c.now, func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
		lines := p.Answer(&category, in.Channel, in.Action == wire.Give, by, c.now)
		line = lines[0]
		return lines, nil
	})
	if err != nil {
		return nil, err
	}
	out := consent(line)
	if line.Action == preferences.ConsentAsked {
		link := s.confirmLink(user, category.Name, line.ID, c.now)
		out.ConfirmURL, out.ConfirmExpiresAt = link.URL, link.ExpiresAt
	}
	return &answer{status: http.StatusCreated, body: out}, nil
}

// confirmLink is where a user confirms the consent that a line of the ledger asked for.
func (s *service) confirmLink(user, category string, line tidings.ConsentID, now time.Time) wire.Link {
	url, expires := s.Links.Confirm(user, category, line.String(), now)
	return wire.Link{URL: url, ExpiresAt: wire.At(expires)}
}

// consentable is the category that a consent is about, if it can be given or taken back.
func (s *service) consentable(in *wire.ConsentChange) (tidings.Category, error) {
	category, known := s.category(string(in.Category))
	switch {
	case !known:
		return category, invalid("/category", "the catalogue has no such category")
	case category.Kind == tidings.Critical && in.Action == wire.Withdraw:
		return category, wrong(problem.CategoryCritical, "/category", "this category is critical: it cannot be switched off")
	}
	return category, nil
}

func (s *service) listConsents(c *call) (*answer, error) {
	user, err := c.userID()
	if err != nil {
		return nil, err
	}
	before, limit, err := pageOf(c.URL.Query(), tidings.ParseConsentID)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.Consents(c.Context(), user, before, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := cut(found, limit, func(e *preferences.Entry) fmt.Stringer { return e.ID })
	page := wire.Consents{Data: []wire.Consent{}, NextCursor: next}
	for _, e := range found {
		page.Data = append(page.Data, consent(e))
	}
	return ok(page), nil
}

func consent(e preferences.Entry) wire.Consent {
	return wire.Consent{ID: e.ID, Category: e.Category, Channel: string(e.Channel), Action: e.Action, About: e.About, Value: e.Value, Wording: e.Wording,
		Version: e.Version, Source: e.Source, App: e.App, At: wire.At(e.At)}
}
