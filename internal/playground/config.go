// Package playground is the service against simulated providers: the configuration that joins
// them, and a story that shows what the service does.
//
// It promises that the story runs through the service's own API and real protocols only. It must
// never be needed by the service itself.
package playground

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tidings/channels/simulator"
	"tidings/deploy"
	"tidings/internal/app"
)

// Setup describes a configuration to write.
type Setup struct {
	File      string // where; data and catalogue lie beside it
	Listen    string
	PublicURL string // empty: where Listen is reached on this machine
	RetryBase string // a duration; empty: the service's default
	Providers []simulator.Provider
	Force     bool // overwrite
}

// usualFile is the name of a configuration whose credentials lie in a folder that is not named after it.
const usualFile = "tidings.yaml"

// Credentials is the folder for what the simulated providers of this configuration keep, beside it
// and for it alone: what they write there at each start names their ports.
func (s Setup) Credentials() (string, error) {
	name := "simulated"
	if file := filepath.Base(s.File); file != usualFile {
		name = file + "." + name
	}
	dir, err := filepath.Abs(filepath.Join(filepath.Dir(s.File), name))
	if err != nil {
		return "", fmt.Errorf("find the folder of the configuration: %w", err)
	}
	return dir, nil
}

// Check refuses what WriteConfig would refuse at last, before anything is started or written.
func (s Setup) Check() error {
	if s.Force {
		return nil
	}
	_, err := os.Lstat(s.File)
	switch {
	case err == nil:
		return s.exists()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("write configuration: %w", err)
}

func (s Setup) exists() error {
	return fmt.Errorf("%s exists already: use --force to overwrite it", s.File)
}

// WriteConfig writes a whole configuration for the simulated providers, with a copy of the
// sample catalogue beside it unless there is one.
func WriteConfig(s Setup) error {
	if err := s.Check(); err != nil {
		return err
	}
	dir := filepath.Dir(s.File)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the configuration: %w", err)
	}
	if err := copyCatalogue(filepath.Join(dir, "catalog")); err != nil {
		return fmt.Errorf("copy the sample catalogue: %w", err)
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !s.Force {
		mode |= os.O_EXCL
	}
	f, err := os.OpenFile(s.File, mode, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return s.exists()
	}
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	_, err = f.WriteString(s.text())
	return errors.Join(err, f.Close())
}

func copyCatalogue(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	return os.CopyFS(dir, deploy.Catalogue())
}

func (s Setup) text() string {
	var b strings.Builder
	public := s.PublicURL
	if public == "" && !strings.HasSuffix(s.Listen, ":0") {
		public = app.BaseURL(s.Listen)
	}
	fmt.Fprintf(&b, "# The service against simulated providers. Every path is relative to this file.\nlisten: %s\n", s.Listen)
	if public != "" {
		fmt.Fprintf(&b, "public_url: %s\n", public)
	}
	b.WriteString("data_dir: ./data\nsecret_file: ./data/secret\ncatalog: ./catalog\n")
	if s.RetryBase != "" {
		fmt.Fprintf(&b, "delivery: {retry_base: %s}\n", s.RetryBase)
	}
	b.WriteString("providers:\n")
	for _, p := range s.Providers {
		for i, l := range p.Lines {
			lead := "    "
			if i == 0 {
				lead = "  - "
			}
			fmt.Fprintf(&b, "%s%s: %q\n", lead, l.Key, s.relative(l.Value))
		}
	}
	b.WriteString("routes:\n")
	s.route(&b, "sms", "twilio", "aws_sms")
	s.route(&b, "email", "ses", "smtp")
	return b.String()
}

// route lists the providers of some types, in that order.
func (s Setup) route(b *strings.Builder, channel string, types ...string) {
	var names []string
	for _, typ := range types {
		for _, p := range s.Providers {
			if p.Type == typ {
				names = append(names, fmt.Sprintf("{name: %s}", p.Get("name")))
			}
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "  %s: [{countries: [\"*\"], providers: [%s]}]\n", channel, strings.Join(names, ", "))
	}
}

// relative shortens paths below the folder of the file, also of secrets that lie in a file.
func (s Setup) relative(value string) string {
	if path, ok := strings.CutPrefix(value, "file:"); ok {
		return "file:" + s.relative(path)
	}
	if !filepath.IsAbs(value) {
		return value
	}
	dir, err := filepath.Abs(filepath.Dir(s.File))
	if err != nil {
		return value
	}
	if rel, err := filepath.Rel(dir, value); err == nil && !strings.HasPrefix(rel, "..") {
		return "./" + filepath.ToSlash(rel)
	}
	return value
}
