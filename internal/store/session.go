package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A session is one connection that knows the named statements.
type session struct {
	conn    *sql.Conn
	queries queries
	dialect *dialect
	stmts   map[string]*sql.Stmt // by name; only where the dialect prepares
}

func newSession(conn *sql.Conn, q queries, d *dialect) *session {
	return &session{conn: conn, queries: q, dialect: d, stmts: map[string]*sql.Stmt{}}
}

func (s *session) close() error {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	return s.conn.Close()
}

// control runs a statement that is not a named one, such as COMMIT.
func (s *session) control(ctx context.Context, text string) error {
	if !s.dialect.prepare {
		_, err := s.conn.ExecContext(ctx, text)
		return err
	}
	st, err := s.prepared(ctx, text, text)
	if err != nil {
		return err
	}
	_, err = st.ExecContext(ctx)
	return err
}

func (s *session) prepared(ctx context.Context, name, text string) (*sql.Stmt, error) {
	if st := s.stmts[name]; st != nil {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", name, err)
	}
	s.stmts[name] = st
	return st, nil
}

// A tx is an open transaction, as verbs see it. Its four primitives run named statements; the
// context is the transaction's own, not the caller's.
type tx struct {
	*session
	ctx  context.Context
	ends []end // that the verb brought
}

// unharmed runs a verb and turns its panic into its error.
func unharmed(t *tx, fn func(t *tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v", p)
		}
	}()
	return fn(t)
}

// A row is one row of a result.
type row interface{ Scan(dest ...any) error }

// exec runs a statement and says how many rows it changed.
func (t *tx) exec(name string, args ...any) (int64, error) {
	text, err := t.text(name)
	if err != nil {
		return 0, err
	}
	var res sql.Result
	if t.dialect.prepare {
		st, err := t.prepared(t.ctx, name, text)
		if err != nil {
			return 0, err
		}
		res, err = st.ExecContext(t.ctx, args...)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	} else if res, err = t.conn.ExecContext(t.ctx, text, args...); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return res.RowsAffected()
}

// one scans the first row of a statement; found is false when there is none.
func (t *tx) one(name string, args []any, dest ...any) (found bool, err error) {
	err = t.query(name, args, func(r row) error {
		if found {
			return nil
		}
		found = true
		return r.Scan(dest...)
	})
	return found, err
}

// query calls scan for every row of a statement.
func (t *tx) query(name string, args []any, scan func(r row) error) error {
	text, err := t.text(name)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	if t.dialect.prepare {
		st, err := t.prepared(t.ctx, name, text)
		if err != nil {
			return err
		}
		rows, err = st.QueryContext(t.ctx, args...)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	} else if rows, err = t.conn.QueryContext(t.ctx, text, args...); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// each runs a statement for n sets of arguments, in order: SQLite one after the other, PostgreSQL
// in one round trip. scan, when given, is called for every row of every run. It is the one way
// to touch many rows by key, so that no statement needs a second text for many rows.
func (t *tx) each(name string, n int, args func(i int) []any, scan func(i int, r row) error) error {
	if n > 1 && t.dialect.pipeline {
		return t.pipelined(name, n, args, scan)
	}
	for i := range n {
		var err error
		if scan == nil {
			_, err = t.exec(name, args(i)...)
		} else {
			err = t.query(name, args(i), func(r row) error { return scan(i, r) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) pipelined(name string, n int, args func(i int) []any, scan func(i int, r row) error) error {
	text, err := t.text(name)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i := range n {
		batch.Queue(text, args(i)...)
	}
	err = t.conn.Raw(func(dc any) error {
		c, ok := dc.(interface{ Conn() *pgx.Conn })
		if !ok {
			return errors.New("the connection hides its *pgx.Conn")
		}
		return readBatch(c.Conn().SendBatch(t.ctx, batch), n, scan)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func readBatch(results pgx.BatchResults, n int, scan func(i int, r row) error) (err error) {
	defer func() {
		if e := results.Close(); err == nil {
			err = e
		}
	}()
	for i := range n {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		for rows.Next() {
			if scan == nil {
				continue
			}
			if err := scan(i, rows); err != nil {
				rows.Close()
				return err
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) text(name string) (string, error) {
	text := t.queries[name]
	if text == "" {
		return "", fmt.Errorf("no statement is named %q", name)
	}
	return text, nil
}

// lock locks rows, in the order of the arguments, before their facts are read in a second
// statement: a statement that waits for a lock sees the rest as it was before it waited.
// SQLite's one writer has locked everything already.
func (t *tx) lock(name string, n int, args func(i int) []any) error {
	if t.dialect.oneWriter {
		return nil
	}
	return t.each(name, n, args, nil)
}
