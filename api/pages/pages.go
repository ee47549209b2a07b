// Package pages is what people see of the service: by a signed link, without an account, they
// unsubscribe from what they are sent or choose among it.
//
// It promises that looking at a page changes nothing, and that every page works without a script.
// The link is all the authority there is: it must never read a cookie, nor show anything to who
// has no link.
package pages

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"tidings"
	"tidings/internal/links"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

//go:embed html style.css words.*.json zones.txt
var files embed.FS

// Settings wire the pages.
type Settings struct {
	Store     *store.Store
	Links     *links.Signer
	Catalogue func() (*templates.Catalogue, int64)
	Metrics   *observe.Metrics
}

// A Site serves the pages. It is safe for concurrent use.
type Site struct {
	Settings
	pages   map[string]*template.Template
	words   map[string]words // by language
	zones   []zoneGroup
	policy  string
	changes *limiter
}

// New reads what the pages are made of, which is embedded.
func New(s Settings) *Site {
	style := read("style.css")
	return &Site{
		Settings: s, pages: compile(style), words: dictionaries(), zones: zoneGroups(read("zones.txt")),
		policy: policy(style), changes: newLimiter(),
	}
}

// A Request is what a person asks of a page.
type Request struct {
	Token     string
	Languages string     // of the browser, as Accept-Language; counts while nobody's own is known
	Query     url.Values // of a page that is looked at
	Form      url.Values // of one that is sent
	Now       time.Time
}

// A Page is an answer for people.
type Page struct {
	Status int
	Header map[string]string
	Body   []byte
}

// A notice is a page that says one thing, by the names of its words. It is the error of what cannot be done.
type notice struct {
	status      int
	title, text string
	about       string // what the text speaks of
}

// Error is the name of its words.
func (n *notice) Error() string { return n.title }

// A visitor is the person whose link was followed.
type visitor struct {
	link      links.Link
	user      tidings.User
	wants     preferences.Preferences
	catalogue *templates.Catalogue
	version   int64 // of the catalogue
	words     words
}

// visit reads a link and whose it is; its error may be a *notice.
func (s *Site) visit(ctx context.Context, p links.Purpose, r Request) (*visitor, error) {
	link, err := s.Links.Open(p, r.Token, r.Now)
	switch {
	case errors.Is(err, links.ErrExpired):
		return nil, &notice{status: http.StatusGone, title: "expired", text: "expired_text"}
	case err != nil:
		return nil, &notice{status: http.StatusNotFound, title: "lost", text: "lost_text"}
	}
	wants, user, err := s.Store.Preferences(ctx, link.User)
	if errors.Is(err, store.ErrNotFound) { // erased: nothing is known, not even that
		return nil, &notice{status: http.StatusNotFound, title: "lost", text: "lost_text"}
	}
	if err != nil {
		return nil, err
	}
	catalogue, version := s.Catalogue()
	return &visitor{link: link, user: user, wants: wants, catalogue: catalogue, version: version,
		words: s.speak(cmp.Or(user.Locale, catalogue.DefaultLocale))}, nil
}

// Unclear is the page for a form that cannot be read.
func (s *Site) Unclear(_ context.Context, r Request) (Page, error) { return s.explain(unclear(), r) }

func unclear() *notice {
	return &notice{status: http.StatusUnprocessableEntity, title: "unclear", text: "unclear_text"}
}

func busy() *notice {
	return &notice{status: http.StatusTooManyRequests, title: "busy", text: "busy_text"}
}

// Failed is the page that says that something did not work, whatever it was.
func (s *Site) Failed(r Request) Page {
	p, err := s.explain(&notice{status: http.StatusServiceUnavailable, title: "failed", text: "failed_text"}, r)
	if err != nil { // the page of a notice has nothing that could fail
		panic(err)
	}
	return p
}

// answer makes the page of a notice, and leaves other errors to the caller.
func (s *Site) answer(p Page, err error, r Request) (Page, error) {
	var n *notice
	if errors.As(err, &n) {
		return s.explain(n, r)
	}
	return p, err
}

func (s *Site) explain(n *notice, r Request) (Page, error) {
	w := s.accepted(r.Languages)
	text := w.text(n.text)
	if n.about != "" {
		text = fmt.Sprintf(text, n.about)
	}
	p, err := s.page("notice", n.status, noticeView{frame: frame{words: w, Title: w.text(n.title)}, Text: text})
	if n.status == http.StatusTooManyRequests || n.status == http.StatusServiceUnavailable {
		p.Header["Retry-After"] = "60"
	}
	return p, err
}

// A frame is what every page shows.
type frame struct {
	words
	Title string
}

type noticeView struct {
	frame
	Text string
}

// page fills a template. What it says is nobody else's: it is neither stored, indexed nor framed,
// and no address of it leaves with a click.
func (s *Site) page(name string, status int, view any) (Page, error) {
	var b bytes.Buffer
	if err := s.pages[name].Execute(&b, view); err != nil {
		return Page{}, fmt.Errorf("fill the page %s: %w", name, err)
	}
	return Page{Status: status, Body: b.Bytes(), Header: s.headers()}, nil
}

func (s *Site) headers() map[string]string {
	return map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Content-Security-Policy": s.policy,
		"Referrer-Policy":         "no-referrer",
		"X-Robots-Tag":            "noindex, nofollow",
		"Cache-Control":           "no-store",
	}
}
