package faults

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A Seam is where the service meets something that may fail.
type Seam string

// The seams.
const (
	Providers Seam = "providers" // requests to providers
	Database  Seam = "database"  // statements and commits
	Broker    Seam = "broker"    // publishes, entries and acknowledgements
)

// A Call is one use of a seam.
type Call struct {
	Seam   Seam
	What   string // such as "commit: INSERT notifications", "publish push.bulk"
	Inside bool   // within a transaction: before its commit nothing of it can be seen
	Quiet  bool   // it changes nothing, so it is the same to die before it or after it
	Inward bool   // it comes from outside, so it is over before it is seen
}

// A Deed is what happens at a call.
type Deed int

// The deeds. Those after a call let it take effect and keep its answer back.
const (
	Pass       Deed = iota
	DieBefore       // the process is gone, and the call is not made
	DieAfter        // the call takes effect, and the process is gone before it sees the answer
	FailBefore      // an error, and the call is not made
	FailAfter       // the call takes effect and ends in an error
	HangBefore      // the call is not made, and no answer comes
	HangAfter       // the call takes effect, and no answer comes
	Late            // the call is made after a while
	Twice           // the broker is told twice
)

// A Fate is the deed for one call.
type Fate struct {
	Deed Deed
	For  time.Duration // Late only
	Err  error         // of a failure; nil: that the connection was cut
}

// A Judge gives each call its fate. It is called from many goroutines at once.
type Judge func(Call) Fate

// The errors that seams give.
var (
	errGone = errors.New("the process is gone")
	errCut  = errors.New("the connection was cut")
)

// A Life is one process of the service, from its start to its death, as it meets the outside: through
// seams. Once it is over nothing passes any more, in no direction, as after SIGKILL: the kernel
// closes the sockets, the database rolls back what was open, and what was written stays. The
// goroutines are still there and get errors; shut the service down to be rid of them.
type Life struct {
	judge Judge
	end   func() // called once at the death, while nothing is written to the files of the database
	once  sync.Once
	over  chan struct{} // closed once all is cut
	dead  atomic.Bool
	files sync.RWMutex // read-held by every statement on files, so that a picture of them is whole

	mu   sync.Mutex
	open map[io.Closer]struct{} // sockets; guarded by mu
}

// NewLife begins a life. end is called at its death, to take a picture of the files as the process
// leaves them; nil: nothing is called.
func NewLife(judge Judge, end func()) *Life {
	return &Life{judge: judge, end: end, over: make(chan struct{}), open: map[io.Closer]struct{}{}}
}

// Over is closed when the life is over.
func (l *Life) Over() <-chan struct{} { return l.over }

// Die ends the life; it returns when all is cut.
func (l *Life) Die() {
	l.once.Do(func() {
		l.files.Lock()
		l.dead.Store(true)
		if l.end != nil {
			l.end()
		}
		l.files.Unlock()
		l.cut()
		close(l.over)
	})
}

// cut closes every socket, as the kernel does for a process that is gone.
func (l *Life) cut() {
	l.mu.Lock()
	open := l.open
	l.open = nil
	l.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
}

// holds remembers a socket, or closes it when the process is gone already.
func (l *Life) holds(c io.Closer) {
	l.mu.Lock()
	gone := l.open == nil
	if !gone {
		l.open[c] = struct{}{}
	}
	l.mu.Unlock()
	if gone {
		_ = c.Close()
	}
}

func (l *Life) forgets(c io.Closer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// wait lets a while pass; a death ends it, for whoever waits may hold what others need to be gone.
func (l *Life) wait(span time.Duration) {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.over:
	}
}

// gone reports whether the life is over.
func (l *Life) gone() bool { return l.dead.Load() }
