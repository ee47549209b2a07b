package api

import (
	"fmt"
	"net/http"

	"tidings"
	"tidings/api/problem"
	"tidings/api/wire"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
)

func (s *service) putUser(c *call) (*answer, error) {
	var in wire.UserChange
	if err := c.read(&in); err != nil {
		return nil, err
	}
	id, err := c.newUserID()
	if err != nil {
		return nil, err
	}
	u, err := s.Store.PutUser(c.Context(), store.UserChange{
		ID: id, Locale: plain(in.Locale), Timezone: plain(in.Timezone), Email: plain(in.Email), Phone: plain(in.Phone), Attributes: in.Attributes,
		By: preferences.Origin{Source: preferences.SourceAPI, App: c.caller.App},
	}, c.now)
	if err != nil {
		return nil, err
	}
	return ok(user(u)), nil
}

func (s *service) getUser(c *call) (*answer, error) {
	id, err := c.userID()
	if err != nil {
		return nil, err
	}
	u, err := s.Store.User(c.Context(), id)
	if err != nil {
		return nil, err
	}
	return ok(user(u)), nil
}

func (s *service) eraseUser(c *call) (*answer, error) {
	id, err := c.userID()
	if err != nil {
		return nil, err
	}
	if err := s.Store.EraseUser(c.Context(), id, c.now); err != nil {
		return nil, err
	}
	return noContent(), nil
}

func (s *service) exportUser(c *call) (*answer, error) {
	id, err := c.userID()
	if err != nil {
		return nil, err
	}
	e, err := s.Store.ExportUser(c.Context(), id)
	if err != nil {
		return nil, err
	}
	ids := make([]tidings.NotificationID, len(e.Notifications))
	for i := range e.Notifications {
		ids[i] = e.Notifications[i].ID
	}
	stand, err := s.Store.Standings(c.Context(), ids, c.now)
	if err != nil {
		return nil, err
	}
	return ok(export(e, stand, c.now)), nil
}

// userID is the user in the path of a call that needs one that exists.
func (c *call) userID() (string, error) {
	id := c.PathValue("user_id")
	if !wire.IsName(id) {
		return "", problem.New(problem.NotFound, "there is no such user")
	}
	return id, c.onlyQuery()
}

// newUserID is the user in the path of a call that makes one that is missing.
func (c *call) newUserID() (string, error) {
	id := c.PathValue("user_id")
	if !wire.IsName(id) {
		return "", invalid("/user_id", "in the path must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : @ -")
	}
	return id, nil
}

func user(u tidings.User) wire.User {
	return wire.User{
		ID: u.ID, CreatedAt: wire.At(u.CreatedAt), UpdatedAt: wire.At(u.UpdatedAt),
		UserFields: wire.UserFields{
			Locale: present[wire.Locale](u.Locale), Timezone: present[wire.Zone](u.Timezone),
			Email: present[wire.Email](u.Email), Phone: present[wire.Phone](u.Phone), Attributes: u.Attributes,
		},
	}
}

// present is a field that is absent when empty.
func present[T ~string](s string) *T {
	if s == "" {
		return nil
	}
	t := T(s)
	return &t
}

// plain is a field that is empty when absent.
func plain[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

func (s *service) registerAddress(c *call) (*answer, error) {
	var in wire.NewAddress
	if err := c.read(&in); err != nil {
		return nil, err
	}
	id, err := c.newUserID()
	if err != nil {
		return nil, err
	}
	a := tidings.Address{UserID: id, Channel: in.Channel}
	switch in.Channel {
	case tidings.Email:
		a.Value = string(in.Email)
	case tidings.SMS:
		a.Value = string(in.Phone)
	default:
		if a.Provider, a.Value, err = s.token(&in); err != nil {
			return nil, err
		}
	}
	a, created, err := s.Store.RegisterAddress(c.Context(), a, c.now)
	if err != nil {
		return nil, err
	}
	if created {
		return &answer{status: http.StatusCreated, body: address(a)}, nil
	}
	return ok(address(a)), nil
}

func (s *service) listAddresses(c *call) (*answer, error) {
	id, err := c.userID()
	if err != nil {
		return nil, err
	}
	before, limit, err := pageOf(c.URL.Query(), tidings.ParseAddressID)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.Addresses(c.Context(), id, before, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := cut(found, limit, func(a *tidings.Address) fmt.Stringer { return a.ID })
	page := wire.Addresses{Data: []wire.Address{}, NextCursor: next}
	for _, a := range found {
		page.Data = append(page.Data, address(a))
	}
	return ok(page), nil
}

func (s *service) retireAddress(c *call) (*answer, error) {
	user, err := c.userID()
	if err != nil {
		return nil, err
	}
	id, err := tidings.ParseAddressID(c.PathValue("address_id"))
	if err != nil {
		return nil, problem.New(problem.NotFound, "there is no such address")
	}
	if err := s.Store.RetireAddress(c.Context(), user, id, c.now); err != nil {
		return nil, err
	}
	return noContent(), nil
}

func address(a tidings.Address) wire.Address {
	return wire.Address{
		ID: a.ID, Channel: a.Channel, Provider: a.Provider, Value: observe.Masked(a.Channel, a.Value), Status: a.Status, Reason: a.Reason,
		RegisteredAt: wire.At(a.RegisteredAt), LastOKAt: wire.At(a.LastOKAt), RetiredAt: wire.At(a.RetiredAt),
	}
}
