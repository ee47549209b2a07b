package store

import (
	"context"
	"time"

	"tidings"
	"tidings/preferences"
)

// User finds a user.
func (s *Store) User(ctx context.Context, id string) (tidings.User, error) { panic("not built") }

// PutUser makes or replaces a user; e-mail and phone become addresses, and those that went away are retired.
func (s *Store) PutUser(ctx context.Context, u UserChange, now time.Time) (tidings.User, error) {
	panic("not built")
}

// EraseUser deletes the person: user, addresses, preferences, the data of their notifications.
// Suppression hashes stay. Live deliveries and holds end cancelled with reason erased.
func (s *Store) EraseUser(ctx context.Context, id string, now time.Time) error { panic("not built") }

// ExportUser is everything held about a person.
func (s *Store) ExportUser(ctx context.Context, id string) (*UserExport, error) { panic("not built") }

// Addresses lists a user's addresses, oldest first, retired ones too. An unknown user is ErrNotFound.
func (s *Store) Addresses(ctx context.Context, user string) ([]tidings.Address, error) {
	panic("not built")
}

// RegisterAddress adds an address to its user (making an unknown user), or refreshes it; a push token held by
// another user moves. created is false when the user had it already.
func (s *Store) RegisterAddress(ctx context.Context, a tidings.Address, now time.Time) (out tidings.Address, created bool, err error) {
	panic("not built")
}

// RetireAddress takes an address of a user out of use.
func (s *Store) RetireAddress(ctx context.Context, user string, id tidings.AddressID, now time.Time) error {
	panic("not built")
}

// Preferences are a user's, with the user's locale and time zone beside them. An unknown user is ErrNotFound.
func (s *Store) Preferences(ctx context.Context, user string) (preferences.Preferences, tidings.User, error) {
	panic("not built")
}

// ChangePreferences runs change on the current preferences and user inside the transaction and
// stores what it gives with the next version; only Locale and Timezone of the user are taken.
// An unknown user is made. expected is the version the caller saw, -1: any; another is ErrConflict. An
// error of change is returned as it is and nothing is stored.
func (s *Store) ChangePreferences(ctx context.Context, user string, expected int64, now time.Time,
	change func(p *preferences.Preferences, u *tidings.User) error) (preferences.Preferences, tidings.User, error) {
	panic("not built")
}

// Suppress stops an address value for good, with the reason; Unsuppress lifts it.
func (s *Store) Suppress(ctx context.Context, channel tidings.Channel, value string, reason tidings.Reason, source string, now time.Time) error {
	panic("not built")
}

// Unsuppress lifts a suppression; none is no error.
func (s *Store) Unsuppress(ctx context.Context, channel tidings.Channel, value string) error {
	panic("not built")
}

// CreateKey stores a key, making its app.
func (s *Store) CreateKey(ctx context.Context, k Key) error { panic("not built") }

// Keys lists all keys, revoked ones too.
func (s *Store) Keys(ctx context.Context) ([]Key, error) { panic("not built") }

// RevokeKey ends a key.
func (s *Store) RevokeKey(ctx context.Context, id string, now time.Time) error { panic("not built") }

// PublishCatalog stores files as a new version, unless the hash is stored already: then that version is given.
func (s *Store) PublishCatalog(ctx context.Context, hash string, files map[string]string, now time.Time) (version int64, published bool, err error) {
	panic("not built")
}

// Catalog is a stored version of the catalogue; 0: the newest. None is ErrNotFound.
func (s *Store) Catalog(ctx context.Context, version int64) (Catalog, error) { panic("not built") }

// CatalogVersions lists versions and hashes, newest first, without files.
func (s *Store) CatalogVersions(ctx context.Context) ([]Catalog, error) { panic("not built") }
