package templates

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Bounds of a catalogue.
const (
	maxFile  = 256 << 10 // bytes of one file
	maxTotal = 8 << 20   // bytes of all files
	maxFiles = 4000
)

// Load reads the files of a catalogue from a folder: catalog.yaml and what is below
// templates/. Hidden files and whatever else lies at the top are left alone. It reads no more
// than a catalogue may have.
func Load(folder fs.FS) (map[string]string, error) {
	files, total := map[string]string{}, 0
	add := func(name string) error {
		content, err := readBounded(folder, name)
		if err != nil {
			return err
		}
		files[name] = content
		if total += len(content); total > maxTotal || len(files) > maxFiles {
			return fmt.Errorf("a catalogue has at most %d files and %d bytes", maxFiles, maxTotal)
		}
		return nil
	}
	if err := add(catalogFile); err != nil {
		return nil, fmt.Errorf("load catalogue: %w", err)
	}
	err := fs.WalkDir(folder, templatesFolder, func(name string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(path.Base(name), ".")
		switch {
		case err != nil && name == templatesFolder:
			return fs.SkipAll // a catalogue without templates is for Parse to judge
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		}
		return add(name)
	})
	if err != nil {
		return nil, fmt.Errorf("load catalogue: %w", err)
	}
	return files, nil
}

func readBounded(folder fs.FS, name string) (string, error) {
	f, err := folder.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(content) > maxFile {
		return "", fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	return string(content), nil
}
