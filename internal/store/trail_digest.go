package store

import "tidings"

// digests tells what the notification is a digest of, and how the one stands that it is a part of.
func (l *Trail) digests(t *tx, id tidings.NotificationID) error {
	err := t.query("digest_parts", []any{id[:]}, func(r row) error {
		var part tidings.NotificationID
		err := r.Scan(into(&part))
		l.Parts = append(l.Parts, part)
		return err
	})
	if err != nil {
		return err
	}
	l.Notification.Parts = len(l.Parts)
	found, err := t.one("digest_of", []any{id[:]}, into(&l.Digest))
	if err != nil || !found {
		return err
	}
	err = t.query("standing_deliveries", []any{l.Digest[:]}, func(r row) error {
		var d tidings.Delivery
		err := r.Scan(&d.Status, instant{&d.DueAt}, &d.Tries)
		l.Told = append(l.Told, d)
		return err
	})
	if err != nil {
		return err
	}
	var waiting int
	_, err = t.one("standing_holds", []any{l.Digest[:]}, &waiting)
	l.Held = waiting > 0
	return err
}
