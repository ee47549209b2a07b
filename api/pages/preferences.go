package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"tidings"
	"tidings/internal/links"
	"tidings/internal/store"
	"tidings/preferences"
)

// What a page of preferences is told of the change before it, in its query.
const savedField = "saved" // with the token of the step

// ShowPreferences is the page on which a person chooses what they are sent.
func (s *Site) ShowPreferences(ctx context.Context, r Request) (Page, error) {
	p, err := s.showPreferences(ctx, r)
	return s.answer(p, err, r)
}

func (s *Site) showPreferences(ctx context.Context, r Request) (Page, error) {
	v, err := s.visit(ctx, links.Preferences, r)
	if err != nil {
		return Page{}, err
	}
	view := s.preferencesView(v, v.form(), r)
	view.Notice = s.news(v, r)
	return s.page("preferences", http.StatusOK, view)
}

// news is what came of the change that led here; nothing when another one followed it, or there was none.
func (s *Site) news(v *visitor, r Request) *news {
	token := r.Query.Get(savedField)
	done, err := s.stepOf(v, token, r.Now)
	if err != nil || done.Version != v.wants.Version {
		return nil
	}
	n := &news{Text: v.words.text(done.Did)}
	if len(done.Patch) > 0 && !done.empty() {
		n.Undo = token
	}
	return n
}

// SavePreferences stores what the form of the page says and leads back to the page. Only what the
// form showed and the person changed is touched.
func (s *Site) SavePreferences(ctx context.Context, r Request) (Page, error) {
	p, err := s.savePreferences(ctx, r)
	return s.answer(p, err, r)
}

func (s *Site) savePreferences(ctx context.Context, r Request) (Page, error) {
	v, err := s.visit(ctx, links.Preferences, r)
	if err != nil {
		return Page{}, err
	}
	if r.Form.Has(undoField) {
		return s.undoPreferences(ctx, v, r)
	}
	f, ok := v.readForm(r.Form)
	if !ok {
		return Page{}, unclear()
	}
	if f.check(s, v) {
		view := s.preferencesView(v, f, r)
		view.Notice = &news{Text: v.words.text("check_input"), Alarm: true}
		return s.page("preferences", http.StatusUnprocessableEntity, view)
	}
	if f.version == v.wants.Version && !f.changes(v) {
		return s.back(v, r, step{Did: didNothing, Version: f.version}), nil
	}
	if !s.changes.take(v.link.User, r.Now) {
		return Page{}, busy()
	}
	done, err := s.save(ctx, v, f.version, preferences.SourcePage, r.Now, func(p *preferences.Preferences, u *tidings.User) error {
		f.apply(p, u, v)
		return nil
	})
	if err != nil {
		s.changes.giveBack(v.link.User)
	}
	if errors.Is(err, store.ErrConflict) {
		return s.conflict(ctx, r)
	}
	if err != nil {
		return Page{}, err
	}
	return s.back(v, r, done), nil
}

// conflict shows the person what holds by now with what they changed, so that neither what they did
// nor what was changed elsewhere is lost; they save that once more.
func (s *Site) conflict(ctx context.Context, r Request) (Page, error) {
	now, err := s.visit(ctx, links.Preferences, r)
	if err != nil {
		return Page{}, err
	}
	f, _ := now.readForm(r.Form)
	f.version = now.wants.Version
	view := s.preferencesView(now, f, r)
	view.Notice = &news{Text: now.words.text("changed_elsewhere"), Alarm: true}
	return s.page("preferences", http.StatusConflict, view)
}

func (s *Site) undoPreferences(ctx context.Context, v *visitor, r Request) (Page, error) {
	done, err := s.takeBack(ctx, v, r.Form.Get(undoField), preferences.SourcePage, r.Now)
	switch {
	case errors.Is(err, store.ErrConflict):
		now, err := s.visit(ctx, links.Preferences, r)
		if err != nil {
			return Page{}, err
		}
		view := s.preferencesView(now, now.form(), r)
		view.Notice = &news{Text: v.words.text("undo_late"), Alarm: true}
		return s.page("preferences", http.StatusConflict, view)
	case err != nil:
		return Page{}, err
	}
	return s.back(v, r, done), nil
}

// back leads to the page by its link, so that loading it again sends nothing again.
func (s *Site) back(v *visitor, r Request, done step) Page {
	p := Page{Status: http.StatusSeeOther, Header: s.headers()}
	p.Header["Location"] = r.Token + "?" + url.Values{savedField: {s.sign(v, done, r.Now)}}.Encode()
	return p
}
