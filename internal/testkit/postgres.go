package testkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgresVariable names the environment variable with the URL of a PostgreSQL server for tests.
const PostgresVariable = "TIDINGS_TEST_POSTGRES"

// server is the one PostgreSQL of this test process, started by the first test that asks.
var server = sync.OnceValues(findPostgres)

// Postgres is the URL of an empty schema on a real PostgreSQL server; the schema goes with the
// test. The server is the one that TIDINGS_TEST_POSTGRES names, else one of this process's own.
// Call it outside of a synctest bubble and use the URL inside.
func Postgres(t testing.TB) string {
	t.Helper()
	base, err := server()
	if err != nil {
		t.Fatalf("no PostgreSQL to test with: %v", err)
	}
	schema := "t_" + strings.ToLower(rand.Text()[:16])
	if err := postgresExec(base, "CREATE SCHEMA "+schema); err != nil {
		t.Fatalf("make a schema: %v", err)
	}
	t.Cleanup(func() {
		if err := postgresExec(base, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Errorf("drop the schema: %v", err)
		}
	})
	return withParameter(base, "search_path", schema)
}

func findPostgres() (string, error) {
	if base := os.Getenv(PostgresVariable); base != "" {
		if err := postgresExec(base, "SELECT 1"); err != nil {
			return "", fmt.Errorf("%s names a server that does not answer: %w", PostgresVariable, err)
		}
		return base, nil
	}
	bin := postgresBin()
	if bin == "" {
		return "", errors.New("install the postgresql package, or set " + PostgresVariable + " to postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	base, _, _, err := startPostgres(bin, postgresScript) // it ends with this process
	return base, err
}

func postgresExec(url, statement string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

func withParameter(base, name, value string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}
