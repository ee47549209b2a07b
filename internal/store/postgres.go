package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	postgresConns = 16
	// verbTimeout bounds one transaction, since the caller's context does not.
	verbTimeout = 30 * time.Second
	// verbRuns is how often a verb is run when other transactions are in its way.
	verbRuns = 8
)

// postgresEngine is a pool of connections to one database.
type postgresEngine struct {
	db      *sql.DB
	queries queries
	dialect *dialect
}

func openPostgres(ctx context.Context, url string, wrap Wrap) (*postgresEngine, error) {
	d := postgresDialect()
	q, err := loadQueries(queryFiles, d)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the URL of the database cannot be read") // its error may quote the password
	}
	config.RuntimeParams["application_name"] = "tidings"
	config.RuntimeParams["synchronous_commit"] = "on"
	config.RuntimeParams["default_transaction_isolation"] = "read committed"
	e := &postgresEngine{db: sql.OpenDB(wrap(stdlib.GetConnector(*config))), queries: q, dialect: d}
	e.db.SetMaxOpenConns(postgresConns)
	e.db.SetMaxIdleConns(postgresConns)
	if err := e.migrate(ctx); err != nil {
		_ = e.db.Close()
		return nil, unreachable(config, err)
	}
	return e, nil
}

// unreachable says in one line why no connection stands, and what to check; other errors stay as they
// are. The driver tells of each way that it tried on a line of its own, mostly the same.
func unreachable(config *pgx.ConnConfig, err error) error {
	var refused *pgconn.ConnectError
	if !errors.As(err, &refused) {
		return err
	}
	var causes []string
	for line := range strings.Lines(errors.Unwrap(refused).Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(causes, line) {
			causes = append(causes, line)
		}
	}
	return fmt.Errorf("PostgreSQL at %s:%d gives no connection: check database_url, and that the server runs and lets user %s into database %s: %s",
		config.Host, config.Port, config.User, config.Database, strings.Join(causes, "; "))
}

func (e *postgresEngine) migrate(ctx context.Context) error {
	steps, err := loadMigrations(migrationFiles, e.dialect)
	if err != nil {
		return err
	}
	return e.write(ctx, Urgent, func(t *tx) error { return migrate(t.ctx, t.session, steps, time.Now()) })
}

// write runs the whole verb again when it lost a deadlock or a race, and when its connection was
// gone before the commit was sent.
func (e *postgresEngine) write(ctx context.Context, _ Class, fn func(t *tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verbTimeout)
	defer cancel()
	for run := 1; ; run++ {
		err := e.once(ctx, fn)
		class := e.dialect.class(err)
		again := class == retryError || class == goneError && !errors.Is(err, errCommitUnknown)
		if err == nil || !again || run == verbRuns || ctx.Err() != nil {
			return e.dialect.explain(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(run) * int64(5*time.Millisecond))))
	}
}

func (e *postgresEngine) once(ctx context.Context, fn func(t *tx) error) (err error) {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close() }()
	s := newSession(conn, e.queries, e.dialect)
	if err := s.control(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committing := false
	defer func() {
		if !committing {
			_ = s.control(ctx, "ROLLBACK") // a connection that fails here is thrown away by the pool
		}
	}()
	if err := unharmed(&tx{session: s, ctx: ctx}, fn); err != nil {
		return err
	}
	committing = true
	if err := s.control(ctx, "COMMIT"); err != nil {
		if c := e.dialect.class(err); c == retryError || c == storageError {
			return fmt.Errorf("commit: %w", err)
		}
		return fmt.Errorf("%w: %w", errCommitUnknown, err)
	}
	return nil
}

func (e *postgresEngine) read(ctx context.Context, fn func(t *tx) error) error {
	err := e.readOnce(ctx, fn)
	if e.dialect.class(err) == goneError && ctx.Err() == nil {
		err = e.readOnce(ctx, fn) // an idle connection may have died with its server
	}
	return e.dialect.explain(err)
}

func (e *postgresEngine) readOnce(ctx context.Context, fn func(t *tx) error) error {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close() }()
	s := newSession(conn, e.queries, e.dialect)
	if err := s.control(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = s.control(context.WithoutCancel(ctx), "ROLLBACK") }()
	return fn(&tx{session: s, ctx: ctx})
}

func (e *postgresEngine) skew(ctx context.Context) (time.Duration, error) {
	const clock = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
	var theirs int64
	before := time.Now()
	if err := e.db.QueryRowContext(ctx, clock).Scan(&theirs); err != nil {
		return 0, e.dialect.explain(err)
	}
	middle := before.Add(time.Since(before) / 2)
	return middle.Sub(time.UnixMicro(theirs)), nil
}

func (e *postgresEngine) close() error { return e.db.Close() }
