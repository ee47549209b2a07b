package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Picture copies the files of a folder as they are at this moment to another, which is made. A file
// that goes away meanwhile is left out: the broker, which is not held up, may still be at work.
func Picture(from, to string) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		body, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), body, 0o600)
	})
	if err != nil {
		return fmt.Errorf("take a picture of %s: %w", from, err)
	}
	return nil
}
