package store

import (
	"encoding/json"
	"fmt"

	"tidings"
)

// The functions of this file list where the columns of a table go, in the one order in which
// every statement selects them.

// userFields takes id, locale, timezone, email, phone, attributes, created_at, updated_at.
func userFields(u *tidings.User) []any {
	return []any{&u.ID, &u.Locale, &u.Timezone, &u.Email, &u.Phone, object{&u.Attributes}, instant{&u.CreatedAt}, instant{&u.UpdatedAt}}
}

// addressFields takes id, user_id, channel, provider, value, status, reason, strikes, struck_at,
// registered_at, last_ok_at, retired_at.
func addressFields(a *tidings.Address) []any {
	return []any{into(&a.ID), &a.UserID, &a.Channel, &a.Provider, &a.Value, &a.Status, &a.Reason, &a.Strikes, instant{&a.StruckAt},
		instant{&a.RegisteredAt}, instant{&a.LastOKAt}, instant{&a.RetiredAt}}
}

// A notificationRow is a notification with its columns that are not ready for use.
type notificationRow struct {
	tidings.Notification
	data, decisions string
}

// fields takes id, app, test, type, user_id, category, catalog_version, dedupe_key,
// collapse_key, sensitive, data, decisions, accepted_at, expires_at, cancelled_at.
func (r *notificationRow) fields() []any {
	n := &r.Notification
	return []any{into(&n.ID), &n.App, truth{&n.Test}, &n.Type, &n.UserID, &n.Category, &n.CatalogVersion, &n.DedupeKey,
		&n.CollapseKey, truth{&n.Sensitive}, &r.data, &r.decisions, instant{&n.AcceptedAt}, instant{&n.ExpiresAt}, instant{&n.CancelledAt}}
}

// open makes the notification ready with its data, also when that is sensitive.
func (r *notificationRow) open(s *seal) (tidings.Notification, error) {
	data, err := s.open(r.ID, r.data)
	if err != nil {
		return tidings.Notification{}, fmt.Errorf("open data of %s: %w", r.ID, err)
	}
	r.Data = data
	return r.decided()
}

// show makes the notification ready for people's eyes: without data when that is sensitive.
func (r *notificationRow) show(s *seal) (tidings.Notification, error) {
	if r.Sensitive {
		return r.decided()
	}
	return r.open(s)
}

func (r *notificationRow) decided() (tidings.Notification, error) {
	if r.decisions == "" {
		return r.Notification, nil
	}
	if err := json.Unmarshal([]byte(r.decisions), &r.Decisions); err != nil {
		return tidings.Notification{}, fmt.Errorf("read decisions of %s: %w", r.ID, err)
	}
	return r.Notification, nil
}

// An object scans a JSON column into R; no text is the empty object.
type object struct{ R *json.RawMessage }

// Scan implements sql.Scanner.
func (o object) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("read JSON: %T", v)
	}
	if text == "" {
		text = "{}"
	}
	*o.R = json.RawMessage(text)
	return nil
}
