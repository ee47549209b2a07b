package store_test

import (
	"crypto/sha256"
	"sync"
	"testing"
	"time"

	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func key(id string) store.Key {
	return store.Key{ID: id, App: "shop", Hash: sha256.Sum256([]byte("secret")), Scopes: []string{"send", "read"}, Test: true, CreatedAt: noon().Truncate(time.Microsecond)}
}

func TestAKeyOfAnotherProcessIsSeenAtOnce(t *testing.T) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			where := settings(t)
			one, other := storetest.Open(t, where), storetest.Open(t, where)
			fatal(t, one.CreateKey(t.Context(), key("tid_test_1")))
			got, err := other.Key(t.Context(), "tid_test_1")
			fatal(t, err)
			want(t, "key", got, key("tid_test_1"))

			fatal(t, one.RevokeKey(t.Context(), "tid_test_1", noon().Add(time.Hour)))
			fatal(t, one.RevokeKey(t.Context(), "tid_test_1", noon().Add(2*time.Hour)))
			got, err = other.Key(t.Context(), "tid_test_1")
			fatal(t, err)
			if !got.RevokedAt.Equal(noon().Add(time.Hour).Truncate(time.Microsecond)) {
				t.Errorf("revoked at %v, want the first instant", got.RevokedAt)
			}
		})
	}
}

func TestKeysAreListedOldestFirstRevokedOnesToo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		old, young := key("tid_test_2"), key("tid_test_1")
		young.CreatedAt = young.CreatedAt.Add(time.Hour)
		fatal(t, s.CreateKey(t.Context(), young))
		fatal(t, s.CreateKey(t.Context(), old))
		fatal(t, s.RevokeKey(t.Context(), old.ID, noon()))
		list, err := s.Keys(t.Context())
		fatal(t, err)
		if len(list) != 2 || list[0].ID != old.ID || list[0].RevokedAt.IsZero() || list[1].ID != young.ID {
			t.Errorf("keys = %+v", list)
		}
	})
}

func TestAnUnknownKeyIsNotFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.Key(t.Context(), "tid_live_1")
		wantError(t, err, store.ErrNotFound)
		wantError(t, s.RevokeKey(t.Context(), "tid_live_1", noon()), store.ErrNotFound)
	})
}

func TestTheSameCatalogueIsPublishedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.Catalog(t.Context(), 0)
		wantError(t, err, store.ErrNotFound)
		for _, step := range []struct {
			hash      string
			version   int64
			published bool
		}{{"h1", 1, true}, {"h2", 2, true}, {"h1", 1, false}} {
			version, published, err := s.PublishCatalogOnce(t.Context(), step.hash, map[string]string{"catalog.yaml": step.hash}, noon())
			fatal(t, err)
			if version != step.version || published != step.published {
				t.Errorf("%s became version %d, published %t", step.hash, version, published)
			}
		}
		newest, err := s.Catalog(t.Context(), 0)
		fatal(t, err)
		first, err := s.Catalog(t.Context(), 1)
		fatal(t, err)
		if newest.Version != 2 || first.Files["catalog.yaml"] != "h1" || first.CreatedAt.IsZero() {
			t.Errorf("newest %+v, first %+v", newest, first)
		}
		list, err := s.CatalogVersions(t.Context())
		fatal(t, err)
		if len(list) != 2 || list[0].Version != 2 || list[0].Files != nil {
			t.Errorf("versions = %+v", list)
		}
	})
}

func TestFilesOfAnOlderCatalogueCountAgainAsANewVersion(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, step := range []struct {
			hash      string
			version   int64
			published bool
		}{{"h1", 1, true}, {"h2", 2, true}, {"h2", 2, false}, {"h1", 3, true}, {"h1", 3, false}} {
			version, published, err := s.PublishCatalog(t.Context(), step.hash, map[string]string{"catalog.yaml": step.hash}, noon())
			fatal(t, err)
			if version != step.version || published != step.published {
				t.Errorf("%s became version %d, published %t", step.hash, version, published)
			}
		}
		newest, err := s.Catalog(t.Context(), 0)
		fatal(t, err)
		if newest.Version != 3 || newest.Hash != "h1" {
			t.Errorf("the newest is %+v", newest)
		}
	})
}

func TestParallelPublishersDrawNumbersWithoutGaps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				hash := string(rune('a' + i%10))
				if _, _, err := s.PublishCatalogOnce(t.Context(), hash, map[string]string{"catalog.yaml": hash}, noon()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		list, err := s.CatalogVersions(t.Context())
		fatal(t, err)
		if len(list) != 10 || list[0].Version != 10 {
			t.Errorf("%d versions, the newest %d; want 10 and 10", len(list), list[0].Version)
		}
	})
}
