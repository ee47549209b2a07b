package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// ServerErrors are what PostgreSQL answers when another transaction is in the way, when it is full
// and when it shuts down, https://www.postgresql.org/docs/current/errcodes-appendix.html.
func ServerErrors() (all []error) {
	for _, code := range []string{"40001", "40P01", "53100", "53300", "57P01"} {
		all = append(all, &pgconn.PgError{Severity: "ERROR", Code: code, Message: "made up"})
	}
	return all
}

// FileErrors are what SQLite answers when another process is in the way, when the disk is full and
// when it may not be written to. Its driver makes no such errors by hand, so they are provoked in a
// file of that folder.
func FileErrors(dir string) (all []error, err error) {
	ctx := context.Background()
	db, err := sql.Open("sqlite", filepath.Join(dir, "provoked.db"))
	if err != nil {
		return nil, fmt.Errorf("provoke errors of SQLite: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	one, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("provoke errors of SQLite: %w", err)
	}
	two, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("provoke errors of SQLite: %w", err)
	}
	for _, step := range []struct {
		on    *sql.Conn
		query string
		fails bool
	}{
		{one, "CREATE TABLE a (b)", false},
		{one, "PRAGMA max_page_count = 2", false},
		{one, "CREATE TABLE c (d)", true}, // full
		{one, "BEGIN IMMEDIATE", false},
		{two, "BEGIN IMMEDIATE", true}, // busy
		{two, "PRAGMA query_only = 1", false},
		{two, "INSERT INTO a VALUES (1)", true}, // read only
	} {
		_, err := step.on.ExecContext(ctx, step.query)
		if known := (*sqlite.Error)(nil); errors.As(err, &known) != step.fails {
			return nil, fmt.Errorf("provoke errors of SQLite: %s: %w", step.query, err)
		}
		if step.fails {
			all = append(all, err)
		}
	}
	return all, errors.Join(one.Close(), two.Close())
}
