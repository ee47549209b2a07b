package apns

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCoalescedWritesArriveInOrderAndWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := coalesce(near)
		var got bytes.Buffer
		var reading sync.WaitGroup
		reading.Go(func() { _, _ = io.Copy(&got, far) })
		var want bytes.Buffer
		for i := range 5000 {
			part := bytes.Repeat([]byte{byte(i)}, i%300)
			want.Write(part)
			if n, err := c.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
			clear(part) // the caller may use its buffer again at once
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		reading.Wait()
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d bytes arrived, %d were written, or in another order", got.Len(), want.Len())
		}
		if _, err := c.Write([]byte("late")); err == nil {
			t.Error("a write after Close succeeded")
		}
	})
}

func TestAPeerThatTakesNothingEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer func() { _ = far.Close() }()
		c := coalesce(near)
		start := time.Now()
		var err error
		for written := 0; err == nil; {
			if written > 2*maxPending+1<<20 {
				t.Fatal("what is pending has no bound")
			}
			var n int
			n, err = c.Write(make([]byte, 16<<10))
			written += n
		}
		if took := time.Since(start); took != writeStall {
			t.Errorf("the writer learned after %s", took)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the reader is told %v", err)
		}
		_ = c.Close()
	})
}

func TestClosingDoesNotWaitForAStalledPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer func() { _ = far.Close() }()
		c := coalesce(near)
		if _, err := c.Write([]byte("never read")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		start := time.Now()
		_ = c.Close()
		if took := time.Since(start); took > closeGrace {
			t.Errorf("closing took %s", took)
		}
	})
}
