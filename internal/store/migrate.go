package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration is one step of the schema; steps only go forward.
type migration struct {
	version    int64
	statements []string
}

// loadMigrations reads migrations/NNNN_name.sql, which must be numbered from 1 without gaps.
func loadMigrations(files fs.FS, d *dialect) ([]migration, error) {
	paths, err := fs.Glob(files, "migrations/*.sql") // sorted, hence by number
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	var steps []migration
	for i, p := range paths {
		number, _, _ := strings.Cut(path.Base(p), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i)+1 {
			return nil, fmt.Errorf("migration %s does not have number %04d", p, i+1)
		}
		text, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		steps = append(steps, migration{version, statements(d.words.Replace(string(text)))})
	}
	return steps, nil
}

// statements splits a script at the semicolons that end a line.
func statements(script string) []string {
	var out []string
	for s := range strings.SplitSeq(script, ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// migrate takes the steps that the database lacks, inside an open transaction. A database that
// is ahead of this binary is refused.
func migrate(ctx context.Context, s *session, steps []migration, now time.Time) error {
	if s.dialect.lockSchema != "" {
		if _, err := s.conn.ExecContext(ctx, s.dialect.lockSchema); err != nil {
			return fmt.Errorf("wait for other starters: %w", err)
		}
	}
	const table = "CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)"
	if _, err := s.conn.ExecContext(ctx, table); err != nil {
		return fmt.Errorf("make schema_versions: %w", err)
	}
	var have int64
	if err := s.conn.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_versions").Scan(&have); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if have > int64(len(steps)) {
		return fmt.Errorf("the database has schema version %d, this binary knows %d: run a newer tidings", have, len(steps))
	}
	for _, step := range steps[have:] {
		for _, text := range step.statements {
			if _, err := s.conn.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("migrate to %d: %w", step.version, err)
			}
		}
		if _, err := s.conn.ExecContext(ctx, "INSERT INTO schema_versions (version, applied_at) VALUES ($1, $2)", step.version, now.UnixMicro()); err != nil {
			return fmt.Errorf("note schema version %d: %w", step.version, err)
		}
	}
	return nil
}

// SchemaVersion is the version that Open brings the schema of a log up to.
func SchemaVersion() int {
	steps, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic("list migrations: " + err.Error()) // the pattern is a constant
	}
	return len(steps)
}
