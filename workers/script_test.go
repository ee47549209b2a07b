package workers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tidings"
	"tidings/channels"
)

// A script is a provider that answers as the test says and remembers its calls.
type script struct {
	answer func(call int, m *channels.Message) error // nil: accept
	takes  time.Duration

	mu    sync.Mutex
	calls []channels.Message // guarded by mu
	at    []time.Time        // guarded by mu
}

func (s *script) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	s.mu.Lock()
	n := len(s.calls)
	s.calls, s.at = append(s.calls, *m), append(s.at, time.Now())
	s.mu.Unlock()
	if s.takes > 0 {
		select {
		case <-time.After(s.takes):
		case <-ctx.Done():
			return channels.Answer{}, &channels.Error{Fault: tidings.OutcomeUnknown, Err: ctx.Err()}
		}
	}
	if s.answer != nil {
		if err := s.answer(n, m); err != nil {
			return channels.Answer{}, err
		}
	}
	return channels.Answer{Ref: fmt.Sprintf("%s/%d", m.Delivery, m.Attempt), HTTPStatus: 200}, nil
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// perDelivery counts the calls of each delivery.
func (s *script) perDelivery() map[tidings.DeliveryID]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[tidings.DeliveryID]int{}
	for _, m := range s.calls {
		out[m.Delivery]++
	}
	return out
}

func provider(name string, c tidings.Channel, s *script) Provider {
	return Provider{Name: name, Type: name, Channel: c, Provider: s, Timeout: 10 * time.Second, Concurrency: 64}
}

func fault(f tidings.Outcome) error {
	return &channels.Error{Fault: f, HTTPStatus: 500, Code: "made_up"}
}
