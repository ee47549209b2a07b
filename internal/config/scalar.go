package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// environment keeps the variables that can name a setting.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok && strings.HasPrefix(k, "TIDINGS_") {
			env[k] = v
		}
	}
	return env
}

// join is the environment's name of a member: upper case, joined by "_".
func join(prefix, name string) string {
	if prefix == "" {
		return ""
	}
	return prefix + "_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, prefix string) error {
	if text, ok := d.env[prefix]; ok {
		if err := d.set(v, text); err != nil {
			return fmt.Errorf("environment variable %s: %w", prefix, err)
		}
		return nil
	}
	if n == nil || n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return d.at(n, "want a single value")
	}
	if err := d.set(v, n.Value); err != nil {
		return d.at(n, err.Error())
	}
	return nil
}

func (d *decoder) set(v reflect.Value, text string) error {
	switch {
	case v.Type() == durationType:
		span, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 30s", text)
		}
		v.SetInt(int64(span))
	case v.Type() == secretType:
		secret, err := d.secret(text)
		if err != nil {
			return err
		}
		v.SetString(secret)
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(b)
	case v.CanInt():
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		v.SetInt(i)
	case v.CanFloat():
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		v.SetFloat(f)
	default:
		return errors.New("cannot be set here")
	}
	return nil
}

// secret resolves "file:PATH" and "env:NAME"; anything else is the secret itself.
func (d *decoder) secret(text string) (string, error) {
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		value, set := os.LookupEnv(name)
		if !set {
			return "", fmt.Errorf("environment variable %s is not set", name)
		}
		return value, nil
	}
	if name, ok := strings.CutPrefix(text, "file:"); ok {
		value, err := os.ReadFile(d.path(name))
		if err != nil {
			return "", fmt.Errorf("read secret: %w", err)
		}
		return strings.TrimRight(string(value), "\r\n"), nil
	}
	return text, nil
}
