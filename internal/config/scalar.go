package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, at place) error {
	if text, ok := d.variable(at); ok {
		if err := errors.Join(d.set(v, text), bounded(v, at.tag)); err != nil {
			return fmt.Errorf("%s: %w", d.called(at.env), err)
		}
		return nil
	}
	if n == nil || n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return d.wrong(n, at, "want a single value")
	}
	if err := d.set(v, n.Value); err != nil {
		return d.wrong(n, at, err.Error())
	}
	if err := bounded(v, at.tag); err != nil {
		return d.wrong(n, at, err.Error())
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
	case v.Kind() == reflect.String:
		text, err := d.text(text)
		if err != nil {
			return err
		}
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
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%q is not a number", text)
		}
		v.SetFloat(f)
	default:
		return errors.New("cannot be set here")
	}
	return nil
}

// text resolves "file:PATH" and "env:NAME"; anything else stands for itself.
func (d *decoder) text(text string) (string, error) {
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		value, set := os.LookupEnv(name)
		if !set {
			return "", fmt.Errorf("environment variable %s is not set", name)
		}
		d.used[name] = true
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

// bounded checks a value against the tags of its field: above, least and most.
func bounded(v reflect.Value, tag reflect.StructTag) error {
	for _, rule := range []struct {
		name, want string
		broken     func(value, bound float64) bool
	}{
		{"above", "must be above", func(value, bound float64) bool { return value <= bound }},
		{"least", "must be at least", func(value, bound float64) bool { return value < bound }},
		{"most", "must be at most", func(value, bound float64) bool { return value > bound }},
	} {
		text, ok := tag.Lookup(rule.name)
		if !ok {
			continue
		}
		bound, err := number(text)
		if err != nil {
			return err
		}
		if rule.broken(valueOf(v), bound) {
			return fmt.Errorf("%s %s", rule.want, text)
		}
	}
	return nil
}

// number reads a bound: a duration or a plain number.
func number(text string) (float64, error) {
	if span, err := time.ParseDuration(text); err == nil {
		return float64(span), nil
	}
	return strconv.ParseFloat(text, 64)
}

// valueOf is a number of any kind.
func valueOf(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}
