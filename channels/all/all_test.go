package all_test

import (
	"net"
	"strings"
	"testing"

	"tidings/channels/all"
	"tidings/channels/simulator"
)

func TestEveryVendorIsListedOnceAndSimulated(t *testing.T) {
	sim, err := simulator.Start(simulator.Settings{Dir: t.TempDir(), Listen: func(string) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	}()
	simulated := map[string]bool{}
	for _, p := range sim.Providers() {
		simulated[p.Type] = true
	}
	seen := map[string]bool{}
	for _, v := range all.Vendors() {
		if seen[v.Type] || v.Type == "" || v.Type != strings.ToLower(v.Type) {
			t.Errorf("%q is listed twice, or is no name", v.Type)
		}
		seen[v.Type] = true
		if !simulated[v.Type] {
			t.Errorf("%s cannot be tried without an account: nothing simulates it", v.Type)
		}
		if v.Channel == "" || v.Config() == nil || v.Config() == v.Config() {
			t.Errorf("%s has no channel, or shares one configuration", v.Type)
		}
	}
	for typ := range simulated {
		if !seen[typ] {
			t.Errorf("%s is simulated, but no vendor speaks to it", typ)
		}
	}
}
