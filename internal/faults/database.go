package faults

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Connector is a seam around the database.
func (l *Life) Connector(inner driver.Connector) driver.Connector { return &connector{inner, l} }

type connector struct {
	driver.Connector
	life *Life
}

// Connect opens a connection that dies with the process.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.life.gone() {
		return nil, errGone
	}
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if pg, ok := inner.(*stdlib.Conn); ok {
		made := &serverConn{inner: pg, wire: pg.Conn().PgConn().Conn()}
		made.line = line{life: c.life, sever: func() { _ = made.wire.Close() }}
		c.life.holds(made.wire)
		return made, nil
	}
	return &fileConn{Conn: inner, line: &line{life: c.life, files: true}}, nil
}

// A fileConn is a connection to SQLite.
type fileConn struct {
	driver.Conn
	*line
}

// PrepareContext prepares a statement that goes through the seam each time it is run.
func (c *fileConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	preparer, ok := c.Conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("%T cannot prepare", c.Conn)
	}
	s, err := through(c.line, Call{}, func() (driver.Stmt, error) { return preparer.PrepareContext(ctx, query) })
	if err != nil {
		return nil, err
	}
	return &statement{s, c.line, query}, nil
}

// ExecContext runs a statement.
func (c *fileConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return s.(*statement).ExecContext(ctx, args)
}

type statement struct {
	driver.Stmt
	line  *line
	query string
}

// ExecContext runs the statement.
func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	inner, ok := s.Stmt.(driver.StmtExecContext)
	if !ok {
		return nil, fmt.Errorf("%T cannot be run", s.Stmt)
	}
	return through(s.line, s.line.read(s.query), func() (driver.Result, error) { return inner.ExecContext(ctx, args) })
}

// QueryContext runs the statement.
func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	inner, ok := s.Stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, fmt.Errorf("%T cannot be run", s.Stmt)
	}
	return through(s.line, s.line.read(s.query), func() (driver.Rows, error) { return inner.QueryContext(ctx, args) })
}

// inner has another name than the method that it has.
type inner = stdlib.Conn

// A serverConn is a connection to PostgreSQL.
type serverConn struct {
	*inner
	line
	wire interface{ Close() error }
}

// Conn gives the connection for a batch, whose statements cannot be told apart here. What is to
// happen before it happens to the connection.
func (c *serverConn) Conn() *pgx.Conn {
	c.adds("batch")
	_, err := through(&c.line, Call{Seam: Database, What: "batch", Inside: true}, func() (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		_ = c.wire.Close()
	}
	return c.inner.Conn()
}

// ExecContext runs a statement.
func (c *serverConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return through(&c.line, c.read(query), func() (driver.Result, error) { return c.inner.ExecContext(ctx, query, args) })
}

// QueryContext runs a statement.
func (c *serverConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return through(&c.line, c.read(query), func() (driver.Rows, error) { return c.inner.QueryContext(ctx, query, args) })
}

// Close closes the connection; after the death there is nobody to say goodbye to.
func (c *serverConn) Close() error {
	c.life.forgets(c.wire)
	return c.inner.Close()
}
