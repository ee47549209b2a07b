// Package setting says which setting of the configuration an error is about.
//
// It promises a path as an operator would spell it, so that whoever read the configuration can
// say where it stands. It must never know what a setting means.
package setting

import "fmt"

// An Error is what is wrong with one setting, and what would be right.
type Error struct {
	Path string // as "delivery.lease"; of several that contradict each other, the one to change
	What string
}

// Error is the path and what is wrong.
func (e *Error) Error() string { return e.Path + ": " + e.What }

// Wrong makes an Error.
func Wrong(path, format string, args ...any) error {
	return &Error{Path: path, What: fmt.Sprintf(format, args...)}
}
