package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// keyWidth is how many digits the number in a request has, so that each request has a key of
// its own and the same length.
const keyWidth = 12

// keyMark stands in a request where its number goes.
const keyMark = "KKKKKKKKKKKK"

// A load is a set of connections that send requests one after another for a while. It is much
// leaner than net/http's client, for it shares the processor with what it measures.
type load struct {
	address  string
	conns    int
	requests []request // sent in turn
	expect   int       // the status that each answer must have
	next     *counter  // numbers the keys
	limit    *counter  // below zero while items are left to send; nil: no limit
}

// A request is the bytes of one HTTP request and where the numbers go.
type request struct {
	text  []byte
	marks []int
	items int // what it counts for
}

func newRequest(path, key, body string, items int) request {
	text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, key, len(body), body)
	r := request{text: []byte(text), items: items}
	for from := 0; ; {
		at := strings.Index(text[from:], keyMark)
		if at < 0 {
			return r
		}
		r.marks = append(r.marks, from+at)
		from += at + keyWidth
	}
}

// A counter hands out numbers. It is safe for concurrent use.
type counter struct {
	mu sync.Mutex
	n  int // guarded by mu
}

func (c *counter) take(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
	return c.n - n
}

// A tally is what a load came to.
type tally struct {
	items int
	took  []time.Duration // of each request
}

// run sends requests until the span is over or ctx ends. A wrong answer is an error.
func (l *load) run(ctx context.Context, span time.Duration) (tally, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	tallies := make([]tally, l.conns)
	errs := make([]error, l.conns)
	var conns sync.WaitGroup
	for c := range l.conns {
		conns.Go(func() { tallies[c], errs[c] = l.connection(ctx, c) })
	}
	conns.Wait()
	var sum tally
	for c := range l.conns {
		if errs[c] != nil {
			return tally{}, errs[c]
		}
		sum.items += tallies[c].items
		sum.took = append(sum.took, tallies[c].took...)
	}
	return sum, nil
}

func (l *load) connection(ctx context.Context, c int) (t tally, err error) {
	conn, err := net.Dial("tcp", l.address)
	if err != nil {
		return t, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close() }()
	answers := bufio.NewReader(conn)
	var buffer []byte
	for n := c; ctx.Err() == nil; n++ {
		r := &l.requests[n%len(l.requests)]
		if l.limit != nil && l.limit.take(r.items) >= 0 {
			return t, nil
		}
		buffer = append(buffer[:0], r.text...)
		first := l.next.take(len(r.marks))
		for i, at := range r.marks {
			number(buffer[at:at+keyWidth], first+i)
		}
		began := time.Now()
		if _, err := conn.Write(buffer); err != nil {
			return t, fmt.Errorf("send a request: %w", err)
		}
		if err := readAnswer(answers, l.expect); err != nil {
			return t, err
		}
		t.took = append(t.took, time.Since(began))
		t.items += r.items
	}
	return t, nil
}

// number writes n with leading zeros.
func number(into []byte, n int) {
	for i := len(into) - 1; i >= 0; i-- {
		into[i] = byte('0' + n%10)
		n /= 10
	}
}

// readAnswer reads one answer of HTTP/1.1 with a length or in chunks, and drops its body.
func readAnswer(r *bufio.Reader, expect int) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read an answer: %w", err)
	}
	status := 0
	if len(line) > 12 {
		status, _ = strconv.Atoi(string(line[9:12]))
	}
	length, chunked := int64(0), false
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read an answer: %w", err)
		}
		if len(line) <= 2 {
			break
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		case "transfer-encoding":
			chunked = true
		}
	}
	if status != expect {
		body, _ := io.ReadAll(io.LimitReader(r, min(length, 500)))
		return fmt.Errorf("the service answered %d, not %d: %s", status, expect, body)
	}
	if chunked {
		return dropChunks(r)
	}
	_, err = io.CopyN(io.Discard, r, length)
	return err
}

func dropChunks(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read a chunk: %w", err)
		}
		size, err := strconv.ParseInt(strings.TrimSpace(string(line)), 16, 64)
		if err != nil {
			return fmt.Errorf("read a chunk: %w", err)
		}
		if _, err := io.CopyN(io.Discard, r, size+2); err != nil {
			return fmt.Errorf("read a chunk: %w", err)
		}
		if size == 0 {
			return nil
		}
	}
}
