package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// syntaxError is how yaml reports what it cannot parse.
var syntaxError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// parse reads the one document of a file; of an empty file it is empty. A second one is refused: whoever
// wrote it thinks that it counts.
func parse(file string, text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	if err := d.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable(file, err)
	}
	switch err := d.Decode(&more); {
	case err == nil:
		return nil, fmt.Errorf("%s:%d: a second document stands here, and only one is read: put all settings into one", file, more.Line)
	case !errors.Is(err, io.EOF):
		return nil, unreadable(file, err)
	}
	return &document, nil
}

// unreadable says where a file is no YAML.
func unreadable(file string, err error) error {
	if m := syntaxError.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s:%s: this is no YAML: %s", file, m[1], m[2])
	}
	return fmt.Errorf("%s: this is no YAML: %w", file, err)
}
