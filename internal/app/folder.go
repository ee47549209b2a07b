package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tidings/internal/config"
)

const (
	// patience is how long a start waits for a process that is just ending to leave the folder.
	patience = time.Second
	// knock is how often it looks.
	knock = 50 * time.Millisecond
)

// errInUse is the answer of lockFile where another process holds the lock.
var errInUse = errors.New("in use")

// takeFolder makes data_dir this process's own until release, so that two services never write
// the same SQLite file or the same JetStream files. It returns no release where nothing of that
// kind lies there. A process that dies leaves the folder free.
func takeFolder(ctx context.Context, cfg config.Config) (release func(context.Context) error, err error) {
	if cfg.DatabaseURL != "" && cfg.NATSURL != "" {
		return nil, nil
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make data_dir: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(cfg.DataDir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data_dir: %w", err)
	}
	if err := awaitLock(ctx, f); err != nil {
		_ = f.Close()
		if errors.Is(err, errInUse) {
			return nil, fmt.Errorf("data_dir %s is in use by another tidings process: stop that one, or give this one a data_dir of its own", cfg.DataDir)
		}
		return nil, fmt.Errorf("lock data_dir: %w", err)
	}
	return func(context.Context) error { return f.Close() }, nil // which unlocks it
}

// awaitLock locks the file as soon as nobody else does, within patience.
func awaitLock(ctx context.Context, f *os.File) error {
	ticker := time.NewTicker(knock)
	defer ticker.Stop()
	for tries := patience / knock; ; tries-- {
		err := lockFile(f)
		if !errors.Is(err, errInUse) || tries <= 0 {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
