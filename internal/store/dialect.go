package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A dialect is all that differs between the engines in how the same statements are run.
type dialect struct {
	// words stand in migrations and queries where the engines have no common text:
	// {{bytes}} the type of ids and hashes, {{table}} how a table clustered by its key is stored,
	// {{lock}} and {{skip}} how a SELECT locks its rows: SQLite has one writer and needs neither,
	// {{mutex}} the function that holds a number against other transactions: there it does nothing,
	// {{alone}} what keeps all who make users out until the transaction ends,
	// {{list}} the rows of the JSON list $1: many keys in one statement cost half of one each.
	words *strings.Replacer
	// pipeline says that statements of tx.each travel together: a round trip costs more than a row.
	pipeline bool
	// prepare says that the session keeps prepared statements; pgx keeps its own.
	prepare bool
	// oneWriter says that a write transaction excludes all others, so that rows need no locks.
	oneWriter bool
	// lockSchema makes concurrent starters wait for one another's migrations; SQLite's write
	// transaction does that already.
	lockSchema string
	// class sorts the errors of the driver.
	class func(error) errorClass
}

// An errorClass is what an error of the database means for the verb that met it.
type errorClass int

const (
	otherError   errorClass = iota // a mistake of ours
	retryError                     // another transaction was in the way: the whole verb may run again
	goneError                      // the connection is lost or the server shuts down
	storageError                   // the disk is full or failing
)

// words joins the words of a dialect with those that both engines share.
func words(differing ...string) *strings.Replacer {
	return strings.NewReplacer(append(differing, "{{notification}}", notificationColumns, "{{delivery}}", deliveryColumns, "{{dead}}", deadCondition, "{{turn}}", turnCondition, "{{any turn}}", anyTurnCondition, "{{broken}}", brokenCondition, "{{listed}}", listCondition, "{{lanes}}", lanes())...)
}

func sqliteDialect() *dialect {
	return &dialect{
		words: words("{{bytes}}", "BLOB", "{{table}}", " WITHOUT ROWID", "{{lock}}", "", "{{skip}}", "", "{{mutex}}", "ABS", "{{alone}}", "SELECT 1",
			"{{list}}", "SELECT value FROM json_each($1)"),
		prepare:   true,
		oneWriter: true,
		class:     sqliteClass,
	}
}

func postgresDialect() *dialect {
	return &dialect{
		words: words("{{bytes}}", "BYTEA", "{{table}}", " WITH (fillfactor = 80)",
			"{{lock}}", "FOR UPDATE", "{{skip}}", "FOR UPDATE SKIP LOCKED", "{{mutex}}", "pg_advisory_xact_lock",
			"{{alone}}", "LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE",
			"{{list}}", "SELECT json_array_elements_text($1::json)"),
		pipeline:   true,
		lockSchema: "SELECT pg_advisory_xact_lock(7308604759997671023)", // "tidings" in bytes
		class:      postgresClass,
	}
}

// sqliteClass sorts by the primary result code, https://sqlite.org/rescode.html.
func sqliteClass(err error) errorClass {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return otherError
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return retryError
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_NOMEM:
		return storageError
	}
	return otherError
}

// postgresClass sorts by SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html.
func postgresClass(err error) errorClass {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch {
		case e.Code == "40001", e.Code == "40P01": // serialization failure, deadlock
			return retryError
		case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"), e.Code == "25006": // connection, shutdown, read only
			return goneError
		case strings.HasPrefix(e.Code, "53"), strings.HasPrefix(e.Code, "58"): // resources, system
			return storageError
		}
		return otherError
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, pgconn.ErrConnClosed) ||
		pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &connect) || errors.As(err, &network) {
		return goneError
	}
	return otherError
}

// explain wraps the errors that mean "not now" in ErrUnavailable.
func (d *dialect) explain(err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) || d.class(err) == otherError {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
