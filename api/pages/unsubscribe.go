package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"tidings"
	"tidings/internal/links"
	"tidings/internal/store"
	"tidings/preferences"
)

// The form of RFC 8058, section 3.2, which mail programs send and the page does too.
const (
	oneClickField = "List-Unsubscribe"
	oneClickValue = "One-Click"
	undoField     = "undo"
)

// A linkView is the page behind the link of a mail.
type linkView struct {
	frame
	Token    string
	Text     string
	Ask      bool   // the button stops
	Confirm  bool   // the button confirms
	Undo     string // what takes it back; empty: nothing
	Settings string // the URL of the preferences
}

// AskUnsubscribe is the page with the button that unsubscribes. It changes nothing: mail is read by
// programs too, which follow every link.
func (s *Site) AskUnsubscribe(ctx context.Context, r Request) (Page, error) {
	p, err := s.askUnsubscribe(ctx, r)
	return s.answer(p, err, r)
}

func (s *Site) askUnsubscribe(ctx context.Context, r Request) (Page, error) {
	v, err := s.visit(ctx, links.Unsubscribe, r)
	if err != nil {
		return Page{}, err
	}
	category, err := v.category()
	if err != nil {
		return Page{}, err
	}
	if off(&v.wants, &category) {
		return s.stopped(v, &category, r, "already", "")
	}
	scope := scopeOf(&category)
	title, _ := v.describe(&category)
	view := s.linkView(v, r)
	view.Ask, view.Title, view.Text = true, v.words.text("ask_"+scope), v.words.T("ask_"+scope+"_text")
	if scope == string(tidings.ScopeCategory) {
		view.Title = v.words.T("ask_category", title)
	} else {
		view.Text = v.words.T("ask_"+scope+"_text", title)
	}
	return s.page("unsubscribe", http.StatusOK, view)
}

// Unsubscribe opts out by as much as the category says, or takes that back. The same again
// changes nothing more, so that there is no limit to it: nobody can keep a person from opting out
// by using up what they may change in a while.
func (s *Site) Unsubscribe(ctx context.Context, r Request) (Page, error) {
	p, err := s.unsubscribe(ctx, r)
	return s.answer(p, err, r)
}

func (s *Site) unsubscribe(ctx context.Context, r Request) (Page, error) {
	v, err := s.visit(ctx, links.Unsubscribe, r)
	if err != nil {
		return Page{}, err
	}
	category, err := v.category()
	if err != nil {
		return Page{}, err
	}
	switch {
	case r.Form.Has(undoField):
		return s.resubscribe(ctx, v, r)
	case r.Form.Get(oneClickField) != oneClickValue:
		return Page{}, unclear()
	}
	if err := s.note(ctx, v, r.Now); err != nil {
		return Page{}, err
	}
	if off(&v.wants, &category) {
		return s.stopped(v, &category, r, "already", "")
	}
	done, err := s.save(ctx, v, anyVersion, preferences.SourceUnsubscribe, r.Now, func(p *preferences.Preferences, _ *tidings.User) error {
		p.OptOut(&category, tidings.Email) // the link came by mail
		return nil
	})
	if err != nil {
		return Page{}, err
	}
	return s.stopped(v, &category, r, "stopped", s.undo(v, done, r.Now))
}

// note tells the delivery whose link it was that its reader unsubscribed. It comes before the wish is
// stored: should one of the two fail, the page says that nothing was changed, and asks to try again.
func (s *Site) note(ctx context.Context, v *visitor, now time.Time) error {
	id := v.link.Delivery()
	if id.IsZero() {
		return nil
	}
	provider, first, err := s.Store.Unsubscribed(ctx, id, now)
	if err == nil && first {
		s.Metrics.Engagement.WithLabelValues(string(tidings.Email), provider, "unsubscribed").Inc()
	}
	return err
}

// resubscribe takes an opt-out back, as long as nothing was changed since.
func (s *Site) resubscribe(ctx context.Context, v *visitor, r Request) (Page, error) {
	view := s.linkView(v, r)
	view.Title = v.words.text("all_settings")
	_, err := s.takeBack(ctx, v, r.Form.Get(undoField), preferences.SourceUnsubscribe, r.Now)
	switch {
	case errors.Is(err, store.ErrConflict):
		view.Text = v.words.text("undo_late")
		return s.page("unsubscribe", http.StatusConflict, view)
	case err != nil:
		return Page{}, err
	}
	view.Text = v.words.text("undone")
	return s.page("unsubscribe", http.StatusOK, view)
}

// stopped is the page that says so.
func (s *Site) stopped(v *visitor, c *tidings.Category, r Request, title, undo string) (Page, error) {
	view := s.linkView(v, r)
	view.Title, view.Undo = v.words.text(title), undo
	scope := scopeOf(c)
	view.Text = v.words.text("stopped_" + scope)
	if scope == string(tidings.ScopeCategory) {
		name, _ := v.describe(c)
		view.Text = v.words.T("stopped_category", name)
	}
	return s.page("unsubscribe", http.StatusOK, view)
}

func (s *Site) linkView(v *visitor, r Request) linkView {
	settings, _ := s.Links.Preferences(v.link.User, r.Now)
	return linkView{frame: frame{words: v.words}, Token: r.Token, Settings: settings}
}

// category is the one that the link is about.
func (v *visitor) category() (tidings.Category, error) {
	c, _ := v.categoryOf(v.link.Category)
	if c.Kind == tidings.Critical {
		title, _ := v.describe(&c)
		return c, &notice{status: http.StatusConflict, title: "critical", text: "critical_text", about: title}
	}
	return c, nil
}

func (v *visitor) describe(c *tidings.Category) (title, description string) {
	return v.catalogue.Describe(c, cmp.Or(v.user.Locale, v.words.Lang))
}

func scopeOf(c *tidings.Category) string { return string(cmp.Or(c.OptOut, tidings.ScopeCategory)) }

// off reports whether an opt-out of the category would change nothing.
func off(p *preferences.Preferences, c *tidings.Category) bool {
	switch cmp.Or(c.OptOut, tidings.ScopeCategory) {
	case tidings.ScopeAll:
		return p.All != nil && !*p.All
	case tidings.ScopeChannel:
		on, named := p.Channels[tidings.Email]
		return named && !on
	}
	choice := p.Categories[c.Name]
	for _, on := range choice.Channels {
		if on {
			return false
		}
	}
	return choice.All != nil && !*choice.All
}
