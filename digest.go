package tidings

import (
	"encoding/json"
	"fmt"
	"time"
)

// A DigestItem is a notification that a digest tells of.
type DigestItem struct {
	ID        NotificationID  `json:"id"`
	At        time.Time       `json:"at"` // when it was accepted
	ExpiresAt time.Time       `json:"expires_at,omitzero"`
	Data      json.RawMessage `json:"data"`
}

// LastExpiry is when the last of the items expires, with which a digest of them does; zero: never.
func LastExpiry(items []DigestItem) (last time.Time) {
	for _, item := range items {
		if item.ExpiresAt.IsZero() {
			return time.Time{}
		}
		if item.ExpiresAt.After(last) {
			last = item.ExpiresAt
		}
	}
	return last
}

// digestData is the data of a digest.
type digestData struct {
	Items     []DigestItem `json:"items"`
	Continued bool         `json:"continued,omitempty"`
}

// DigestData is the data of a digest of these items, which stand in their order. It is continued when
// it tells of what did not fit into another.
func DigestData(items []DigestItem, continued bool) (json.RawMessage, error) {
	data, err := json.Marshal(digestData{Items: items, Continued: continued})
	if err != nil {
		return nil, fmt.Errorf("write a digest: %w", err)
	}
	return data, nil
}

// Newest is the data of the event that a notification tells of, of a digest that of its last.
func (n *Notification) Newest() json.RawMessage {
	if n.Parts == 0 {
		return n.Data
	}
	items, err := ItemsOf(n.Data)
	if err != nil || len(items) == 0 {
		return nil
	}
	return items[len(items)-1].Data
}

// ItemsOf reads the items from what DigestData wrote.
func ItemsOf(data json.RawMessage) ([]DigestItem, error) {
	items, _, err := ReadDigest(data)
	return items, err
}

// ReadDigest reads what DigestData wrote.
func ReadDigest(data json.RawMessage) (items []DigestItem, continued bool, err error) {
	var digest digestData
	if err := json.Unmarshal(data, &digest); err != nil {
		return nil, false, fmt.Errorf("read the items of a digest: %w", err)
	}
	return digest.Items, digest.Continued, nil
}
