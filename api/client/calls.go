package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"tidings"
	"tidings/api/wire"
)

// Post posts one event. Posting it again under the same dedupe key is safe.
func (c *Client) Post(ctx context.Context, e wire.Event) (wire.Posted, error) {
	var out wire.Posted
	err := c.Do(ctx, http.MethodPost, "/v1/events", e, &out)
	return out, err
}

// Trail is all that is known of a notification.
func (c *Client) Trail(ctx context.Context, id tidings.NotificationID) (wire.Trail, error) {
	var out wire.Trail
	err := c.Do(ctx, http.MethodGet, "/v1/notifications/"+id.String(), nil, &out)
	return out, err
}

// Cancel calls off what of a notification is not sent yet.
func (c *Client) Cancel(ctx context.Context, id tidings.NotificationID) (wire.Cancelled, error) {
	var out wire.Cancelled
	err := c.Do(ctx, http.MethodPost, "/v1/notifications/"+id.String()+"/cancel", nil, &out)
	return out, err
}

// Register adds an address to a user, or refreshes it.
func (c *Client) Register(ctx context.Context, user string, a wire.NewAddress) (wire.Address, error) {
	var out wire.Address
	err := c.Do(ctx, http.MethodPost, "/v1/users/"+url.PathEscape(user)+"/addresses", a, &out)
	return out, err
}

// DeadLetters is a page of the deliveries that need a person; the query has the parameters of
// GET /v1/dead-letters.
func (c *Client) DeadLetters(ctx context.Context, query url.Values) (wire.DeadLetters, error) {
	var out wire.DeadLetters
	err := c.Do(ctx, http.MethodGet, strings.TrimSuffix("/v1/dead-letters?"+query.Encode(), "?"), nil, &out)
	return out, err
}

// Redrive tries dead letters again. Repeating it after a lost answer is safe: what it moved is dead no more.
func (c *Client) Redrive(ctx context.Context, r wire.Redrive) (wire.Redriven, error) {
	var out wire.Redriven
	err := c.Do(ctx, http.MethodPost, "/v1/dead-letters/redrive", r, &out)
	return out, err
}

// Lanes is how the lanes stand.
func (c *Client) Lanes(ctx context.Context) (wire.Lanes, error) {
	var out wire.Lanes
	err := c.Do(ctx, http.MethodGet, "/v1/lanes", nil, &out)
	return out, err
}

// PauseLane lets nothing more of a lane be sent until it is resumed.
func (c *Client) PauseLane(ctx context.Context, lane tidings.Lane) (wire.Lane, error) {
	return c.changeLane(ctx, http.MethodPost, lane, "/pause", nil)
}

// ResumeLane ends a pause.
func (c *Client) ResumeLane(ctx context.Context, lane tidings.Lane) (wire.Lane, error) {
	return c.changeLane(ctx, http.MethodPost, lane, "/resume", nil)
}

// RebuildLane makes a lane again and fills it from the log.
func (c *Client) RebuildLane(ctx context.Context, lane tidings.Lane) (wire.Lane, error) {
	return c.changeLane(ctx, http.MethodPost, lane, "/rebuild", nil)
}

// SetLaneRate limits how many of a lane are sent a second; 0 lifts the limit.
func (c *Client) SetLaneRate(ctx context.Context, lane tidings.Lane, perSecond float64) (wire.Lane, error) {
	return c.changeLane(ctx, http.MethodPatch, lane, "", wire.LaneChange{RatePerSecond: wire.Rate(perSecond)})
}

func (c *Client) changeLane(ctx context.Context, method string, lane tidings.Lane, what string, in any) (out wire.Lane, err error) {
	err = c.Do(ctx, method, "/v1/lanes/"+url.PathEscape(string(lane))+what, in, &out)
	return out, err
}
