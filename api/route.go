package api

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"tidings/api/problem"
	"tidings/api/strict"
)

// The bounds of bodies, in bytes.
const (
	maxBody      = 256 << 10
	maxBatchBody = 4 << 20 // of batches and catalogues
)

// Media types of request bodies.
const (
	mediaJSON  = "application/json"
	mediaMerge = "application/merge-patch+json"
)

// A route is one call of the API, with all that its document and its checks need.
type route struct {
	method  string
	pattern string // of the path, as http.ServeMux reads it
	scope   string // that the key must have; empty: no key is needed
	grows   bool   // what it stores is new, so it is refused while the disk is nearly full
	summary string
	about   string // more, for the document
	query   []parameter
	takes   *body
	gives   []reply
	errors  []problem.Code // that the handler gives beyond those of the checks before it
	serve   func(*call) (*answer, error)
}

// A parameter is one member of a query.
type parameter struct{ name, about string }

// A body is what a route takes.
type body struct {
	into     func() strict.Reader // makes an empty one
	media    []string
	limit    int64
	example  string
	optional bool
}

// takes is a JSON body read as a T.
func takes[T any, P interface {
	*T
	strict.Reader
}](example string) *body {
	return &body{into: func() strict.Reader { return P(new(T)) }, media: []string{mediaJSON}, limit: maxBody, example: example}
}

// upTo is the body with another limit.
func (b body) upTo(limit int64) *body {
	b.limit = limit
	return &b
}

// as is the body under other media types.
func (b body) as(media ...string) *body {
	b.media = media
	return &b
}

// maybe is the body, left out at will.
func (b body) maybe() *body {
	b.optional = true
	return &b
}

// A reply is one way in which a route answers.
type reply struct {
	status int
	about  string
	body   any    // a value of the type of the body; nil: none
	media  string // empty: application/json
}

// A resource is what one path offers.
type resource struct {
	methods map[string]*route
	allow   string // the methods, for the Allow header
}

// resources groups routes by their paths.
func resources(routes []route) map[string]*resource {
	all := map[string]*resource{}
	for i := range routes {
		r := &routes[i]
		at := all[r.pattern]
		if at == nil {
			at = &resource{methods: map[string]*route{}}
			all[r.pattern] = at
		}
		at.methods[r.method] = r
		if r.method == http.MethodGet {
			at.methods[http.MethodHead] = r
		}
	}
	for _, at := range all {
		var names []string
		for m := range at.methods {
			names = append(names, m)
		}
		slices.Sort(names)
		at.allow = strings.Join(names, ", ")
	}
	return all
}

// clean reports whether the mux would leave a path as it is.
func clean(p string) bool { return p == "/" || strings.HasPrefix(p, "/") && path.Clean(p) == p }
