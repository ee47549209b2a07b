package workers

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

// A sink accepts at once and counts.
type sink struct{ calls atomic.Int64 }

func (s *sink) Send(context.Context, *channels.Message) (channels.Answer, error) {
	s.calls.Add(1)
	return channels.Answer{Ref: "made-up", HTTPStatus: 200}, nil
}

// BenchmarkDrain sends what waits in a lane to a provider that answers at once: claim, render,
// record and acknowledge on a real log and broker. Run it with -benchtime 20000x.
func BenchmarkDrain(b *testing.B) {
	s := &sink{}
	w := &world{t: b, dir: b.TempDir(), config: DefaultConfig(), catalogue: sample(b), providers: []Provider{
		{Name: "phones", Channel: tidings.Push, Provider: s, Timeout: 10 * time.Second, Concurrency: 256}}}
	w.config.Lanes = map[string]LaneConfig{"push": {Workers: 256, Limit: b.N + 1000}}
	w.open()
	defer w.close()
	for left := b.N; left > 0; left -= 500 {
		w.accept(min(left, 500), orderPush)
	}
	b.ResetTimer()
	workers := w.start()
	for int(s.calls.Load()) < b.N || workers.InFlight("push.bulk") > 0 {
		time.Sleep(time.Millisecond)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	b.StopTimer()
	w.stop(workers)
}
