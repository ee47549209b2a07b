package storetest

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
)

// A Backlog is many deliveries that wait in the log, each of a notification of its own. All are
// for one user with one address.
type Backlog struct {
	Lane    tidings.Lane
	App     string
	Event   string // type of the event
	To      string // value of the address; empty: one that nobody sends to
	Of      string // provider of the address
	N       int
	Due     time.Time     // of the first
	Step    time.Duration // from one to the next
	Fresh   time.Time     // until when they are fresh work; zero: always
	Expires time.Time
	Tries   int // that each has behind it
}

// Put writes the backlog by one statement for each table, beside a log that is open.
func (b Backlog) Put(t testing.TB, settings store.Settings) {
	t.Helper()
	id := "decode(%s, 'hex')"
	if settings.URL == "" {
		id = "unhex(%s)"
	}
	beside(t, settings, b.statements(id, settings.URL != "")...)
}

// PutSent writes what is no backlog any more: each delivery was sent at the first attempt.
func (b Backlog) PutSent(t testing.TB, settings store.Settings) {
	t.Helper()
	b.Put(t, settings)
	at := b.Due.UnixMicro()
	beside(t, settings,
		fmt.Sprintf("UPDATE deliveries SET status = 'sent', due_at = NULL, claim_no = 1, tries = 1, finished_at = %d", at),
		fmt.Sprintf(`INSERT INTO attempts (ntf, n, claim_no, late, provider, started_at, ended_at, outcome, http_status, code, text, ref)
			SELECT ntf, n, 1, 0, 'apns', %d, %d, 'ok', 200, '', '', '' FROM deliveries`, at, at))
}

// statements fill the tables. Ids are time-ordered as all are: the instant, what is the app's
// own, a number, and room for the ordinals of deliveries.
func (b Backlog) statements(id string, postgres bool) []string {
	hex := "printf('%08x', i)"
	if postgres {
		hex = "lpad(to_hex(i), 8, '0')"
	}
	sum := crc32.ChecksumIEEE([]byte(b.App))
	own := fmt.Sprintf("7%03x8%03x", sum&0xfff, sum>>12&0xfff)
	ntf := fmt.Sprintf(id, fmt.Sprintf("'%012x%s' || %s || '0000'", b.Due.UnixMilli(), own, hex))
	address := fmt.Sprintf(id, fmt.Sprintf("'%012x%s000000000000'", b.Due.UnixMilli(), own))
	fresh := "NULL"
	if !b.Fresh.IsZero() {
		fresh = fmt.Sprint(b.Fresh.UnixMicro())
	}
	numbers := fmt.Sprintf("WITH RECURSIVE g(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM g WHERE i < %d) ", b.N-1)
	due := b.Due.UnixMicro()
	to := b.To
	if to == "" {
		to = fmt.Sprintf("%s-%x", b.App, b.Due.UnixMilli())
	}
	fill := strings.NewReplacer("{ntf}", ntf, "{address}", address, "{fresh}", fresh, "{app}", "'"+b.App+"'", "{user}", "'u_"+b.App+"'", "{type}", "'"+b.Event+"'", "{value}", "'"+to+"'", "{provider}", "'"+b.Of+"'",
		"{lane}", "'"+string(b.Lane)+"'", "{channel}", "'"+string(b.Lane.Channel())+"'", "{due}", fmt.Sprint(due), "{step}", fmt.Sprint(b.Step.Microseconds()), "{tries}", fmt.Sprint(b.Tries),
		"{expires}", fmt.Sprint(b.Expires.UnixMicro()))
	return []string{
		fill.Replace(`INSERT INTO users (id, locale, timezone, email, phone, attributes, created_at, updated_at)
			VALUES ({user}, '', '', '', '', '', {due}, {due}) ON CONFLICT (id) DO NOTHING`),
		fill.Replace(`INSERT INTO addresses (id, user_id, channel, provider, value, hash, status, reason, strikes, registered_at)
			VALUES ({address}, {user}, {channel}, {provider}, {value}, {address}, 'active', '', 0, {due}) ON CONFLICT (id) DO NOTHING`),
		fill.Replace(numbers + `INSERT INTO notifications (id, app, test, type, user_id, category, catalog_version, dedupe_key, collapse_key, sensitive, data,
				decisions, accepted_at, expires_at)
			SELECT {ntf}, {app}, 0, {type}, {user}, 'orders', 1, '', '', 0, '{"order":"4711","carrier":"UPS","headline":"Less"}', '[]', {due}, {expires} FROM g`),
		fill.Replace(numbers + `INSERT INTO deliveries (ntf, n, lane, address_id, status, reason, due_at, claim_no, tries, tried, queued_at, expires_at, app, fresh_until)
			SELECT {ntf}, 0, {lane}, {address}, 'parked', '', {due} + CAST(i AS BIGINT) * {step}, {tries}, {tries}, '', {due}, {expires}, {app}, {fresh} FROM g`),
	}
}
