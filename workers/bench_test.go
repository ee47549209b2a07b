package workers

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/store/storetest"
)

// A sink accepts at once, and tells when the last of the expected calls has come.
type sink struct {
	left atomic.Int64
	done chan struct{}
}

func (s *sink) Send(context.Context, *channels.Message) (channels.Answer, error) {
	if s.left.Add(-1) == 0 {
		close(s.done)
	}
	return channels.Answer{Ref: "made-up", HTTPStatus: 200}, nil
}

// BenchmarkDrain sends what waits in a lane to a provider that answers at once: claim, render,
// record and acknowledge on a real log and broker. Run it with -benchtime 20000x.
func BenchmarkDrain(b *testing.B) {
	s := &sink{done: make(chan struct{})}
	s.left.Store(int64(b.N))
	w := &world{t: b, dir: b.TempDir(), log: storetest.SQLite(b), config: DefaultConfig(), catalogue: sample(b), providers: []Provider{
		{Name: "phones", Channel: tidings.Push, Provider: s, Timeout: 10 * time.Second, Concurrency: 256}}}
	w.config.Lanes = map[string]LaneConfig{"push": {Workers: 256, Limit: b.N + 1000}}
	w.open()
	defer w.close()
	for left := b.N; left > 0; left -= 500 {
		w.accept(min(left, 500), orderPush)
	}
	b.ResetTimer()
	spent := cpu(b)
	workers := w.start()
	<-s.done
	w.stop(workers) // waits for the records
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	b.ReportMetric(float64((cpu(b)-spent).Microseconds())/float64(b.N), "cpu-µs/delivery")
	b.StopTimer()
}

// cpu is what this process has used: unlike the clock it does not tell of other programs.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
