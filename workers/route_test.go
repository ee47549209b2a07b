package workers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

func smsRouter(t *testing.T, routes ...Route) *router {
	t.Helper()
	providers := []Provider{
		{Name: "one", Channel: tidings.SMS}, {Name: "two", Channel: tidings.SMS}, {Name: "three", Channel: tidings.SMS},
		{Name: "phones", Channel: tidings.Push}, {Name: "browsers", Channel: tidings.Push}, {Name: "mail", Channel: tidings.Email},
	}
	r, err := newRouter(providers, map[tidings.Channel][]Route{tidings.SMS: routes})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCandidatesFollowTheRoute(t *testing.T) {
	order := func(names ...string) (out []Weighted) {
		for _, n := range names {
			out = append(out, Weighted{Name: n})
		}
		return out
	}
	german := Route{Countries: []string{"DE", "at"}, Providers: order("two", "one")}
	rest := Route{Countries: []string{"*"}, Providers: order("three")}
	tests := []struct {
		why    string
		routes []Route
		to     tidings.Address
		want   []string
	}{
		{"without routes the configured order holds", nil, tidings.Address{Channel: tidings.SMS, Value: "+15550100"}, []string{"one", "two", "three"}},
		{"a token belongs to its provider", nil, tidings.Address{Channel: tidings.Push, Provider: "browsers", Value: "t"}, []string{"browsers"}},
		{"a token of a provider that is gone has none", nil, tidings.Address{Channel: tidings.Push, Provider: "old", Value: "t"}, nil},
		{"a token names no provider of another channel", nil, tidings.Address{Channel: tidings.Push, Provider: "mail", Value: "t"}, nil},
		{"a channel without providers has none", nil, tidings.Address{Channel: tidings.Webhook, Value: "u"}, nil},
		{"the country decides, wherever it stands", []Route{rest, german}, tidings.Address{Channel: tidings.SMS, Value: "+4915550100"}, []string{"two", "one"}},
		{"countries are named in any case", []Route{german, rest}, tidings.Address{Channel: tidings.SMS, Value: "+43555010000"}, []string{"two", "one"}},
		{"other countries take the rest", []Route{german, rest}, tidings.Address{Channel: tidings.SMS, Value: "+33555010000"}, []string{"three"}},
		{"a number of no country takes the rest", []Route{german, rest}, tidings.Address{Channel: tidings.SMS, Value: "+8835550100"}, []string{"three"}},
		{"no route for it, no provider", []Route{german}, tidings.Address{Channel: tidings.SMS, Value: "+33555010000"}, nil},
		{"e-mail has no country", nil, tidings.Address{Channel: tidings.Email, Value: "a@example.test"}, []string{"mail"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			id := tidings.DeliveryOf(tidings.NewNotificationID(start), 0)
			if got := smsRouter(t, tt.routes...).candidates(id, &tt.to); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestWeightsShareDeliveriesAndNeverChangeTheirMind(t *testing.T) {
	r := smsRouter(t, Route{Countries: []string{"*"}, Providers: []Weighted{{"one", 51}, {"two", 49}, {"three", 0}}})
	to := &tidings.Address{Channel: tidings.SMS, Value: "+15550100"}
	first := map[string]int{}
	const n = 10_000
	for range n / 4 {
		ntf := tidings.NewNotificationID(start) // all of one instant: time must not steer
		for i := range 4 {
			id := tidings.DeliveryOf(ntf, i)
			got := r.candidates(id, to)
			if again := r.candidates(id, to); !slices.Equal(got, again) {
				t.Fatalf("%v, then %v", got, again)
			}
			if len(got) != 3 {
				t.Fatalf("candidates %v", got)
			}
			first[got[0]]++
		}
	}
	if first["one"] < n*49/100 || first["one"] > n*53/100 || first["three"] > 0 {
		t.Errorf("drawn %v of %d", first, n)
	}
}

func TestUntriedLeavesOutWhatWasTried(t *testing.T) {
	all := []string{"one", "two", "three"}
	if got := untried(all, []string{"two!"}); !slices.Equal(got, []string{"one", "three"}) {
		t.Errorf("%v", got)
	}
	if got := untried(all, []string{"two"}); !slices.Equal(got, []string{"one", "three"}) {
		t.Errorf("%v", got)
	}
	if got := untried(all, []string{"two", "one", "three"}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if !slices.Equal(all, []string{"one", "two", "three"}) {
		t.Error("the candidates were changed")
	}
}

func TestRoutesThatCannotWorkAreRefused(t *testing.T) {
	tests := []struct {
		route Route
		want  string
	}{
		{Route{Providers: []Weighted{{Name: "nobody"}}}, "no provider"},
		{Route{Providers: []Weighted{{Name: "mail"}}}, "carries email"},
		{Route{Providers: []Weighted{{Name: "one", Weight: -1}}}, "below 0"},
		{Route{Countries: []string{"Germany"}, Providers: []Weighted{{Name: "one"}}}, "not a country"},
	}
	for _, tt := range tests {
		_, err := newRouter([]Provider{{Name: "one", Channel: tidings.SMS}, {Name: "mail", Channel: tidings.Email}},
			map[tidings.Channel][]Route{tidings.SMS: {tt.route}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v", tt.route, err)
		}
	}
}

// What the API is told of a provider is what the router does with it.
func TestAProviderCarriesWhereItIsACandidate(t *testing.T) {
	providers := []Provider{{Name: "one", Channel: tidings.SMS}, {Name: "two", Channel: tidings.SMS}, {Name: "phones", Channel: tidings.Push}, {Name: "mail", Channel: tidings.Email}}
	routes := map[tidings.Channel][]Route{tidings.SMS: {
		{Countries: []string{"DE"}, Providers: []Weighted{{Name: "one"}, {Name: "two"}}}, {Countries: []string{"FR"}, Providers: []Weighted{{Name: "two"}}},
	}}
	r, err := newRouter(providers, routes)
	if err != nil {
		t.Fatal(err)
	}
	of, each, err := Carriers(providers, routes)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []tidings.Address{
		{Channel: tidings.SMS, Value: "+4915550100"}, {Channel: tidings.SMS, Value: "+33555010000"}, {Channel: tidings.SMS, Value: "+15550100"},
		{Channel: tidings.Push, Provider: "phones", Value: "t"}, {Channel: tidings.Push, Provider: "old", Value: "t"}, {Channel: tidings.Email, Value: "ann@example.test"},
	} {
		candidates := r.candidates(tidings.DeliveryOf(tidings.NewNotificationID(start), 0), &to)
		if of[to.Channel](&to) != (len(candidates) > 0) {
			t.Errorf("%v: the channel carries there, or does not, unlike its candidates %v", to, candidates)
		}
		for _, p := range providers {
			if each[p.Name](&to) != slices.Contains(candidates, p.Name) {
				t.Errorf("%v: %s is said to carry there, or not, unlike the candidates %v", to, p.Name, candidates)
			}
		}
	}
}

// One provider was in trouble for a moment, and the other's set-up is broken: that is no reason to wait until somebody
// mends the set-up.
func TestAProviderThatMayWorkSoonIsNotWaitedForLikeABrokenOne(t *testing.T) {
	for _, c := range []struct {
		why    string
		first  tidings.Outcome
		within time.Duration // after which it is sent; 0: it waits for the longest pause
	}{
		{"one was in trouble", tidings.Transient, 5 * time.Second},
		{"one was not reached", tidings.NotSent, 5 * time.Second},
		{"both set-ups are broken", tidings.ConfigFault, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			one := &script{answer: func(call int, _ *channels.Message) error {
				if call == 0 {
					return fault(c.first)
				}
				return nil
			}}
			two := &script{answer: func(int, *channels.Message) error { return fault(tidings.ConfigFault) }}
			inWorld(t, []Provider{provider("twilio", tidings.SMS, one), provider("aws-sms", tidings.SMS, two)}, func(t *testing.T, w *world) {
				w.start()
				id := w.accept(1, order{event: "login.code", channel: tidings.SMS})[0]
				w.pass(max(c.within, time.Second))
				d := w.delivery(id)
				switch {
				case c.within > 0 && d.Status != tidings.Sent:
					t.Errorf("%s after %v, due %v on; attempts %v", d.Status, c.within, time.Until(d.DueAt), w.outcomes(id))
				case c.within == 0 && time.Until(d.DueAt) < w.config.Delivery.RetryCap/2:
					t.Errorf("%s, due in %v; attempts %v", d.Status, time.Until(d.DueAt), w.outcomes(id))
				}
			})
		})
	}
}
