package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"tidings"
	"tidings/api/wire"
)

// Explain says what would become of an event of a type for a user, and why; a zero at means now,
// an empty channel all of the type.
func (c *Client) Explain(ctx context.Context, user, event string, at time.Time, channel tidings.Channel) (wire.Explained, error) {
	q := url.Values{"event": {event}}
	if !at.IsZero() {
		q.Set("at", at.UTC().Format(time.RFC3339Nano))
	}
	if channel != "" {
		q.Set("channel", string(channel))
	}
	var out wire.Explained
	err := c.Do(ctx, http.MethodGet, "/v1/users/"+url.PathEscape(user)+"/explain?"+q.Encode(), nil, &out)
	return out, err
}

// Replay says which notifications another catalogue would decide otherwise. It changes nothing.
func (c *Client) Replay(ctx context.Context, r wire.Replay) (wire.Replayed, error) {
	var out wire.Replayed
	err := c.Do(ctx, http.MethodPost, "/v1/catalog/replay", r, &out)
	return out, err
}
