package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"tidings/internal/store"
)

// A Cell is one value of a row as it lies in the database.
type Cell struct {
	Table, Column string
	Value         []byte
}

// Dump reads every column of every row of every table, whatever tables there are, beside a log
// that is open. On SQLite it empties the WAL into the file first.
func Dump(t testing.TB, settings store.Settings) (cells []Cell) {
	t.Helper()
	db := open(t, settings)
	defer func() { _ = db.Close() }()
	tables := "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY table_name"
	if settings.URL == "" {
		tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
		emptyWAL(t, db)
	}
	for _, table := range column(t, db, tables) {
		cells = append(cells, dumpTable(t, db, string(table.Value))...)
	}
	return cells
}

// emptyWAL moves all that was committed into the file, and cuts the WAL to nothing. A context that
// can end would have it run in a goroutine of its own, and virtual time go on with the file locked.
func emptyWAL(t testing.TB, db *sql.DB) {
	t.Helper()
	var busy, pages, moved int
	if err := db.QueryRowContext(context.WithoutCancel(t.Context()), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil || busy != 0 {
		t.Fatalf("empty the WAL: %v, busy %d", err, busy)
	}
}

func dumpTable(t testing.TB, db *sql.DB, table string) []Cell {
	t.Helper()
	cells := column(t, db, fmt.Sprintf("SELECT * FROM %q", table))
	for i := range cells {
		cells[i].Table = table
	}
	return cells
}

// column is every value that a statement gives.
func column(t testing.TB, db *sql.DB, text string) (cells []Cell) {
	t.Helper()
	rows, err := db.QueryContext(context.WithoutCancel(t.Context()), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	row := make([]sql.RawBytes, len(names))
	dest := make([]any, len(names))
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		for i, value := range row {
			cells = append(cells, Cell{Column: names[i], Value: append([]byte(nil), value...)})
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return cells
}
