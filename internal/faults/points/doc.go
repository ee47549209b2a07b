// Package points lets the service die, and the world around it fail, at every place where it
// meets the outside, in virtual time.
//
// It promises that a process which dies here leaves what SIGKILL would leave. It must never reach
// into the service: it has tests only, and they see what callers and providers see.
package points
