package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"tidings"
	"tidings/deploy"
	"tidings/internal/config"
	"tidings/internal/setting"
	"tidings/internal/store"
	"tidings/templates"
)

// catalogues keeps the parsed versions of the catalogue: the current one, which other processes
// may change in the log, and those that notifications in flight are pinned to.
type catalogues struct {
	store    *store.Store
	defaults config.Defaults
	log      *slog.Logger
	stop     context.CancelFunc
	done     chan struct{}

	mu     sync.RWMutex
	newest int64                          // guarded by mu
	parsed map[int64]*templates.Catalogue // guarded by mu; at most keptVersions
}

const (
	refreshEvery = time.Second // how soon another process's new version counts
	keptVersions = 32
)

// openCatalogues publishes the configured folder unless its hash is stored, and takes up the
// newest version. Without a folder, an empty log gets the sample.
func openCatalogues(ctx context.Context, s *store.Store, cfg config.Config, log *slog.Logger) (*catalogues, error) {
	c := &catalogues{store: s, defaults: cfg.Defaults, log: log, done: make(chan struct{}), parsed: map[int64]*templates.Catalogue{}}
	if err := c.publishAtStart(ctx, cfg.Catalog); err != nil {
		return nil, fmt.Errorf("catalogue: %w", cfg.Locate(err))
	}
	if err := c.refresh(ctx); err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	go c.follow(ctx)
	return c, nil
}

func (c *catalogues) publishAtStart(ctx context.Context, dir string) error {
	folder := deploy.Catalogue()
	if dir != "" {
		folder = os.DirFS(dir)
	} else if _, err := c.store.Catalog(ctx, 0); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	files, err := templates.Load(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return setting.Wrong("catalog", "the folder %s holds no catalog.yaml: name that of a catalogue, or leave it out", dir)
	case err != nil:
		return setting.Wrong("catalog", "%s: %v", dir, err)
	}
	_, err = c.publishBy(ctx, files, c.store.PublishCatalogOnce)
	if wrong := (templates.Problems)(nil); errors.As(err, &wrong) {
		return setting.Wrong("catalog", "%s: %v", dir, err)
	}
	return err
}

// category finds a category of the current version.
func (c *catalogues) category(name string) (tidings.Category, bool) {
	now, _ := c.current()
	found, known := now.Categories[name]
	return found, known
}

// publish checks files and stores them as a new version unless they are the newest; its error is
// templates.Problems where they are wrong.
func (c *catalogues) publish(ctx context.Context, files map[string]string) (int64, error) {
	return c.publishBy(ctx, files, c.store.PublishCatalog)
}

// A publication stores checked files.
type publication func(ctx context.Context, hash string, files map[string]string, now time.Time) (version int64, published bool, err error)

func (c *catalogues) publishBy(ctx context.Context, files map[string]string, store publication) (int64, error) {
	parsed, err := templates.Parse(files)
	if err != nil {
		return 0, err
	}
	version, published, err := store(ctx, parsed.Hash, files, time.Now())
	if err != nil {
		return 0, err
	}
	if published {
		c.log.Info("catalogue published", "version", version, "hash", parsed.Hash)
	}
	return version, c.refresh(ctx)
}

// follow takes up what other processes publish, until ctx ends.
func (c *catalogues) follow(ctx context.Context) {
	defer close(c.done)
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := c.refresh(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("catalogue not refreshed", "error", err)
		}
	}
}

func (c *catalogues) refresh(ctx context.Context) error {
	versions, err := c.store.CatalogVersions(ctx)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return errors.New("the log holds none")
	}
	newest := versions[0].Version
	if _, err := c.load(ctx, newest); err != nil {
		return err
	}
	c.mu.Lock()
	c.newest = max(c.newest, newest)
	c.mu.Unlock()
	return nil
}

// current is the newest version.
func (c *catalogues) current() (*templates.Catalogue, int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.parsed[c.newest], c.newest
}

// version is a version that a notification is pinned to.
func (c *catalogues) version(n int64) (*templates.Catalogue, error) {
	return c.load(context.Background(), n)
}

func (c *catalogues) load(ctx context.Context, n int64) (*templates.Catalogue, error) {
	c.mu.RLock()
	have := c.parsed[n]
	c.mu.RUnlock()
	if have != nil {
		return have, nil
	}
	stored, err := c.store.Catalog(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("load catalogue version %d: %w", n, err)
	}
	parsed, err := templates.Parse(stored.Files)
	if err != nil {
		return nil, fmt.Errorf("parse catalogue version %d: %w", n, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for old := range c.parsed {
		if len(c.parsed) >= keptVersions && old != c.newest {
			delete(c.parsed, old)
		}
	}
	parsed = parsed.WithDefaults(c.defaults.Locale, c.defaults.Timezone)
	c.parsed[n] = parsed
	return parsed, nil
}

func (c *catalogues) close(context.Context) error {
	c.stop()
	<-c.done
	return nil
}
