package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// command runs tidings with arguments and gives what it printed.
func command(t *testing.T, ctx context.Context, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return out.String(), err
}

func TestLanesAreShownAndChanged(t *testing.T) {
	_, reach := serve(t)
	for _, c := range []struct {
		args []string
		want string // in the line of sms.bulk
	}{
		{[]string{"lanes"}, "open"},
		{[]string{"lanes", "pause", "sms.bulk"}, "paused"},
		{[]string{"lanes", "rate", "sms.bulk", "12.5"}, "12.5"},
		{[]string{"lanes", "resume", "sms.bulk"}, "open"},
		{[]string{"lanes", "rate", "sms.bulk", "off"}, "-"},
		{[]string{"lanes", "rebuild", "sms.bulk"}, "open"},
		{[]string{"lanes", "rebuild"}, "open"},
		{[]string{"lanes", "--json"}, `"name":"sms.bulk","depth":0`},
		{[]string{"lanes", "pause", "sms.bulk", "--json"}, `"paused":true`},
	} {
		out, err := command(t, t.Context(), append(c.args, reach...)...)
		found := false
		for line := range strings.Lines(out) {
			found = found || strings.Contains(line, "sms.bulk") && strings.Contains(line, c.want)
		}
		if err != nil || !found {
			t.Errorf("%v printed, instead of %q for sms.bulk: %v\n%s", c.args, c.want, err, out)
		}
	}
	for _, args := range [][]string{{"lanes", "pause"}, {"lanes", "pause", "fax.bulk"}, {"lanes", "rate", "sms.bulk", "0"},
		{"lanes", "rate", "sms.bulk", "fast"}, {"lanes", "rebuild", "fax.bulk"}, {"lanes", "--watch", "--every", "0s"}} {
		if out, err := command(t, t.Context(), append(args, reach...)...); err == nil {
			t.Errorf("%v is taken: %s", args, out)
		}
	}
}

func TestLanesAreWatchedUntilInterrupted(t *testing.T) {
	_, reach := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	out, err := command(t, ctx, append([]string{"lanes", "--watch", "--json", "--every", "20ms"}, reach...)...)
	if n := strings.Count(out, "\n"); err != nil || n < 2 {
		t.Errorf("shown %d times: %v", n, err)
	}
}
