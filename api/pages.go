package api

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"tidings/api/pages"
	"tidings/api/problem"
	"tidings/api/wire"
)

// maxForm bounds what a form may send, in bytes.
const maxForm = 64 << 10

// Media types of forms: browsers send the first, RFC 8058 prefers the second.
const (
	mediaForm  = "application/x-www-form-urlencoded"
	mediaParts = "multipart/form-data"
)

// pageRoutes are for people, who come by a link that was signed for them.
func (s *service) pageRoutes() []route {
	const html = "text/html"
	return []route{
		{
			method: http.MethodGet, pattern: "/u/{token}", summary: "Ask whether to unsubscribe",
			about: "The link of List-Unsubscribe, which never expires. A page with a button; nothing is changed.",
			gives: []reply{
				{status: http.StatusOK, about: "The page.", media: html},
				{status: http.StatusNotFound, about: "The link is not one of ours.", media: html},
			},
			serve: s.read(s.pages.AskUnsubscribe),
		},
		{
			method: http.MethodPost, pattern: "/u/{token}", summary: "Unsubscribe at one click",
			about: "RFC 8058: the body is List-Unsubscribe=One-Click, as a form. Opts the user out by as much as the category's opt_out says; again, it changes nothing more. The page undoes that, and nothing else.",
			gives: []reply{
				{status: http.StatusOK, about: "Unsubscribed; the page offers to undo it.", media: html},
				{status: http.StatusNotFound, about: "The link is not one of ours.", media: html},
				{status: http.StatusConflict, about: "The category is critical by now, or what is to be undone was changed since.", media: html},
				{status: http.StatusGone, about: "It is too late to undo it: an undo is good for an hour.", media: html},
				{status: http.StatusUnprocessableEntity, about: "The form cannot be read, or is none of the page.", media: html},
				{status: http.StatusTooManyRequests, about: "Undoing only: too many changes on this user's pages in a short time. To unsubscribe is never too much.", media: html},
			},
			errors: []problem.Code{problem.UnsupportedMediaType, problem.TooLarge},
			serve:  s.sent(s.pages.Unsubscribe),
		},
		{
			method: http.MethodGet, pattern: "/confirm/{token}", summary: "Ask whether to confirm a consent",
			about: "A page with a button; nothing is changed.",
			gives: []reply{
				{status: http.StatusOK, about: "The page.", media: html},
				{status: http.StatusNotFound, about: "The link is not one of ours.", media: html},
				{status: http.StatusGone, about: "The link has expired.", media: html},
			},
			serve: s.read(s.pages.AskConfirm),
		},
		{
			method: http.MethodPost, pattern: "/confirm/{token}", summary: "Confirm a consent",
			about: "The form of the page. A consent that was taken back, or asked for anew, stays so.",
			gives: []reply{
				{status: http.StatusOK, about: "Confirmed.", media: html},
				{status: http.StatusNotFound, about: "The link is not one of ours.", media: html},
				{status: http.StatusConflict, about: "It was taken back since, or asked for anew.", media: html},
				{status: http.StatusGone, about: "The link has expired.", media: html},
				{status: http.StatusUnprocessableEntity, about: "The form cannot be read, or is none of the page.", media: html},
			},
			errors: []problem.Code{problem.UnsupportedMediaType, problem.TooLarge},
			serve:  s.sent(s.pages.Confirm),
		},
		{
			method: http.MethodGet, pattern: "/preferences/{token}", summary: "Show the preference page",
			gives: []reply{
				{status: http.StatusOK, about: "The page.", media: html},
				{status: http.StatusNotFound, about: "The link is not one of ours.", media: html},
				{status: http.StatusGone, about: "The link has expired.", media: html},
			},
			serve: s.read(s.pages.ShowPreferences),
		},
		{
			method: http.MethodPost, pattern: "/preferences/{token}", summary: "Save the preference page",
			about: "The form of the page. What it does not show stays as it is.",
			gives: []reply{
				{status: http.StatusSeeOther, about: "Saved; leads back to the page, which offers to undo it."},
				{status: http.StatusNotFound, about: "The link is not one of ours.", media: html},
				{status: http.StatusConflict, about: "Somebody changed them since; the page shows what was sent, to be looked at and saved again.", media: html},
				{status: http.StatusGone, about: "The link has expired, or it is too late to undo: that is good for an hour.", media: html},
				{status: http.StatusUnprocessableEntity, about: "The page, with what is wrong.", media: html},
				{status: http.StatusTooManyRequests, about: "Too many changes on this user's pages in a short time; what is refused does not count.", media: html},
			},
			errors: []problem.Code{problem.UnsupportedMediaType, problem.TooLarge},
			serve:  s.sent(s.pages.SavePreferences),
		},
	}
}

func (s *service) preferencesLink(c *call) (*answer, error) {
	id, err := c.userID()
	if err != nil {
		return nil, err
	}
	if _, _, err := s.Store.Preferences(c.Context(), id); err != nil {
		return nil, err
	}
	url, expires := s.Links.Preferences(id, c.now)
	return ok(wire.Link{URL: url, ExpiresAt: wire.At(expires)}), nil
}

// A shower is a page of the site.
type shower func(ctx context.Context, r pages.Request) (pages.Page, error)

// read serves a page that is looked at.
func (s *service) read(show shower) func(*call) (*answer, error) {
	return func(c *call) (*answer, error) { return s.show(c, show, nil) }
}

// sent serves a page whose form was sent.
func (s *service) sent(show shower) func(*call) (*answer, error) {
	return func(c *call) (*answer, error) {
		form, err := c.form()
		if errors.Is(err, errForm) {
			return s.show(c, s.pages.Unclear, nil)
		}
		if err != nil {
			return nil, err
		}
		return s.show(c, show, form)
	}
}

// show answers people: also what went wrong is a page.
func (s *service) show(c *call, show shower, form url.Values) (*answer, error) {
	r := pages.Request{
		Token: c.PathValue("token"), Languages: c.Header.Get("Accept-Language"), Query: c.URL.Query(), Form: form, Now: c.now,
	}
	p, err := show(c.Context(), r)
	if err != nil {
		s.Log.Error("a page failed", "request_id", c.id, "error", err)
		p = s.pages.Failed(r)
	}
	return &answer{status: p.Status, header: p.Header, raw: p.Body}, nil
}

// errForm is a form that cannot be read. Who sent it looks at a page.
var errForm = errors.New("the form cannot be read")

// form reads a form, in either of its media types.
func (c *call) form() (url.Values, error) {
	if err := c.media([]string{mediaForm, mediaParts}); err != nil {
		return nil, err
	}
	body, tooLarge := c.whole(maxForm)
	if tooLarge != nil {
		return nil, tooLarge
	}
	media, params, _ := mime.ParseMediaType(c.Header.Get("Content-Type")) // it was read before
	if media == mediaForm {
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, errForm
		}
		return values, nil
	}
	parts, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(maxForm) // in memory: the body is smaller
	if err != nil {
		return nil, errForm
	}
	return parts.Value, nil
}
