package faults

import (
	"regexp"
	"slices"
	"strings"
)

// A line is one connection to a database as the seam sees it: which statements went over it since
// its transaction began. It is used by one goroutine at a time, as connections are.
type line struct {
	life   *Life
	files  bool     // the database is files of this process
	sever  func()   // cuts the connection; nil: there is none to cut
	wrote  []string // the writes of the open transaction
	within bool     // a transaction is open
}

// read tells what a statement is for the seam; nothing where it only ends a transaction or a part of it.
func (l *line) read(query string) Call {
	word, _, _ := strings.Cut(strings.ToUpper(query), " ")
	switch word {
	case "BEGIN":
		l.within, l.wrote = true, nil
		return Call{Seam: Database, What: "begin", Quiet: true}
	case "ROLLBACK", "SAVEPOINT", "RELEASE":
		l.within = l.within && strings.Contains(query, " ")
		return Call{}
	case "COMMIT":
		l.within = false
		if len(l.wrote) == 0 {
			return Call{}
		}
		return Call{Seam: Database, What: committing + strings.Join(l.wrote, ", ")}
	}
	what := writing(query)
	if what == "" {
		return Call{Seam: Database, What: "read", Inside: l.within, Quiet: true}
	}
	l.adds(what)
	return Call{Seam: Database, What: what, Inside: l.within}
}

// committing is how the names of commits begin; what they commit follows.
const committing = "commit: "

func (l *line) adds(what string) {
	if !slices.Contains(l.wrote, what) {
		l.wrote = append(l.wrote, what)
	}
}

// writes finds what a statement does to which table, and the status it gives where there is one.
var (
	writes = regexp.MustCompile(`\b(INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|CREATE INDEX|ALTER TABLE) +([a-z_]+)`)
	status = regexp.MustCompile(`SET status = '([a-z]+)'`)
)

// writing names a statement that writes, such as "update deliveries sending"; else it is empty.
func writing(query string) string {
	m := writes.FindStringSubmatch(query)
	if m == nil {
		return ""
	}
	verb, _, _ := strings.Cut(strings.ToLower(m[1]), " ")
	what := verb + " " + m[2]
	if s := status.FindStringSubmatch(query); s != nil {
		what += " " + s[1]
	}
	return what
}

// through lets a statement pass, unless its fate is another.
func through[T any](l *line, c Call, do func() (T, error)) (T, error) {
	var none T
	if l.life.gone() {
		return none, errGone
	}
	var fate Fate
	if c.What != "" {
		fate = l.life.judge(c)
	}
	switch fate.Deed {
	case DieBefore:
		l.life.Die()
	case Late:
		l.life.wait(fate.For)
	case FailBefore:
		if fate.Err != nil {
			return none, fate.Err
		}
		l.cut()
	}
	result, err := alive(l, do)
	if err != nil {
		return none, err
	}
	switch fate.Deed {
	case DieAfter:
		l.life.Die()
		return none, errGone
	case FailAfter:
		l.cut()
		return none, fate.or(errCut)
	}
	return result, nil
}

func (l *line) cut() {
	if l.sever != nil {
		l.sever()
	}
}

// alive runs what only a living process can. On files, a death waits until it is done.
func alive[T any](l *line, do func() (T, error)) (T, error) {
	var none T
	if l.files {
		l.life.files.RLock()
		defer l.life.files.RUnlock()
	}
	if l.life.gone() {
		return none, errGone
	}
	return do()
}
