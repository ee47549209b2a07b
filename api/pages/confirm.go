package pages

import (
	"context"
	"net/http"

	"tidings"
	"tidings/internal/links"
	"tidings/preferences"
)

// confirmField is what the form of the page sends: an empty form was not sent by it.
const confirmField = "confirm"

// AskConfirm is the page with the button that confirms a consent. It changes nothing.
func (s *Site) AskConfirm(ctx context.Context, r Request) (Page, error) {
	p, err := s.confirm(ctx, r)
	return s.answer(p, err, r)
}

// Confirm makes the consent given that the link is about, unless it was taken back since.
func (s *Site) Confirm(ctx context.Context, r Request) (Page, error) {
	p, err := s.confirm(ctx, r)
	return s.answer(p, err, r)
}

func (s *Site) confirm(ctx context.Context, r Request) (Page, error) {
	v, err := s.visit(ctx, links.Confirm, r)
	if err != nil {
		return Page{}, err
	}
	category, err := v.category()
	if err != nil {
		return Page{}, err
	}
	title, _ := v.describe(&category)
	view := s.linkView(v, r)
	if r.Form == nil {
		view.Title, view.Text, view.Confirm = v.words.text("confirm"), v.words.T("confirm_text", title), true
		return s.page("unsubscribe", http.StatusOK, view)
	}
	line, err := tidings.ParseConsentID(v.link.Ref)
	if err != nil || !r.Form.Has(confirmField) {
		return Page{}, unclear()
	}
	given, err := s.Store.ConfirmConsent(ctx, v.link.User, category.Name, line, preferences.Origin{Source: preferences.SourcePage}, r.Now)
	if err != nil {
		return Page{}, err
	}
	if !given {
		view.Title, view.Text = v.words.text("unclear"), v.words.text("confirm_late")
		return s.page("unsubscribe", http.StatusConflict, view)
	}
	view.Title, view.Text = v.words.text("confirmed"), v.words.T("confirmed_text", title)
	return s.page("unsubscribe", http.StatusOK, view)
}
