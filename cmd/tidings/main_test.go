package main

import (
	"io"
	"strings"
	"testing"
)

func TestAnUnknownCommandIsAnErrorThatSaysWhereToLook(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"nope", `there is no command "nope"; tidings --help lists those there are`},
		{"keys nope", `there is no command "nope"; tidings keys --help lists those there are`},
		{"catalog nope", `there is no command "nope"; tidings catalog --help lists those there are`},
		{"", ""},
		{"keys", ""},
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(c.args))
		root.SetOut(io.Discard)
		got := ""
		if err := root.Execute(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("tidings %s: %q, want %q", c.args, got, c.want)
		}
	}
}
