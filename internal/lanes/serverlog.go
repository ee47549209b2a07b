package lanes

import (
	"fmt"
	"log/slog"
	"sync"
)

// A serverLog takes what the embedded server says into ours. Its Fatalf does not end the
// process, unlike the server's own: the server returns after it, and start finds the error.
type serverLog struct {
	log *slog.Logger

	mu  sync.Mutex
	err error // guarded by mu
}

func (s *serverLog) fatal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *serverLog) Fatalf(format string, v ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf(format, v...)
	}
}

func (s *serverLog) Errorf(format string, v ...any) {
	s.log.Error("broker: " + fmt.Sprintf(format, v...))
}
func (s *serverLog) Warnf(format string, v ...any) {
	s.log.Warn("broker: " + fmt.Sprintf(format, v...))
}

// Notices are about starting and stopping: of interest to who looks for them.
func (s *serverLog) Noticef(format string, v ...any) {
	s.log.Debug("broker: " + fmt.Sprintf(format, v...))
}
func (s *serverLog) Debugf(string, ...any) {}
func (s *serverLog) Tracef(string, ...any) {}
