package templates

import (
	"cmp"
	"strconv"
	"strings"
)

// A number is a JSON number exactly as it was sent; it is never rounded.
type number string

// numberOf is v as a number, if it is one: from the data, or a literal of a template.
func numberOf(v any) (number, bool) {
	switch v := v.(type) {
	case number:
		return v, true
	case int:
		return number(strconv.Itoa(v)), true
	case float64:
		return number(strconv.FormatFloat(v, 'g', -1, 64)), true
	}
	return "", false
}

// zero reports whether the number is zero, however it is written.
func (n number) zero() bool {
	mantissa := string(n)
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		mantissa = mantissa[:i]
	}
	return !strings.ContainsAny(mantissa, "123456789")
}

// compare orders two numbers by value: 1.0 equals 1, and no digit is lost.
func (n number) compare(m number) int {
	a, b := n.decimal(), m.decimal()
	if a.sign() != b.sign() {
		return cmp.Compare(a.sign(), b.sign())
	}
	order := cmp.Compare(a.point, b.point)
	if order == 0 {
		order = strings.Compare(a.digits, b.digits)
	}
	return order * a.sign()
}

// A decimal is 0.DIGITS × 10^point, without zeros at either end of the digits; zero has none.
type decimal struct {
	negative bool
	digits   string
	point    int64
}

// maxExponent stands in for what no data of ours could tell apart anyway.
const maxExponent = 1 << 40

func (n number) decimal() decimal {
	text, d := string(n), decimal{}
	if strings.HasPrefix(text, "-") {
		d.negative, text = true, text[1:]
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		d.point = exponent(text[i+1:])
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := whole + fraction
	significant := strings.TrimLeft(digits, "0")
	d.point += int64(len(whole) - (len(digits) - len(significant)))
	if d.digits = strings.TrimRight(significant, "0"); d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func exponent(text string) int64 {
	e, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && -maxExponent < e && e < maxExponent:
		return e
	case strings.HasPrefix(text, "-"):
		return -maxExponent
	}
	return maxExponent
}
