package storetest

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers that the log uses too
	_ "modernc.org/sqlite"

	"tidings/internal/store"
)

// Damage makes what users want unreadable, beside a log that is open: whoever claims for one of
// them fails, and so does the transaction.
func Damage(t testing.TB, settings store.Settings, users ...string) {
	t.Helper()
	var texts []string
	for _, user := range users {
		texts = append(texts, "INSERT INTO preferences (user_id, doc, version, updated_at) VALUES ('"+user+"', '{', 1, 0) ON CONFLICT (user_id) DO UPDATE SET doc = excluded.doc")
	}
	beside(t, settings, texts...)
}

// beside runs statements in one transaction on the database of a log that is open.
func beside(t testing.TB, settings store.Settings, texts ...string) {
	t.Helper()
	db := open(t, settings)
	defer func() { _ = db.Close() }()
	// One that can end would let virtual time go on in the middle, with the file locked.
	ctx := context.WithoutCancel(t.Context())
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, text := range texts {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			t.Fatalf("write beside the log: %v: %s", err, text)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// open opens the database of a log once more.
func open(t testing.TB, settings store.Settings) *sql.DB {
	t.Helper()
	driver, source := "pgx", settings.URL
	if settings.URL == "" {
		driver, source = "sqlite", "file:"+settings.Dir+"/tidings.db?_pragma=busy_timeout(5000)&_txlock=immediate"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
