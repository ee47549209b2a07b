package faults

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// Dice draw fates: by a seed, so many at most, until they are put away.
type Dice struct {
	settings DiceSettings

	mu    sync.Mutex
	dice  *rand.Rand     // guarded by mu
	left  int            // faults that may still be drawn; guarded by mu
	away  bool           // guarded by mu
	drawn map[string]int // by what was done to what; guarded by mu
}

// DiceSettings say what may be drawn.
type DiceSettings struct {
	Seed   uint64
	Most   int     // faults
	Deaths bool    // the process may die, too
	Errors []error // that statements end in
	Server bool    // the database is a server: connections to it are cut, and answers of commits lost
}

// shares are of the calls that have a fault; few of them are requests, and many only read.
var shares = map[Seam]float64{Providers: 0.15, Broker: 0.05, Database: 0.04}

const quietShare = 0.005

// LongestDelay bounds how late a call is made.
const LongestDelay = 8 * time.Second

// NewDice are dice that nobody has put away.
func NewDice(s DiceSettings) *Dice {
	return &Dice{settings: s, dice: rand.New(rand.NewPCG(s.Seed, s.Seed)), left: s.Most, drawn: map[string]int{}}
}

// PutAway ends the faults.
func (d *Dice) PutAway(away bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away = away
}

// Drawn counts what was done, by its name.
func (d *Dice) Drawn() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drawn
}

// Judge draws the fate of a call.
func (d *Dice) Judge(c Call) Fate {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away || d.left == 0 || d.dice.Float64() >= share(c) {
		return Fate{}
	}
	fate := d.draw(c)
	if fate.Deed != Pass {
		d.left--
		d.drawn[string(c.Seam)+" "+fate.Deed.String()]++
	}
	return fate
}

func share(c Call) float64 {
	if c.Quiet {
		return quietShare
	}
	return shares[c.Seam]
}

// draw takes one of what can happen to a call; mu is held.
func (d *Dice) draw(c Call) Fate {
	if d.settings.Deaths && d.dice.IntN(10) == 0 && !c.Quiet {
		return Fate{Deed: pickOne(d.dice, DieBefore, DieAfter)}
	}
	late := Fate{Deed: Late, For: time.Duration(d.dice.Int64N(int64(LongestDelay)))}
	switch c.Seam {
	case Providers:
		return pickOne(d.dice, late, Fate{Deed: FailBefore}, Fate{Deed: FailAfter}, Fate{Deed: HangBefore}, Fate{Deed: HangAfter})
	case Broker:
		if c.Inward {
			late.For /= 4 // it holds up all that follows
		}
		return pickOne(d.dice, late, Fate{Deed: Twice}, Fate{Deed: HangBefore}, Fate{Deed: FailBefore}, Fate{Deed: FailAfter})
	}
	return d.drawDatabase(c)
}

// drawDatabase never holds up a server in a transaction: whoever waits for its locks waits on a
// socket, and while it does virtual time stands still.
func (d *Dice) drawDatabase(c Call) Fate {
	failed := Fate{Deed: FailBefore, Err: pickOne(d.dice, d.settings.Errors...)}
	switch {
	case !d.settings.Server:
		slow := Fate{Deed: Late, For: time.Duration(d.dice.Int64N(int64(time.Second)))}
		return pickOne(d.dice, slow, failed, failed)
	case strings.HasPrefix(c.What, committing):
		return pickOne(d.dice, failed, Fate{Deed: FailBefore}, Fate{Deed: FailAfter}, Fate{Deed: FailAfter})
	}
	return pickOne(d.dice, failed, Fate{Deed: FailBefore})
}

func pickOne[T any](dice *rand.Rand, of ...T) T { return of[dice.IntN(len(of))] }

// String is the deed in words.
func (d Deed) String() string {
	return [...]string{"pass", "die before", "die after", "fail before", "fail after", "hang before", "hang after", "late", "twice"}[d]
}
