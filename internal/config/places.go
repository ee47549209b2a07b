package config

import (
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tidings/internal/setting"
)

// places tell where a setting stands, by its path.
type places map[string]string

// located says where the setting stands that an error is about: its own line, or that of what holds it.
func (p places) located(err error) error {
	var wrong *setting.Error
	if !errors.As(err, &wrong) {
		return err
	}
	for path := wrong.Path; path != ""; path = parent(path) {
		if where, ok := p[path]; ok {
			return &locatedError{where, err}
		}
	}
	return err
}

type locatedError struct {
	where string
	err   error
}

func (e *locatedError) Error() string { return e.where + ": " + e.err.Error() }
func (e *locatedError) Unwrap() error { return e.err }

// parent is the path of what holds a setting.
func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// Locate says where the setting stands that an error of package setting is about, which shows only when
// something is made of it. Other errors stay as they are.
func (c *Config) Locate(err error) error { return c.where.located(err) }

// LocateProvider says where the setting stands for which a provider cannot be built: the one that names
// the file that cannot be read, else the provider.
func (c *Config) LocateProvider(p *Provider, err error) error {
	var wrong *setting.Error
	if errors.As(err, &wrong) {
		return c.Locate(err)
	}
	path := "providers." + p.Name
	var file *fs.PathError
	if errors.As(err, &file) {
		if name := p.naming(file.Path); name != "" {
			path += "." + name
		}
	}
	return c.Locate(setting.Wrong(path, "%v", err))
}

// naming is the setting of a provider's vendor that names a file; empty: none does.
func (p *Provider) naming(file string) string {
	fields := map[string]field{}
	if v := reflect.ValueOf(p.Config); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		collect(v.Elem(), fields)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if isPath(name) && fields[name].String() == file {
			return name
		}
	}
	return ""
}
