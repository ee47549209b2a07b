package faults

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Canary is a text that must not appear where nobody needs it, such as a secret or an address
// that was used in the run.
type Canary struct {
	What string // such as "a phone number"
	Text string
}

// A Leak is a canary that was found, and where.
type Leak struct {
	What  string
	Where string
}

// FindLeaks looks for canaries in files and in all files of folders. What is not there leaks
// nothing: a lane may be gone before it is looked at.
func FindLeaks(canaries []Canary, paths ...string) ([]Leak, error) {
	var found []Leak
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return ignoreMissing(err)
			}
			text, err := os.ReadFile(file)
			found = append(found, leaksIn(canaries, text, file)...)
			return ignoreMissing(err)
		})
		if err != nil {
			return found, fmt.Errorf("look for leaks: %w", err)
		}
	}
	return found, nil
}

func leaksIn(canaries []Canary, text []byte, where string) (found []Leak) {
	for _, c := range canaries {
		if bytes.Contains(text, []byte(c.Text)) {
			found = append(found, Leak{What: c.What, Where: where})
		}
	}
	return found
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
