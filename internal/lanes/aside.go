package lanes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// asideMark stands in the name of a folder of files that could not be used, before the time.
const asideMark = ".damaged-"

var errNoFolder = errors.New("there is no folder of files to set aside")

// withoutFiles is for files that keep the broker from running: it sets them aside, tries again
// without any, and lets go of what was set aside before. Nothing is lost by it, since the log
// knows what the lanes held. If that does not help either, as on a full disk, they come back.
func (e *server) withoutFiles(why error, again func() error) error {
	dir := e.options.StoreDir
	e.stop()
	aside, err := setAside(dir, time.Now())
	if err != nil {
		return errors.Join(why, err)
	}
	if again() != nil {
		e.stop()
		return errors.Join(why, os.RemoveAll(dir), os.Rename(aside, dir))
	}
	e.log.Error("the broker's files cannot be used: the lanes begin empty and are filled from the log", "error", why, "kept_in", aside)
	return dropAside(dir, aside)
}

// setAside moves the folder to a name of its own beside it.
func setAside(dir string, now time.Time) (aside string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", errNoFolder
	}
	aside = dir + asideMark + now.UTC().Format("20060102T150405.000Z")
	if err := os.Rename(dir, aside); err != nil {
		return "", fmt.Errorf("set the broker's files aside: %w", err)
	}
	return aside, nil
}

// dropAside deletes what was set aside before, all but the last: one is enough to look into.
func dropAside(dir, last string) error {
	all, err := filepath.Glob(dir + asideMark + "*")
	if err != nil {
		return fmt.Errorf("look for what was set aside: %w", err)
	}
	for _, old := range all {
		if old == last {
			continue
		}
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("delete what was set aside: %w", err)
		}
	}
	return nil
}
