package simulator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Entry is one accepted send, as far as the protocol shows it.
type Entry struct {
	At         time.Time         `json:"at"`
	Provider   string            `json:"provider"` // the vendor type
	Address    string            `json:"address"`
	Ref        string            `json:"ref"`         // what the service answered
	DeliveryID string            `json:"delivery_id"` // "dlv_…"
	Attempt    int               `json:"attempt"`
	Title      string            `json:"title"`
	Text       string            `json:"text"`
	Headers    map[string]string `json:"headers"`
	Raw        string            `json:"raw,omitzero"` // a mail as it came over the wire
}

// A ledger writes entries as lines. Each is one call of Write, so that a file shared with a
// reader never shows half a line.
type ledger struct {
	mu sync.Mutex
	to io.Writer // guarded by mu; nil: nothing is kept
}

func (l *ledger) write(e Entry) error {
	if l.to == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.to.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

// ReadLedger reads entries until the end; an unfinished last line is left out.
func ReadLedger(r io.Reader) ([]Entry, error) {
	var entries []Entry
	d := jsontext.NewDecoder(r)
	for {
		var e Entry
		err := json.UnmarshalDecode(d, &e)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return entries, nil
		}
		if err != nil {
			return entries, fmt.Errorf("read ledger: %w", err)
		}
		entries = append(entries, e)
	}
}

// A Tape is a ledger in memory. The zero Tape is empty.
type Tape struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

// Write appends a line.
func (t *Tape) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(line)
}

// Entries is everything written so far.
func (t *Tape) Entries() ([]Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return ReadLedger(bytes.NewReader(t.buf.Bytes()))
}
