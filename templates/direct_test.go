package templates

import (
	"encoding/json"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidings"
)

type explosive struct{}

func (explosive) Execute(io.Writer, any) error { panic("482913") }

func TestAPanicInsideATemplateIsAnErrorThatDoesNotTellTheData(t *testing.T) {
	p := &piece{file: "x", exec: explosive{}}
	_, err := p.render(newScope(&Input{}, "en"), maxOutput)
	if e, ok := p.explain(err).(*RenderError); !ok || e.Code != CodeTemplateError || strings.Contains(e.Error(), "482913") {
		t.Errorf("%v", err)
	}
}

// What takes the short way renders, and fails, as it does in text/template.
func TestTheShortWayIsTheSameWay(t *testing.T) {
	values := []string{".data.a", ".data.b.c", "$.data.a", ".user.id", ".event.at", ".locale", ".data.missing", ".data.b", ".data.l"}
	functions := []string{"upper", "len", "not", "default `x`", "truncate 2", "eq 1", "eq .data.b.c", "urlquery", "join `-`", "lt $.data.n", "index .data.l", "has .data"}
	rapid.Check(t, func(t *rapid.T) {
		var source strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "actions") {
			source.WriteString(rapid.SampledFrom([]string{"", "text ", "\n"}).Draw(t, "text"))
			source.WriteString("{{" + rapid.SampledFrom(values).Draw(t, "value"))
			for range rapid.IntRange(0, 2).Draw(t, "stages") {
				source.WriteString(" | " + rapid.SampledFrom(functions).Draw(t, "function"))
			}
			source.WriteString("}}")
		}
		a := rapid.SampledFrom([]string{`"text"`, `null`, `1`, `2.50`, `true`, `[1]`}).Draw(t, "a")
		in := Input{
			Data: json.RawMessage(`{"a":` + a + `,"b":{"c":"<deep>"},"l":["x",3],"n":1}`),
			User: tidings.User{ID: "u_1"}, At: time.Unix(0, 0),
		}
		// An assignment keeps a template from the short way and changes nothing else.
		short, long := compiled(t, source.String()), compiled(t, source.String()+"{{$x := 1}}")
		if _, ok := short.exec.(direct); !ok {
			t.Fatalf("%s does not take the short way", source.String())
		}
		if _, ok := long.exec.(direct); ok {
			t.Fatal("the long way is short")
		}
		x, failure := short.render(newScope(&in, "en"), maxOutput)
		y, other := long.render(newScope(&in, "en"), maxOutput)
		if x != y || told(short, failure) != told(long, other) {
			t.Fatalf("%s\nshort: %q %s\nlong:  %q %s", source.String(), x, told(short, failure), y, told(long, other))
		}
	})
}

func compiled(t *rapid.T, source string) *piece {
	p, wrong := compile(source, false)
	if len(wrong) > 0 {
		t.Fatalf("%s: %v", source, wrong)
	}
	p.line = 1
	return p
}

func told(p *piece, err error) string {
	if err == nil {
		return ""
	}
	e := p.explain(err).(*RenderError)
	return e.Code + e.Pointer + e.Detail
}

func TestNumbersCompareAsExactFractionsDo(t *testing.T) {
	digits := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := digits.Draw(t, "a"), digits.Draw(t, "b")
		if rapid.Bool().Draw(t, "near") { // the same digits with one more at the end
			b = strings.Replace(a, ".", "0.", 1)
		}
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got := number(a).compare(number(b)); got != x.Cmp(y) {
			t.Fatalf("%s against %s: %d, want %d", a, b, got, x.Cmp(y))
		}
		if number(a).zero() != (x.Sign() == 0) {
			t.Fatalf("%s is zero: %t", a, number(a).zero())
		}
	})
}

func TestNumbersBeyondAllBoundsStillCompare(t *testing.T) {
	for _, c := range []struct {
		a, b number
		want int
	}{
		{"1e999999999999999999999", "1", 1},
		{"-1e999999999999999999999", "1", -1},
		{"1e-999999999999999999999", "0", 1},
		{"0e999999999999999999999", "0", 0},
		{"-0", "0", 0},
	} {
		if got := c.a.compare(c.b); got != c.want {
			t.Errorf("%s against %s: %d", c.a, c.b, got)
		}
	}
}

func TestPushSizeIsThatOfTheJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonSize(s); strings.ToValidUTF8(s, "") == s && got != len(b)-2 {
			t.Fatalf("%q: %d, want %d", s, got, len(b)-2)
		}
	})
}
