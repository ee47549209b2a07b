// Package wire holds the JSON of the API as Go types: requests with the rules by which they
// are read, and answers as they are written.
//
// It promises that what a type writes is what its rules read. It must never know how a request
// is served.
package wire
