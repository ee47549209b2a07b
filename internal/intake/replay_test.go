package intake_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
	"tidings/templates"
)

// changed is the rig's catalogue with parts of catalog.yaml replaced, in pairs of old and new.
func (r *rig) changed(t *testing.T, pairs ...string) *templates.Catalogue {
	t.Helper()
	other := maps.Clone(r.files)
	other["catalog.yaml"] = strings.NewReplacer(pairs...).Replace(other["catalog.yaml"])
	if other["catalog.yaml"] == r.files["catalog.yaml"] && len(pairs) > 0 {
		t.Fatalf("%q changes nothing", pairs)
	}
	maps.DeleteFunc(other, func(name, _ string) bool { // templates of what has gone
		gone := name != "catalog.yaml" && !strings.Contains(other["catalog.yaml"], strings.Split(name, "/")[1]+":")
		return gone || strings.Contains(name, "/order.shipped/email.") && !strings.Contains(other["catalog.yaml"], "[push, email]")
	})
	c, err := templates.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// counts are what differs, as "count type channel before after".
func counts(r intake.Replay) (all []string) {
	for _, c := range r.Counts {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d %s %s %s/%s %s/%s", c.Count, c.Type, c.Channel, c.Before.Action, c.Before.Reason, c.After.Action, c.After.Reason)))
	}
	return all
}

func TestAReplayTellsWhatAnotherCatalogueWouldDecideOtherwise(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		start := time.Now()
		r.accept(t, shipped("u_1", ""))
		r.accept(t, shipped("u_2", ""))
		narrowed := shipped("u_2", "")
		narrowed.Channels = []tidings.Channel{tidings.Push}
		r.accept(t, hashed(narrowed))
		r.accept(t, typed("u_1", "offer.weekly"))
		r.accept(t, loginCode("u_3"))
		r.optOut(t, "u_2", tidings.Email) // both are decided by what is known today
		before := r.stats(t, "email.bulk")
		for _, c := range []struct {
			why   string
			pairs []string
			want  []string
		}{
			{"the same", nil, nil},
			{"what asks first and has no yes", []string{"consent: opt_out", "consent: opt_in"},
				[]string{"1 offer.weekly email send/ suppress/consent_missing"}},
			{"what becomes critical cannot be refused; one of them asked for push alone", []string{"orders: {kind: transactional}", "orders: {kind: critical}"},
				[]string{"1 order.shipped email suppress/opted_out_channel send/"}},
			{"a channel that goes", []string{"channels: [push, email]", "channels: [push]"},
				[]string{"1 order.shipped email send/ /", "1 order.shipped email suppress/not_requested /", "1 order.shipped email suppress/opted_out_channel /"}},
			{"a type that goes", []string{"  order.shipped: {category: orders, channels: [push, email]}\n", ""},
				[]string{"3 order.shipped push suppress/no_address /", "1 order.shipped email send/ /", "1 order.shipped email suppress/not_requested /", "1 order.shipped email suppress/opted_out_channel /"}},
		} {
			got, err := r.Replay(t.Context(), r.changed(t, c.pairs...), start)
			if err != nil || got.Examined != 5 || got.Cut {
				t.Fatalf("%s: %+v, %v", c.why, got, err)
			}
			total := 0
			for _, n := range got.Counts {
				total += n.Count
			}
			if !slices.Equal(counts(got), c.want) || got.Changed != total || len(got.Differences) != total {
				t.Errorf("%s: %d differ, %q, want %q", c.why, got.Changed, counts(got), c.want)
			}
		}
		if after := r.stats(t, "email.bulk"); after != before || r.notifications(t) != 5 {
			t.Errorf("a replay changed the log: %+v, before %+v", after, before)
		}
	})
}

func TestAReplayCountsWhatALimitWouldLetThrough(t *testing.T) {
	eachLimited(t, func(t *testing.T, r *rig) {
		start := time.Now()
		for range 3 {
			r.accept(t, typed("u_1", "rest.item"))
		}
		r.accept(t, typed("u_2", "rest.item"))
		got, err := r.Replay(t.Context(), r.changed(t, "rest: {kind: transactional}", "rest: {kind: transactional, caps: {per_user: 2/1h}}"), start)
		if want := []string{"1 rest.item email send/ suppress/rate_limited_category"}; err != nil || !slices.Equal(counts(got), want) {
			t.Errorf("a new cap: %q, %v, want %q", counts(got), err, want)
		}
	})
}

func TestAReplayIsBoundedToTheNewest(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		start := time.Now()
		var ids []tidings.NotificationID
		for i := range 4 {
			ids = append(ids, r.accept(t, shipped(fmt.Sprint("u_", i), "")).ID)
		}
		other := r.changed(t, "channels: [push, email]", "channels: [push]")
		got, err := r.ReplayUpTo(t.Context(), other, start, 3)
		if err != nil || !got.Cut || got.Examined != 3 || len(got.Differences) != 3 || got.Differences[0].ID != ids[3] || got.Differences[2].ID != ids[1] {
			t.Errorf("up to 3: %+v, %v", got, err)
		}
		if got, err = r.ReplayUpTo(t.Context(), other, start, 4); err != nil || got.Cut || got.Examined != 4 {
			t.Errorf("up to 4: %+v, %v", got, err)
		}
		if got, err = r.Replay(t.Context(), other, time.Now().Add(time.Second)); err != nil || got.Examined != 0 {
			t.Errorf("of a later time: %+v, %v", got, err)
		}
	})
}
