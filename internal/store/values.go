package store

import (
	"fmt"
	"time"

	"tidings"
)

// micros is a time as stored: microseconds, or NULL for the zero time.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// flag is a truth value as stored.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// An instant scans a stored time into T; NULL is the zero time.
type instant struct{ T *time.Time }

// Scan implements sql.Scanner.
func (i instant) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*i.T = time.Time{}
	case int64:
		*i.T = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("read a time: %T", v)
	}
	return nil
}

// A truth scans a stored truth value into B.
type truth struct{ B *bool }

// Scan implements sql.Scanner.
func (t truth) Scan(v any) error {
	switch v := v.(type) {
	case int64:
		*t.B = v != 0
	case bool: // what PostgreSQL makes of EXISTS
		*t.B = v
	default:
		return fmt.Errorf("read a truth value: %T", v)
	}
	return nil
}

// An idOf scans a stored id into ID; NULL is the zero id.
type idOf[K tidings.Kind] struct{ ID *tidings.ID[K] }

// into makes the scanner of an id.
func into[K tidings.Kind](id *tidings.ID[K]) idOf[K] { return idOf[K]{id} }

// Scan implements sql.Scanner.
func (i idOf[K]) Scan(v any) error {
	*i.ID = tidings.ID[K]{}
	if v == nil {
		return nil
	}
	b, ok := v.([]byte)
	if !ok || len(b) != len(i.ID) {
		return fmt.Errorf("read an id: %T of another length", v)
	}
	copy(i.ID[:], b)
	return nil
}

// wholeNotification stands in the timeline for the ordinal of a delivery when none is meant.
const wholeNotification int64 = -1

// orNotFound is err, or ErrNotFound when a row was missing without error.
func orNotFound(err error) error {
	if err == nil {
		return ErrNotFound
	}
	return err
}
