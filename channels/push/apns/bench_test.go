package apns_test

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings"
	"tidings/channels"
	"tidings/channels/push/apns"
	"tidings/channels/simulator"
)

// onSockets is a provider beside a simulated APNs on a real socket.
func onSockets(tb testing.TB) (channels.Provider, *simulator.Simulator) {
	tb.Helper()
	sim, err := simulator.Start(simulator.Settings{Listen: simulator.OnPorts(0), Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := sim.Close(); err != nil {
			tb.Error(err)
		}
	})
	values := map[string]string{}
	for _, l := range sim.Providers()[0].Lines {
		values[l.Key] = l.Value
	}
	text, err := yaml.Marshal(values)
	if err != nil {
		tb.Fatal(err)
	}
	config := apns.Vendor().Config()
	if err := yaml.Unmarshal(text, config); err != nil {
		tb.Fatal(err)
	}
	p, err := apns.Vendor().Build(config, channels.Settings{
		Name: "apns", Endpoint: values["endpoint"], Dial: new(net.Dialer).DialContext, TLS: &tls.Config{RootCAs: sim.Roots()},
		Transport: func(t http.RoundTripper) http.RoundTripper { return t }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p, sim
}

// BenchmarkSend pushes with as many callers at once as a busy lane has. The processor time, of
// both ends, says more than the rate on a machine that does other things.
func BenchmarkSend(b *testing.B) {
	p, _ := onSockets(b)
	m := channels.Message{
		Delivery: tidings.DeliveryOf(tidings.NewNotificationID(time.Now()), 0), Address: harness().Address,
		Content: harness().Content, CollapseID: "collapse", ExpiresAt: time.Now().Add(time.Hour),
	}
	var failures atomic.Int64
	b.SetParallelism(64)
	before := processorTime(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Send(b.Context(), &m); err != nil {
				failures.Add(1)
			}
		}
	})
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
	if n := failures.Load(); n > 0 {
		b.Fatalf("%d pushes failed", n)
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
