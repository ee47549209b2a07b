// Package tidings holds the words of the service: ids, notifications, deliveries, attempts,
// receipts, holds, statuses and reasons, and the table that says which status may follow which.
//
// It promises to stay data and pure functions over the standard library. It must never do
// input or output, know a provider, or import another package of this module.
package tidings
