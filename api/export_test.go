package api

import "tidings/api/strict"

// ListedRoute is a route as tests outside the package see it.
type ListedRoute struct {
	Method, Path, Example string
	Into                  func() strict.Reader // nil: no body
}

// Listed is the list of routes.
func Listed() []ListedRoute {
	var all []ListedRoute
	for _, r := range (&service{}).routes() {
		l := ListedRoute{Method: r.method, Path: r.pattern}
		if r.takes != nil {
			l.Example, l.Into = r.takes.example, r.takes.into
		}
		all = append(all, l)
	}
	return all
}

// Fingerprint is the hash of an event's canonical body.
func Fingerprint(body []byte) ([32]byte, error) { return fingerprint(body) }
