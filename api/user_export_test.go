package api_test

import (
	"reflect"
	"strings"
	"testing"

	"tidings"
	"tidings/api/wire"
)

func TestAnExportHasDeliveriesAsTheirTrailsShowThem(t *testing.T) {
	b := newBench(t)
	one, other := b.dead("u_1"), b.dead("u_2")
	ntf := tidings.NotificationOf(one)
	var told wire.Trail
	b.call("GET", "/v1/notifications/"+ntf.String(), "").want(200, "").into(&told)
	var out wire.Export
	r := b.call("GET", "/v1/users/u_1/export", "").want(200, "")
	r.into(&out)
	if want := []wire.FullDelivery{{NotificationID: ntf, Delivery: told.Deliveries[0]}}; !reflect.DeepEqual(out.Deliveries, want) || len(want[0].Attempts) != 1 {
		t.Errorf("exported %+v, want %+v", out.Deliveries, want)
	}
	if body := r.Body.String(); strings.Contains(body, other.String()) || strings.Count(body, out.Addresses[0].Full) != 1 {
		t.Errorf("exported %s", body)
	}
}
