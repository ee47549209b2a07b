package strict_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tidings/api/problem"
	"tidings/api/strict"
)

// order is a request as packages that use this one write them.
type order struct {
	name    string
	urgent  bool
	count   int64
	tags    []string
	data    json.RawMessage
	address address
}

type address struct{ city string }

func (o *order) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		switch name {
		case "name":
			o.name, _ = in.String()
		case "urgent":
			o.urgent, _ = in.Bool()
		case "count":
			o.count, _ = in.Int()
		case "tags":
			o.tags, _ = in.Strings()
		case "data":
			o.data, _ = in.Free(64<<10, 4)
		case "address":
			in.Object(func(name string) bool {
				if name != "city" {
					return false
				}
				o.address.city, _ = in.String()
				return true
			}, "city")
		case "later":
			in.Refuse("comes later")
		default:
			return false
		}
		return true
	}, "name")
}

func TestBrokenJSONIsToldFromBadInput(t *testing.T) {
	deep := strings.Repeat("[", 10001) + strings.Repeat("]", 10001)
	for _, c := range []struct {
		why, body string
		want      problem.Code
	}{
		{"an object", `{"name":"a"}`, ""},
		{"white space around is no trailing byte", " {} \n", ""},
		{"any JSON is JSON", `null`, ""},
		{"repeated names are valid JSON", `{"a":1,"a":2}`, ""},
		{"escaped NUL is valid JSON", `"\u0000"`, ""},
		{"escaped half a pair is valid JSON", `"\ud800"`, ""},
		{"nothing", ``, problem.MalformedJSON},
		{"only space", `  `, problem.MalformedJSON},
		{"cut off", `{"a":`, problem.MalformedJSON},
		{"a second value", `{} {}`, problem.MalformedJSON},
		{"a trailing byte", `{}x`, problem.MalformedJSON},
		{"a trailing comma", `{"a":1,}`, problem.MalformedJSON},
		{"a comment", `{} // x`, problem.MalformedJSON},
		{"a raw NUL", "{\"a\":\"\x00\"}", problem.MalformedJSON},
		{"not UTF-8", "{\"a\":\"\xff\"}", problem.MalformedJSON},
		{"a byte order mark", "\ufeff{}", problem.MalformedJSON},
		{"NaN", `{"a":NaN}`, problem.MalformedJSON},
		{"a leading zero", `{"a":01}`, problem.MalformedJSON},
		{"deeper than anybody means", deep, problem.InvalidInput},
		{"deep and cut off", strings.Repeat("[", 9000), problem.MalformedJSON},
		{"brackets in text do not nest", `["` + strings.Repeat("[", 20000) + `"`, problem.MalformedJSON},
	} {
		t.Run(c.why, func(t *testing.T) {
			var got problem.Code
			if p := strict.Check([]byte(c.body)); p != nil {
				got = p.Code
			}
			if got != c.want {
				t.Errorf("Check = %q, want %q", got, c.want)
			}
		})
	}
}

func TestBadInputIsNamedByItsPlace(t *testing.T) {
	for _, c := range []struct {
		why, body string
		code      problem.Code
		want      []string
	}{
		{"all as it should be", `{"name":"a","urgent":true,"count":2,"tags":["x"],"data":{"k":[1,{"k":1}]},"address":{"city":"b"}}`, "", nil},
		{"no object", `[1]`, problem.InvalidInput, []string{" must be an object"}},
		{"missing", `{}`, problem.InvalidInput, []string{"/name is required"}},
		{"missing further down", `{"name":"a","address":{}}`, problem.InvalidInput, []string{"/address/city is required"}},
		{"unknown", `{"name":"a","x":{"y":1}}`, problem.InvalidInput, []string{"/x is not a known field"}},
		{"unknown further down", `{"name":"a","address":{"city":"b","x":1}}`, problem.InvalidInput, []string{"/address/x is not a known field"}},
		{"pointers are escaped", `{"name":"a","a/b~c":1}`, problem.InvalidInput, []string{"/a~1b~0c is not a known field"}},
		{"given twice", `{"name":"a","name":"b"}`, problem.InvalidInput, []string{"/name is given twice"}},
		{"given twice in another case", `{"name":"a","Name":"b"}`, problem.InvalidInput, []string{`/Name differs from "name" only in case`}},
		{"another case alone is unknown", `{"Name":"b"}`, problem.InvalidInput, []string{"/Name is not a known field", "/name is required"}},
		{"wrong types", `{"name":1,"urgent":"true","count":"2","tags":"x","data":[],"address":"b"}`, problem.InvalidInput, []string{
			"/name must be a string", "/urgent must be true or false", "/count must be a whole number", "/tags must be an array", "/data must be an object", "/address must be an object"}},
		{"null is no string", `{"name":null}`, problem.InvalidInput, []string{"/name must be a string"}},
		{"a fraction is no whole number", `{"name":"a","count":2.0}`, problem.InvalidInput, []string{"/count must be a whole number"}},
		{"more than 64 bits", `{"name":"a","count":9223372036854775808}`, problem.InvalidInput, []string{"/count must be a whole number"}},
		{"a wrong element", `{"name":"a","tags":["x",2,"y"]}`, problem.InvalidInput, []string{"/tags/1 must be a string"}},
		{"NUL", `{"name":"a\u0000b"}`, problem.InvalidInput, []string{"/name must not contain the character NUL"}},
		{"first half of a pair", `{"name":"\ud83d"}`, problem.InvalidInput, []string{"/name must not contain half a surrogate pair"}},
		{"second half of a pair", `{"name":"\ude00x"}`, problem.InvalidInput, []string{"/name must not contain half a surrogate pair"}},
		{"halves the wrong way round", `{"name":"\ude00\ud83d"}`, problem.InvalidInput, []string{"/name must not contain half a surrogate pair"}},
		{"NUL after a good pair", `{"name":"\ud83d\ude00\u0000"}`, problem.InvalidInput, []string{"/name must not contain the character NUL"}},
		{"an escaped backslash is none", `{"name":"\\u0000"}`, "", nil},
		{"repeated in data", `{"name":"a","data":{"k":{"x":1,"x":2}}}`, problem.InvalidInput, []string{"/data/k/x is given twice"}},
		{"repeated in data by another escape", `{"name":"a","data":{"k":1,"\u006b":2}}`, problem.InvalidInput, []string{"/data/k is given twice"}},
		{"data may differ in case", `{"name":"a","data":{"k":1,"K":2}}`, "", nil},
		{"NUL in data", `{"name":"a","data":{"k":["a","\u0000"]}}`, problem.InvalidInput, []string{"/data/k/1 must not contain the character NUL"}},
		{"half a pair in a name of data", `{"name":"a","data":{"\ud800":1}}`, problem.InvalidInput, []string{"/data/\ufffd must not contain half a surrogate pair"}},
		{"data at its depth", `{"name":"a","data":{"a":[[[1]]]}}`, "", nil},
		{"data too deep", `{"name":"a","data":{"a":[[[[]]]]}}`, problem.InvalidInput, []string{"/data/a/0/0/0 must not be nested deeper than 4 levels"}},
		{"what comes later", `{"name":"a","later":{"x":1}}`, problem.NotSupported, []string{"/later comes later"}},
		{"bad input goes before what comes later", `{"later":1}`, problem.InvalidInput, []string{"/later comes later", "/name is required"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := read(t, c.body, &order{})
			if p == nil {
				p = &problem.Problem{}
			}
			var got []string
			for _, e := range p.Errors {
				got = append(got, e.Pointer+" "+e.Detail)
			}
			if p.Code != c.code || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("Read = %s %q\n want %s %q", p.Code, got, c.code, c.want)
			}
		})
	}
}

func TestNoMoreThanTwentyProblemsAreTold(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"name":"a"`)
	for i := range 500 {
		fmt.Fprintf(&body, `,"x%d":1`, i)
	}
	body.WriteString("}")
	p := read(t, body.String(), &order{})
	if len(p.Errors) != 20 || !strings.HasSuffix(p.Detail, "and 499 more") {
		t.Errorf("%d problems, %q", len(p.Errors), p.Detail)
	}
}

func TestWhatIsTakenIsAsSent(t *testing.T) {
	var o order
	if p := read(t, `{"name":"a\ud83d\ude00\n","count":-7,"data": { "n": 9007199254740993, "f": 1.0e3, "t":"<\u00e9>" } }`, &o); p != nil {
		t.Fatal(p)
	}
	if o.name != "a😀\n" || o.count != -7 || string(o.data) != `{"n":9007199254740993,"f":1.0e3,"t":"<\u00e9>"}` {
		t.Errorf("read %+v", o)
	}
}

func TestDataOverItsSizeIsRefused(t *testing.T) {
	fits := fmt.Sprintf(`{"name":"a","data":{"k":"%s"}}`, strings.Repeat("x", 64<<10-8))
	if p := read(t, fits, &order{}); p != nil {
		t.Errorf("64 KiB are refused: %v", p)
	}
	if p := read(t, strings.Replace(fits, "xx", "xxx", 1), &order{}); p == nil || p.Errors[0].Pointer != "/data" {
		t.Errorf("one byte more gives %v", p)
	}
}

func TestCanonicalFormForgetsOrderSpaceAndEscapesOnly(t *testing.T) {
	for _, c := range []struct{ why, a, b string }{
		{"order of members", `{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`},
		{"white space", `{"a":[1,2]}`, "{ \"a\" : [ 1 ,\n2 ] }"},
		{"escapes", `{"a":"\u00e9\/"}`, `{"a":"é/"}`},
	} {
		if a, b := canonical(t, c.a), canonical(t, c.b); a != b {
			t.Errorf("%s: %s and %s differ", c.why, a, b)
		}
	}
	for _, c := range []struct{ why, a, b string }{
		{"numbers as sent", `{"a":1}`, `{"a":1.0}`},
		{"long numbers", `{"a":9007199254740993}`, `{"a":9007199254740992}`},
		{"order of elements", `[1,2]`, `[2,1]`},
		{"types", `{"a":"1"}`, `{"a":1}`},
	} {
		if a, b := canonical(t, c.a), canonical(t, c.b); a == b {
			t.Errorf("%s: %s and %s are the same", c.why, c.a, c.b)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"name":"a","data":{"k":[1,{"x":"\ud83d\ude00"}]}}`, `{"name":"\u0000","tags":[null]}`, `[`, `{"later":1,"x":[[]]}`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := strict.Check(body)
		if p == nil {
			p = strict.Read(body, &order{})
		}
		if p != nil && (p.Code == problem.Internal || p.Status < 400 || p.Detail == "") {
			t.Errorf("%+v", p)
		}
		if p == nil && !json.Valid(body) {
			t.Errorf("accepted what is no JSON: %q", body)
		}
	})
}

func read(t *testing.T, body string, into strict.Reader) *problem.Problem {
	t.Helper()
	if p := strict.Check([]byte(body)); p != nil {
		t.Fatalf("the body of the test is broken: %v", p)
	}
	return strict.Read([]byte(body), into)
}

func canonical(t *testing.T, body string) string {
	t.Helper()
	b, err := strict.Canonical([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
