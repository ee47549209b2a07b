package sms_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tidings/channels/sms"
)

func TestSegmentsAtEachBorder(t *testing.T) {
	a, e := strings.Repeat, "€"
	for _, c := range []struct {
		why, text string
		want      sms.Size
	}{
		{"nothing", "", sms.Size{Encoding: sms.GSM7}},
		{"one character", "a", sms.Size{Encoding: sms.GSM7, Units: 1, Segments: 1}},
		{"the most of one segment", a("a", 160), sms.Size{Encoding: sms.GSM7, Units: 160, Segments: 1}},
		{"one more makes two, of 153 each", a("a", 161), sms.Size{Encoding: sms.GSM7, Units: 161, Segments: 2}},
		{"the most of two", a("a", 306), sms.Size{Encoding: sms.GSM7, Units: 306, Segments: 2}},
		{"one more makes three", a("a", 307), sms.Size{Encoding: sms.GSM7, Units: 307, Segments: 3}},
		{"the most of ten", a("a", 1530), sms.Size{Encoding: sms.GSM7, Units: 1530, Segments: 10}},
		{"one more makes eleven", a("a", 1531), sms.Size{Encoding: sms.GSM7, Units: 1531, Segments: 11}},
		{"letters of other alphabets in GSM-7", "ÄÖÜäöüßñàèéÇΩ@£¥§¿¡\n\r", sms.Size{Encoding: sms.GSM7, Units: 21, Segments: 1}},
		{"the extension takes two units", "^{}\\[~]|€\f", sms.Size{Encoding: sms.GSM7, Units: 20, Segments: 1}},
		{"extension characters fill one segment", a(e, 80), sms.Size{Encoding: sms.GSM7, Units: 160, Segments: 1}},
		{"one unit too much through the extension", a("a", 159) + e, sms.Size{Encoding: sms.GSM7, Units: 161, Segments: 2}},
		{"an escape is not cut from its character", a("a", 152) + e + a("a", 152), sms.Size{Encoding: sms.GSM7, Units: 306, Segments: 3}},
		{"without the cut the same units take two", a("a", 151) + e + a("a", 153), sms.Size{Encoding: sms.GSM7, Units: 306, Segments: 2}},
		{"a small c with a cedilla is not in GSM-7", "ç", sms.Size{Encoding: sms.UCS2, Units: 1, Segments: 1}},
		{"a backtick is not in GSM-7", "`", sms.Size{Encoding: sms.UCS2, Units: 1, Segments: 1}},
		{"the extension takes one unit of UCS-2", "ж" + a(e, 69), sms.Size{Encoding: sms.UCS2, Units: 70, Segments: 1}},
		{"the most of one segment in UCS-2", a("ж", 70), sms.Size{Encoding: sms.UCS2, Units: 70, Segments: 1}},
		{"one more makes two, of 67 each", a("ж", 71), sms.Size{Encoding: sms.UCS2, Units: 71, Segments: 2}},
		{"the most of two in UCS-2", a("ж", 134), sms.Size{Encoding: sms.UCS2, Units: 134, Segments: 2}},
		{"one more makes three in UCS-2", a("ж", 135), sms.Size{Encoding: sms.UCS2, Units: 135, Segments: 3}},
		{"the most of ten in UCS-2", a("ж", 670), sms.Size{Encoding: sms.UCS2, Units: 670, Segments: 10}},
		{"an emoji takes two units", a("📦", 35), sms.Size{Encoding: sms.UCS2, Units: 70, Segments: 1}},
		{"a pair is not cut", a("ж", 66) + "📦" + a("ж", 66), sms.Size{Encoding: sms.UCS2, Units: 134, Segments: 3}},
		{"one smart quote makes all of it UCS-2", a("a", 159) + "’", sms.Size{Encoding: sms.UCS2, Units: 160, Segments: 3}},
		{"what is no UTF-8 counts as one strange character", "a\xff", sms.Size{Encoding: sms.UCS2, Units: 2, Segments: 1}},
	} {
		if got := sms.Measure(c.text); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.why, got, c.want)
		}
	}
}

func TestMoreTextNeverTakesLessAir(t *testing.T) {
	alphabet := rapid.SampledFrom([]rune("ab é€{ж📦"))
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(alphabet, 0, 400).Draw(t, "text"))
		size, more := sms.Measure(text), sms.Measure(text+string(alphabet.Draw(t, "more")))
		joined := map[sms.Encoding]int{sms.GSM7: 153, sms.UCS2: 67}[size.Encoding]
		if least := (size.Units + joined - 1) / joined; size.Segments > 1 && size.Segments < least {
			t.Fatalf("%+v: less than %d segments", size, least)
		}
		if more.Encoding == size.Encoding && (more.Units <= size.Units || more.Segments < size.Segments) {
			t.Fatalf("%+v, and with one more %+v", size, more)
		}
	})
}
