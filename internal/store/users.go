package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tidings"
	"tidings/preferences"
)

// User finds a user.
func (s *Store) User(ctx context.Context, id string) (tidings.User, error) {
	var u tidings.User
	err := s.read(ctx, func(t *tx) (err error) {
		u, err = t.user(id)
		return err
	})
	if err != nil {
		return tidings.User{}, fmt.Errorf("find user: %w", err)
	}
	return u, nil
}

// PutUser makes or replaces a user; e-mail and phone become addresses, and those that went away are retired.
func (s *Store) PutUser(ctx context.Context, c UserChange, now time.Time) (tidings.User, error) {
	var u tidings.User
	err := s.write(ctx, Normal, func(t *tx) error {
		before, made, err := t.holdUser(c.ID, now)
		if err != nil {
			return err
		}
		u = tidings.User{ID: c.ID, Locale: c.Locale, Timezone: c.Timezone, Email: c.Email, Phone: c.Phone,
			Attributes: c.Attributes, CreatedAt: before.CreatedAt, UpdatedAt: micro(now)}
		if len(u.Attributes) == 0 {
			u.Attributes = json.RawMessage("{}")
		}
		if err := t.putUser(u); err != nil {
			return err
		}
		if lines := c.By.Moved(&before, &u, now); len(lines) > 0 && !made {
			if err := t.turn([]turn{{u.ID, lines, now}}); err != nil {
				return err
			}
		}
		if moved(&before, &u) {
			if err := t.wakeQuiet(u.ID, now); err != nil {
				return err
			}
		}
		if err := s.follow(t, u.ID, tidings.Email, before.Email, u.Email, now); err != nil {
			return err
		}
		return s.follow(t, u.ID, tidings.SMS, before.Phone, u.Phone, now)
	})
	if err != nil {
		return tidings.User{}, fmt.Errorf("put user: %w", err)
	}
	return u, nil
}

// follow makes an address follow a field of its user: the old value is retired, the new one registered.
func (s *Store) follow(t *tx, user string, c tidings.Channel, old, value string, now time.Time) error {
	if old == value {
		return nil
	}
	if old != "" && tidings.Canonical(c, old) != tidings.Canonical(c, value) {
		var a tidings.Address
		found, err := t.one("address_of_value", []any{user, c, "", s.seal.hash(c, old)}, addressFields(&a)...)
		if err != nil {
			return err
		}
		if found {
			if err := t.retire(a, now); err != nil {
				return err
			}
		}
	}
	if value == "" {
		return nil
	}
	_, err := s.register(t, tidings.Address{UserID: user, Channel: c, Value: value}, now)
	return err
}

func (t *tx) user(id string) (tidings.User, error) {
	var u tidings.User
	found, err := t.one("user", []any{id}, userFields(&u)...)
	if err == nil && !found {
		err = ErrNotFound
	}
	return u, err
}

// lockUser keeps other changes of a user out until the transaction ends.
func (t *tx) lockUser(id string) (tidings.User, error) {
	var u tidings.User
	found, err := t.one("user_lock", []any{id}, userFields(&u)...)
	if err == nil && !found {
		err = ErrNotFound
	}
	return u, err
}

// holdUser makes a user who is unknown, and locks them; made tells which. One who is erased in
// between is made anew.
func (t *tx) holdUser(id string, now time.Time) (u tidings.User, made bool, err error) {
	for {
		n, err := t.exec("user_make", id, now.UnixMicro())
		if err != nil {
			return tidings.User{}, false, err
		}
		u, err := t.lockUser(id)
		if !errors.Is(err, ErrNotFound) {
			return u, n > 0, err
		}
	}
}

// A turn is a user whose clock or language was changed, which are shown beside their preferences.
type turn struct {
	user  string
	lines []preferences.Entry
	at    time.Time
}

// turn gives the preferences of users the next version, and tells the ledger why.
func (t *tx) turn(list []turn) error {
	err := t.each("preferences_turn", len(list), func(i int) []any { return []any{list[i].user, list[i].at.UnixMicro()} }, nil)
	if err != nil {
		return err
	}
	var all []line
	for _, u := range list {
		for _, e := range u.lines {
			all = append(all, line{u.user, e})
		}
	}
	return t.addLines(all)
}

func (t *tx) putUser(u tidings.User) error {
	_, err := t.exec("user_set", u.ID, u.Locale, u.Timezone, u.Email, u.Phone, string(u.Attributes), u.UpdatedAt.UnixMicro())
	return err
}

// micro is an instant as it will be read back.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }
