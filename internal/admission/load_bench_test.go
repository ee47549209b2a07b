package admission

import (
	"fmt"
	"testing"

	"tidings"
)

// One event enters and settles while a thousand apps have something in the lane.
func BenchmarkAnEventPassesTheDoorBesideAThousandApps(b *testing.B) {
	d := newDoor(Settings{Bounds: map[tidings.Lane]Bound{"push.bulk": {Limit: 1_000_000, Short: 64_000}}})
	demand := []Demand{{Lane: "push.bulk", Deliveries: 1}}
	for i := range 1000 {
		app := fmt.Sprintf("app-%d", i)
		if d.Enter(app, Transactional, demand) != nil {
			b.Fatal("refused")
		}
		d.Settle(app, demand, true)
	}
	for b.Loop() {
		if d.Enter("shop", Transactional, demand) != nil {
			b.Fatal("refused")
		}
		d.Settle("shop", demand, false)
	}
}
