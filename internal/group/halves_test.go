package group_test

import (
	"errors"
	"slices"
	"testing"

	"tidings/internal/group"
)

func TestABadItemCostsNoOther(t *testing.T) {
	down, wrong := errors.New("nobody answers"), errors.New("cannot be read")
	for _, c := range []struct {
		why    string
		bad    []int // items that are refused
		err    error // with this
		done   int
		refuse int
		calls  int
	}{
		{"all are good", nil, wrong, 100, 0, 1},
		{"one is bad", []int{42}, wrong, 99, 1, 15},
		{"two are bad", []int{0, 99}, wrong, 98, 2, 28},
		{"all are bad", seq(100), wrong, 0, 100, 199},
		{"it is nobody's fault", []int{42}, down, 0, 100, 1},
	} {
		t.Run(c.why, func(t *testing.T) {
			calls, done, refused := 0, 0, map[int]error{}
			group.Halves(seq(100), func(items []int) error {
				calls++
				if slices.ContainsFunc(items, func(i int) bool { return slices.Contains(c.bad, i) }) {
					return c.err
				}
				done += len(items)
				return nil
			}, func(err error) bool { return err != down }, func(i int, err error) { refused[i] = err })
			if done != c.done || len(refused) != c.refuse || calls > c.calls {
				t.Errorf("%d done, %d refused in %d calls", done, len(refused), calls)
			}
			for _, i := range c.bad {
				if refused[i] != c.err {
					t.Errorf("%d is refused with %v", i, refused[i])
				}
			}
		})
	}
}

func TestNothingIsDoneForNoItems(t *testing.T) {
	group.Halves(nil, func([]int) error { t.Error("called"); return nil }, nil, nil)
}

func seq(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
