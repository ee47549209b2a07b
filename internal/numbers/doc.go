// Package numbers tells from a phone number where it is at home: its country, and its time zones.
//
// It promises to know nothing but two tables. It must never decide anything.
package numbers
