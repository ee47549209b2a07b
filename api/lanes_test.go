package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api"
	"tidings/api/wire"
	"tidings/internal/store"
)

func TestLanesShowWhatWaitsAndCanBePaused(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "")
	var lane wire.Lane
	b.call("POST", "/v1/lanes/push.bulk/pause", "").want(200, "").into(&lane)
	if !lane.Paused || lane.Depth != 1 || lane.Limit != 50000 || lane.Name != "push.bulk" {
		t.Errorf("the lane is %+v", lane)
	}
	var all wire.Lanes
	b.call("GET", "/v1/lanes", "").want(200, "").into(&all)
	if len(all.Data) != 6 || !all.Data[1].Paused || all.Data[0].Paused {
		t.Errorf("the lanes are %+v", all.Data)
	}
	b.call("POST", "/v1/lanes/push.bulk/resume", "{}").want(200, "").into(&lane)
	if lane.Paused {
		t.Error("the lane is still paused")
	}
	b.call("POST", "/v1/lanes/fax.bulk/resume", "").want(404, "not_found")
}

func TestTheWorkersHearOfASwitchedLaneBeforeTheAnswer(t *testing.T) {
	told := 0
	b := newBench(t, func(s *api.Settings) { s.LanesChanged = func(context.Context) { told++ } })
	b.call("POST", "/v1/lanes/push.bulk/pause", "").want(200, "")
	b.call("POST", "/v1/lanes/push.bulk/resume", "").want(200, "")
	b.call("PATCH", "/v1/lanes/push.bulk", `{"rate_per_second":5}`).want(200, "")
	b.call("POST", "/v1/lanes/fax.bulk/pause", "").want(404, "not_found")
	b.call("PATCH", "/v1/lanes/push.bulk", `{"rate_per_second":-5}`).want(422, "invalid_input")
	if told != 3 {
		t.Errorf("the workers were told %d times of three switches", told)
	}
}

func TestTheRateOfALaneIsSetShownAndLifted(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ why, body, shown string }{
		{"none at first", "", `"rate_per_second":null`},
		{"a rate", `{"rate_per_second":50}`, `"rate_per_second":50}`},
		{"less than one a second", `{"rate_per_second":0.25}`, `"rate_per_second":0.25}`},
		{"none again", `{"rate_per_second":null}`, `"rate_per_second":null}`},
	} {
		if c.body != "" {
			if r := b.call("PATCH", "/v1/lanes/push.bulk", c.body).want(200, ""); !strings.Contains(r.Body.String(), c.shown) {
				t.Errorf("%s: answered %s", c.why, r.Body)
			}
		}
		if r := b.call("GET", "/v1/lanes", "").want(200, ""); !strings.Contains(r.Body.String(), c.shown) {
			t.Errorf("%s: listed as %s", c.why, r.Body)
		}
	}
	for _, c := range []struct{ why, body, pointer string }{
		{"nothing to set", `{}`, "/rate_per_second"},
		{"none is null", `{"rate_per_second":0}`, "/rate_per_second"},
		{"below none", `{"rate_per_second":-1}`, "/rate_per_second"},
		{"a text", `{"rate_per_second":"50"}`, "/rate_per_second"},
		{"more than there can be", `{"rate_per_second":1e300}`, "/rate_per_second"},
		{"beyond a number", `{"rate_per_second":1e999}`, "/rate_per_second"},
		{"another field", `{"rate_per_second":5,"limit":9}`, "/limit"},
	} {
		if at := b.call("PATCH", "/v1/lanes/push.bulk", c.body).want(422, "invalid_input").at(); len(at) != 1 || at[0] != c.pointer {
			t.Errorf("%s: points at %v", c.why, at)
		}
	}
	b.call("PATCH", "/v1/lanes/fax.bulk", `{"rate_per_second":5}`).want(404, "not_found")
}

func TestALaneIsRebuiltFromTheLog(t *testing.T) {
	away := false
	b := newBench(t, func(s *api.Settings) {
		rebuild := s.RebuildLane
		s.RebuildLane = func(ctx context.Context, lane tidings.Lane) error {
			if away {
				return errors.New("broker is not available")
			}
			return rebuild(ctx, lane)
		}
	})
	b.device("u_1")
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "")
	stats := func() store.LaneStats {
		all, err := b.store.LaneStats(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return all["push.bulk"]
	}
	if st := stats(); st.Queued != 1 {
		t.Fatalf("the lane has %+v", st)
	}
	away = true
	b.call("POST", "/v1/lanes/push.bulk/rebuild", "").want(503, "not_ready")
	if st := stats(); st.Queued != 1 {
		t.Errorf("after a failure the lane has %+v", st)
	}
	away = false
	var lane wire.Lane
	b.call("POST", "/v1/lanes/push.bulk/rebuild", "").want(200, "").into(&lane)
	if st := stats(); st.Queued != 0 || st.Due != 1 || lane.Depth != 1 {
		t.Errorf("after a rebuild the lane has %+v, shown as %+v", st, lane)
	}
	b.call("POST", "/v1/lanes/fax.bulk/rebuild", "").want(404, "not_found")
	b.call("POST", "/v1/lanes/push.bulk/rebuild", `{"now":true}`).want(422, "invalid_input")
}
