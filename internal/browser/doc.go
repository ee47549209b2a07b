// Package browser looks at the service's pages with a real browser, as people see them.
//
// It promises that they work with scripts and without, in every language they have, and that axe
// finds nothing in the way of who cannot see, hear or point. It has tests alone: product code must
// never import it, and no test of it may reach beyond this machine.
package browser
