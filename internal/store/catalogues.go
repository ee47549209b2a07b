package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// PublishCatalog stores files as a new version, unless the newest has their hash: then that
// version is given. Files of an older version become a new one, so that they count again.
func (s *Store) PublishCatalog(ctx context.Context, hash string, files map[string]string, now time.Time) (version int64, published bool, err error) {
	return s.publishCatalog(ctx, "catalogue_newest_of_hash", hash, files, now)
}

// PublishCatalogOnce stores files as a new version, unless any version has their hash: then the
// newest of those is given.
func (s *Store) PublishCatalogOnce(ctx context.Context, hash string, files map[string]string, now time.Time) (version int64, published bool, err error) {
	return s.publishCatalog(ctx, "catalogue_of_hash", hash, files, now)
}

// catalogueMutex is the number that publishers hold against each other: "catalog" in bytes.
const catalogueMutex = int64(0x636174616c6f67)

func (s *Store) publishCatalog(ctx context.Context, same, hash string, files map[string]string, now time.Time) (version int64, published bool, err error) {
	doc, err := json.Marshal(files)
	if err != nil {
		return 0, false, fmt.Errorf("publish catalogue: %w", err)
	}
	err = s.write(ctx, Normal, func(t *tx) error {
		if _, err := t.exec("catalogue_mutex", catalogueMutex); err != nil {
			return err
		}
		found, err := t.one(same, []any{hash}, &version)
		if published = !found; err != nil || found {
			return err
		}
		_, err = t.one("catalogue_add", []any{hash, string(doc), now.UnixMicro()}, &version)
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("publish catalogue: %w", err)
	}
	return version, published, nil
}

// Catalog is a stored version of the catalogue; 0: the newest. None is ErrNotFound.
func (s *Store) Catalog(ctx context.Context, version int64) (Catalog, error) {
	var c Catalog
	var doc string
	err := s.read(ctx, func(t *tx) error {
		name, args := "catalogue", []any{version}
		if version == 0 {
			name, args = "catalogue_newest", nil
		}
		found, err := t.one(name, args, &c.Version, &c.Hash, &doc, instant{&c.CreatedAt})
		if err == nil && !found {
			err = ErrNotFound
		}
		return err
	})
	if err == nil {
		err = json.Unmarshal([]byte(doc), &c.Files)
	}
	if err != nil {
		return Catalog{}, fmt.Errorf("read catalogue: %w", err)
	}
	return c, nil
}

// CatalogVersions lists versions and hashes, newest first, without files.
func (s *Store) CatalogVersions(ctx context.Context) ([]Catalog, error) {
	var list []Catalog
	err := s.read(ctx, func(t *tx) error {
		list = nil
		return t.query("catalogue_versions", nil, func(r row) error {
			var c Catalog
			err := r.Scan(&c.Version, &c.Hash, instant{&c.CreatedAt})
			list = append(list, c)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list catalogues: %w", err)
	}
	return list, nil
}
