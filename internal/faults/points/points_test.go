package points

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"tidings/internal/faults"
	"tidings/internal/testkit"
)

const (
	// PointsVariable says which points are tried: "all", or the number of the seed that draws some.
	pointsVariable = "TIDINGS_POINTS"
	// calm is how long after the end of a run what comes late has time to come: a lease and a sweep.
	calm = 70 * time.Second
	// perScenario is how many points of a scenario are drawn.
	perScenario = 2
)

// An engine is where the log is kept.
type engine struct {
	name string
	url  func(t *testing.T) string // of an empty log
}

func engines() []engine {
	return []engine{
		{"sqlite", func(*testing.T) string { return "" }},
		{"postgres", postgres},
	}
}

// postgres is a database that ends, in real time, a transaction whose client is gone without a
// word: who waits for its locks waits on a socket, and virtual time stands still meanwhile.
func postgres(t *testing.T) string {
	u, err := url.Parse(testkit.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("idle_in_transaction_session_timeout", "3s")
	u.RawQuery = q.Encode()
	return u.String()
}

// Wherever the process dies, nothing is lost, and nothing is sent twice unless the trail says so.
func TestWhereverTheProcessDiesNothingIsLostOrRepeated(t *testing.T) {
	which := chosen(t)
	which.keys = t.TempDir()
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			for _, s := range which.scenarios(e) {
				t.Run(s.name, func(t *testing.T) { enumerate(t, s, e, which) })
			}
		})
	}
}

// enumerate lets a scenario happen without a fault to learn its points, then dies at each.
func enumerate(t *testing.T, s scenario, e engine, which choice) {
	fuse := faults.NewFuse(faults.Point{})
	whole := run(t, s, setup{keys: which.keys, database: e.url(t), edit: s.edit}, fuse)
	whole.judge(t)
	var sum summary
	for _, p := range which.points(fuse.Points()) {
		t.Run(p.String(), func(t *testing.T) {
			set := setup{keys: which.keys, database: e.url(t), loseLane: p.loseLane, edit: s.edit}
			fuse := faults.NewFuse(p.Point)
			o := run(t, s, set, fuse)
			o.judge(t)
			sum.add(o, fuse.Blown())
		})
	}
	t.Logf("%d points; %v", len(fuse.Points()), &sum)
}

// An outcome is what came of a run.
type outcome struct {
	faults.Verdict
	ended time.Duration // from the first death until everything was at its end
}

func (o outcome) judge(t *testing.T) {
	t.Helper()
	for _, v := range o.Violations {
		t.Error(v)
	}
}

// run lets a scenario happen once, with a fuse.
func run(t *testing.T, s scenario, set setup, fuse *faults.Fuse) (o outcome) {
	t.Helper()
	testkit.Bubble(t, func(t *testing.T) {
		fuse.Arm(s.fromStart)
		w := newWorld(t, set, fuse.Judge)
		defer w.close()
		if s.prepare != nil {
			s.prepare(w)
		}
		fuse.Arm(true)
		s.happens(w)
		w.rest(s.within)
		fuse.Arm(false)
		if len(w.deaths) > 0 {
			o.ended = time.Since(w.deaths[0])
		}
		time.Sleep(calm)
		o.Verdict = w.verdict(s.delay)
	})
	return o
}

// A trial is a point, and whether the broker's files are lost with the process.
type trial struct {
	faults.Point
	loseLane bool
}

// String is the trial in words.
func (t trial) String() string {
	if t.loseLane {
		return t.Point.String() + ", lanes lost"
	}
	return t.Point.String()
}

// A choice is which points are tried.
type choice struct {
	all  bool
	dice *rand.Rand
	keys string // see setup
}

// chosen reads which points are wanted. The seed that drew is shown, so that it can be used again.
func chosen(t *testing.T) choice {
	t.Helper()
	wanted := os.Getenv(pointsVariable)
	if wanted == "all" {
		return choice{all: true}
	}
	seed, err := strconv.ParseUint(wanted, 10, 64)
	if err != nil {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("some points, drawn by %s=%d", pointsVariable, seed)
	return choice{dice: rand.New(rand.NewPCG(seed, seed))}
}

// scenarios of an engine: when points are drawn, one of those with digests is, and PostgreSQL gets
// a part of them all.
func (c choice) scenarios(e engine) []scenario {
	list, digests := scenarios(), digestScenarios()
	if c.all {
		return append(list, digests...)
	}
	list = append(list, digests[c.dice.IntN(len(digests))])
	if e.name == "sqlite" {
		return list
	}
	c.dice.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list[:len(list)/3]
}

// insideMost is how many points within transactions are tried of a scenario: to die there is to
// die before the commit, whatever the statement.
const insideMost = 40

func (c choice) points(of []faults.Point) (trials []trial) {
	outer := slices.DeleteFunc(slices.Clone(of), func(p faults.Point) bool { return p.Inside })
	inside := slices.DeleteFunc(slices.Clone(of), func(p faults.Point) bool { return !p.Inside })
	if !c.all {
		for i := range perScenario {
			trials = append(trials, trial{outer[c.dice.IntN(len(outer))], i%2 == 1})
		}
		return trials
	}
	for _, p := range outer {
		trials = append(trials, trial{p, false}, trial{p, true})
	}
	for i := 0; i < len(inside); i += max(1, len(inside)/insideMost) {
		trials = append(trials, trial{inside[i], i%2 == 1})
	}
	return trials
}

// A summary adds up the runs of a scenario.
type summary struct {
	runs, deaths, unknown, doubled int
	longest                        time.Duration
}

func (s *summary) add(o outcome, died bool) {
	s.runs++
	if died {
		s.deaths++
	}
	s.unknown += o.Figures.Unknown
	s.doubled += o.Figures.Doubled
	s.longest = max(s.longest, o.ended)
}

// String is the summary in a line.
func (s *summary) String() string {
	return fmt.Sprintf("%d runs, %d deaths, %d unknown attempts, %d sent twice and shown so, at rest %v after the death at the latest",
		s.runs, s.deaths, s.unknown, s.doubled, s.longest.Round(time.Second))
}
