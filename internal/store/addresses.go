package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"tidings"
)

// Addresses lists a user's addresses, newest first and retired ones too, from before an address on;
// zero: from the newest. An unknown user is ErrNotFound.
func (s *Store) Addresses(ctx context.Context, user string, before tidings.AddressID, limit int) ([]tidings.Address, error) {
	var list []tidings.Address
	err := s.read(ctx, func(t *tx) (err error) {
		if _, err = t.user(user); err != nil {
			return err
		}
		from := before[:]
		if before.IsZero() {
			from = []byte(beforeAll)
		}
		list, err = t.addresses("addresses_page", user, from, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	return list, nil
}

// addresses are the rows of a statement that reads addresses.
func (t *tx) addresses(name string, args ...any) ([]tidings.Address, error) {
	var list []tidings.Address
	err := t.query(name, args, func(r row) error {
		var a tidings.Address
		if err := r.Scan(addressFields(&a)...); err != nil {
			return err
		}
		list = append(list, a)
		return nil
	})
	return list, err
}

// RegisterAddress adds an address to its user (making an unknown user), or refreshes it, in its new
// spelling; a push token held by
// another user moves: there it stays as a retired address with the reason address_moved.
// created is false when the user had it already.
func (s *Store) RegisterAddress(ctx context.Context, a tidings.Address, now time.Time) (out tidings.Address, created bool, err error) {
	err = s.write(ctx, Normal, func(t *tx) error {
		_, _, err := t.holdUser(a.UserID, now)
		if err != nil {
			return err
		}
		if created, err = s.register(t, a, now); err != nil {
			return err
		}
		_, err = t.one("address_of_value", []any{a.UserID, a.Channel, a.Provider, s.seal.hash(a.Channel, a.Value)}, addressFields(&out)...)
		return err
	})
	if err != nil {
		return tidings.Address{}, false, fmt.Errorf("register address: %w", err)
	}
	return out, created, nil
}

// register adds or refreshes an address, and takes a push token from whoever has it.
func (s *Store) register(t *tx, a tidings.Address, now time.Time) (created bool, err error) {
	hash := s.seal.hash(a.Channel, a.Value)
	if a.Channel == tidings.Push {
		if err := t.take(a, hash, now); err != nil {
			return false, err
		}
	}
	if a.ID.IsZero() {
		a.ID = tidings.NewAddressID(now)
	}
	n, err := t.exec("address_register", a.ID[:], a.UserID, a.Channel, a.Provider, a.Value, hash, now.UnixMicro())
	if err != nil || n == 1 {
		return n == 1, err
	}
	_, err = t.exec("address_refresh", a.UserID, a.Channel, a.Provider, hash, now.UnixMicro(), a.Value)
	return false, err
}

// take retires a push token with every other user.
func (t *tx) take(a tidings.Address, hash []byte, now time.Time) error {
	if _, err := t.exec("address_mutex", int64(binary.BigEndian.Uint64(hash)>>1)); err != nil {
		return err
	}
	var lost []tidings.Address
	err := t.query("address_take", []any{a.Provider, a.Value, a.UserID, now.UnixMicro()}, func(r row) error {
		var a tidings.Address
		err := r.Scan(into(&a.ID), &a.UserID)
		lost = append(lost, a)
		return err
	})
	if err != nil {
		return err
	}
	return t.each("address_moments", len(lost), func(i int) []any {
		return moment(lost[i], "address_moved", "another user registered the device", now)
	}, nil)
}

// RetireAddress takes an address of a user out of use. When it is the user's own e-mail or phone,
// the user has none afterwards.
func (s *Store) RetireAddress(ctx context.Context, user string, id tidings.AddressID, now time.Time) error {
	err := s.write(ctx, Normal, func(t *tx) error {
		u, err := t.lockUser(user)
		if err != nil {
			return err
		}
		var a tidings.Address
		found, err := t.one("address_of_user", []any{id[:], user}, addressFields(&a)...)
		switch {
		case err != nil:
			return err
		case !found:
			return ErrNotFound
		}
		if err := t.forgetContact(u, a, now); err != nil {
			return err
		}
		return t.retire(a, now)
	})
	if err != nil {
		return fmt.Errorf("retire address: %w", err)
	}
	return nil
}

// retire ends an address and tells the notifications that are on their way to it.
func (t *tx) retire(a tidings.Address, now time.Time) error {
	n, err := t.exec("address_retire", a.ID[:], now.UnixMicro())
	if err != nil || n == 0 {
		return err
	}
	_, err = t.exec("address_moments", moment(a, "address_retired", "the address was taken out of use", now)...)
	return err
}

func (t *tx) forgetContact(u tidings.User, a tidings.Address, now time.Time) error {
	switch {
	case a.Channel == tidings.Email && tidings.Canonical(a.Channel, a.Value) == tidings.Canonical(a.Channel, u.Email):
		u.Email = ""
	case a.Channel == tidings.SMS && a.Value == u.Phone:
		u.Phone = ""
	default:
		return nil
	}
	u.UpdatedAt = now
	return t.putUser(u)
}

// moment is the arguments of address_moments.
func moment(a tidings.Address, kind, text string, now time.Time) []any {
	return []any{now.UnixMicro(), kind, text, a.UserID, a.ID[:]}
}
