// Package hooks takes what providers report about messages after they accepted them.
//
// It promises that nothing of an unsigned callback is stored, and that an authentic one is
// stored before it is answered. It must never trust forwarded headers: the URL that a
// signature covers is the configured public one.
package hooks

import (
	"context"
	"net/http"
	"strings"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
)

// A Receiver takes callbacks of all providers.
type Receiver struct {
	Apply func(ctx context.Context, receipts []tidings.Receipt) (store.Applied, error)
	// Stop and Restart take the words of a person who wrote back, and give of how many users the number is.
	Stop, Restart func(ctx context.Context, channel tidings.Channel, number string, by preferences.Origin, now time.Time) (people int, err error)

	PublicURL string // where providers reach this service
	Metrics   *observe.Metrics
	Now       func() time.Time
}

// A Count says what a callback had.
type Count struct{ Receipts, Strays int }

// Receive verifies, parses and stores one callback of a provider. Its errors are problems: a
// forged callback is forbidden, one that cannot be read is invalid input, and one that cannot
// be stored now shall be repeated.
func (v *Receiver) Receive(r *http.Request, provider, channel string, reader channels.ReceiptReader, body []byte) (Count, error) {
	receipts, err := reader.ReadReceipts(r, strings.TrimRight(v.PublicURL, "/")+r.URL.RequestURI(), body)
	if err != nil {
		return Count{}, unreadable(err)
	}
	if len(receipts) == 0 {
		return Count{}, nil
	}
	now := v.Now().UTC()
	for i := range receipts {
		complete(&receipts[i], provider, now)
	}
	applied, err := v.Apply(r.Context(), receipts)
	if err != nil {
		return Count{}, err
	}
	v.count(provider, channel, receipts)
	return Count{Receipts: len(receipts), Strays: applied.Strays}, nil
}

// complete adds what the provider did not say.
func complete(r *tidings.Receipt, provider string, now time.Time) {
	r.Provider = provider
	r.ReceivedAt = now
	if r.At.IsZero() {
		r.At = now
	}
}

// count tells the metrics what people did.
func (v *Receiver) count(provider, channel string, receipts []tidings.Receipt) {
	for _, r := range receipts {
		switch r.Status {
		case tidings.ReceiptOpened, tidings.ReceiptClicked, tidings.ReceiptComplained:
			v.Metrics.Engagement.WithLabelValues(channel, provider, string(r.Status)).Inc()
		}
	}
}
