package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/strict"
	"tidings/api/wire"
)

func TestFieldsAreTakenWithinTheirBounds(t *testing.T) {
	event := func(member string) string { return `{"type":"order.shipped","user":"u_1",` + member + `}` }
	user := func(member string) string { return `{` + member + `}` }
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		why, body string
		into      strict.Reader
		pointer   string // of the problem; "ok": none
	}{
		{"a name of 128", `{"type":"` + long(128) + `","user":"u"}`, &wire.Event{}, "ok"},
		{"a name of 129", `{"type":"` + long(129) + `","user":"u"}`, &wire.Event{}, "/type"},
		{"an empty name", `{"type":"","user":"u"}`, &wire.Event{}, "/type"},
		{"every kind of character of a name", `{"type":"aZ0._:@-","user":"u"}`, &wire.Event{}, "ok"},
		{"a space in a name", `{"type":"a b","user":"u"}`, &wire.Event{}, "/type"},
		{"a letter beyond ASCII in a name", `{"type":"ä","user":"u"}`, &wire.Event{}, "/type"},
		{"a slash in a user's id", `{"type":"a","user":"u/1"}`, &wire.Event{}, "/user"},
		{"a user without id", `{"type":"a","user":{"email":"ann@example.test"}}`, &wire.Event{}, "/user/id"},
		{"a number as user", `{"type":"a","user":4711}`, &wire.Event{}, "/user"},
		{"a bad field of the user", `{"type":"a","user":{"id":"u","phone":"0555"}}`, &wire.Event{}, "/user/phone"},
		{"a dedupe key of 255 bytes", event(`"dedupe_key":"` + long(255) + `"`), &wire.Event{}, "ok"},
		{"a dedupe key of 256 bytes", event(`"dedupe_key":"` + long(256) + `"`), &wire.Event{}, "/dedupe_key"},
		{"bytes count, not characters", event(`"dedupe_key":"` + strings.Repeat("é", 128) + `"`), &wire.Event{}, "/dedupe_key"},
		{"an empty dedupe key", event(`"dedupe_key":""`), &wire.Event{}, "/dedupe_key"},
		{"a collapse key of 256 bytes", event(`"collapse_key":"` + long(256) + `"`), &wire.Event{}, "/collapse_key"},
		{"one channel", event(`"channels":["push"]`), &wire.Event{}, "ok"},
		{"no channel", event(`"channels":[]`), &wire.Event{}, "/channels"},
		{"an unknown channel", event(`"channels":["push","fax"]`), &wire.Event{}, "/channels/1"},
		{"a channel twice", event(`"channels":["push","push"]`), &wire.Event{}, "/channels/1"},
		{"a time in another zone", event(`"send_at":"2026-12-01T09:00:00+01:00"`), &wire.Event{}, "ok"},
		{"a time without zone", event(`"send_at":"2026-12-01T09:00:00"`), &wire.Event{}, "/send_at"},
		{"a time with one digit", event(`"send_at":"2026-12-01T9:00:00Z"`), &wire.Event{}, "/send_at"},
		{"a comma before the fraction", event(`"send_at":"2026-12-01T09:00:00,5Z"`), &wire.Event{}, "/send_at"},
		{"an offset of a day", event(`"send_at":"2026-12-01T09:00:00+24:00"`), &wire.Event{}, "/send_at"},
		{"a day that does not exist", event(`"send_at":"2026-02-30T09:00:00Z"`), &wire.Event{}, "/send_at"},
		{"a time before time", event(`"send_at":"1969-12-01T09:00:00Z"`), &wire.Event{}, "/send_at"},
		{"seconds since 1970", event(`"send_at":1796000000`), &wire.Event{}, "/send_at"},
		{"wall-clock time", event(`"send_at_local":"2026-12-01T09:00"`), &wire.Event{}, "ok"},
		{"wall-clock time with seconds", event(`"send_at_local":"2026-12-01T09:00:30"`), &wire.Event{}, "ok"},
		{"wall-clock time has no zone", event(`"send_at_local":"2026-12-01T09:00Z"`), &wire.Event{}, "/send_at_local"},
		{"wall-clock time has whole seconds", event(`"send_at_local":"2026-12-01T09:00:30.5"`), &wire.Event{}, "/send_at_local"},
		{"wall-clock time beside an instant", event(`"send_at_local":"2026-12-01T09:00","send_at":"2026-12-01T09:00:00Z"`), &wire.Event{}, "/send_at_local"},
		{"the shortest life", event(`"expires_in":"1s"`), &wire.Event{}, "ok"},
		{"too short a life", event(`"expires_in":"999ms"`), &wire.Event{}, "/expires_in"},
		{"the longest life", event(`"expires_in":"720h"`), &wire.Event{}, "ok"},
		{"too long a life", event(`"expires_in":"720h0m1s"`), &wire.Event{}, "/expires_in"},
		{"days are no Go duration", event(`"expires_in":"1d"`), &wire.Event{}, "/expires_in"},
		{"a number is no duration", event(`"expires_in":60`), &wire.Event{}, "/expires_in"},
		{"at with a dry run", event(`"dry_run":true,"at":"2026-12-01T09:00:00Z"`), &wire.Event{}, "ok"},
		{"at without a dry run", event(`"at":"2026-12-01T09:00:00Z"`), &wire.Event{}, "/at"},
		{"data is an object", event(`"data":[]`), &wire.Event{}, "/data"},
		{"data 32 deep", event(`"data":{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`), &wire.Event{}, "ok"},
		{"data 33 deep", event(`"data":{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`), &wire.Event{}, "/data/a" + strings.Repeat("/0", 31)},

		{"nothing known of a user", user(``), &wire.UserChange{}, "ok"},
		{"the id of a user stands in the path", user(`"id":"u"`), &wire.UserChange{}, "/id"},
		{"an e-mail address", user(`"email":"ann.o'neil+x@mail.example.test"`), &wire.UserChange{}, "ok"},
		{"a domain with other letters", user(`"email":"ann@bücher.test"`), &wire.UserChange{}, "ok"},
		{"a domain with letters that none may have", user(`"email":"ann@bü☃⁇cher.test"`), &wire.UserChange{}, "/email"},
		{"other letters before the domain", user(`"email":"änn@example.test"`), &wire.UserChange{}, "/email"},
		{"a dot at the end of a domain", user(`"email":"ann@example.test."`), &wire.UserChange{}, "ok"},
		{"a dot at the end of an address to add", user(`"channel":"email","email":"ann@example.test."`), &wire.NewAddress{}, "ok"},
		{"two dots at the end of a domain", user(`"email":"ann@example.test.."`), &wire.UserChange{}, "/email"},
		{"a host with a dot at its end", user(`"email":"root@localhost."`), &wire.UserChange{}, "/email"},
		{"no e-mail address", user(`"email":""`), &wire.UserChange{}, "/email"},
		{"two e-mail addresses", user(`"email":"a@example.test,b@example.test"`), &wire.UserChange{}, "/email"},
		{"a display name", user(`"email":"Ann <ann@example.test>"`), &wire.UserChange{}, "/email"},
		{"a new header", user(`"email":"ann@example.test\r\nBcc: b@example.test"`), &wire.UserChange{}, "/email"},
		{"a host without dot", user(`"email":"root@localhost"`), &wire.UserChange{}, "/email"},
		{"an address literal", user(`"email":"a@[127.0.0.1]"`), &wire.UserChange{}, "/email"},
		{"two at signs", user(`"email":"a@b@example.test"`), &wire.UserChange{}, "/email"},
		{"dots side by side", user(`"email":"a..b@example.test"`), &wire.UserChange{}, "/email"},
		{"too long a local part", user(`"email":"` + long(65) + `@example.test"`), &wire.UserChange{}, "/email"},
		{"a phone number", user(`"phone":"+15550100"`), &wire.UserChange{}, "ok"},
		{"a phone number without plus", user(`"phone":"15550100"`), &wire.UserChange{}, "/phone"},
		{"a phone number with a leading zero", user(`"phone":"+05550100"`), &wire.UserChange{}, "/phone"},
		{"six digits", user(`"phone":"+155501"`), &wire.UserChange{}, "/phone"},
		{"fifteen digits", user(`"phone":"+155501000000000"`), &wire.UserChange{}, "ok"},
		{"sixteen digits", user(`"phone":"+1555010000000000"`), &wire.UserChange{}, "/phone"},
		{"spaces in a phone number", user(`"phone":"+1 555 0100"`), &wire.UserChange{}, "/phone"},
		{"a zone", user(`"timezone":"America/Argentina/Buenos_Aires"`), &wire.UserChange{}, "ok"},
		{"no zone", user(`"timezone":""`), &wire.UserChange{}, "/timezone"},
		{"the zone of this machine", user(`"timezone":"Local"`), &wire.UserChange{}, "/timezone"},
		{"an offset is no zone", user(`"timezone":"UTC+3"`), &wire.UserChange{}, "/timezone"},
		{"a path", user(`"timezone":"../../etc/passwd"`), &wire.UserChange{}, "/timezone"},
		{"a path to where one stands", user(`"timezone":"./UTC"`), &wire.UserChange{}, "/timezone"},
		{"a path with an empty part", user(`"timezone":"Europe//Berlin"`), &wire.UserChange{}, "/timezone"},
		{"a folder of some systems", user(`"timezone":"posix/Europe/Berlin"`), &wire.UserChange{}, "/timezone"},
		{"a zone with leap seconds", user(`"timezone":"right/UTC"`), &wire.UserChange{}, "/timezone"},
		{"a file of some systems", user(`"timezone":"localtime"`), &wire.UserChange{}, "/timezone"},
		{"the rules behind old names", user(`"timezone":"posixrules"`), &wire.UserChange{}, "/timezone"},
		{"a zone by an offset", user(`"timezone":"Etc/GMT+3"`), &wire.UserChange{}, "ok"},
		{"an absolute path", user(`"timezone":"/etc/localtime"`), &wire.UserChange{}, "/timezone"},
		{"a language", user(`"locale":"de"`), &wire.UserChange{}, "ok"},
		{"a language with country", user(`"locale":"pt-BR"`), &wire.UserChange{}, "ok"},
		{"a locale of C libraries", user(`"locale":"de_DE.UTF-8"`), &wire.UserChange{}, "/locale"},
		{"null is no way to forget", user(`"locale":null`), &wire.UserChange{}, "/locale"},

		{"a token", user(`"channel":"push","provider":"apns","token":"ab"`), &wire.NewAddress{}, "ok"},
		{"a token without provider", user(`"channel":"push","token":"ab"`), &wire.NewAddress{}, "/provider"},
		{"a token of an e-mail address", user(`"channel":"email","email":"a@example.test","token":"ab"`), &wire.NewAddress{}, "/token"},
		{"members before the channel", user(`"phone":"+15550100","channel":"sms"`), &wire.NewAddress{}, "ok"},
		{"no channel", user(`"phone":"+15550100"`), &wire.NewAddress{}, "/channel"},
		{"a channel that comes later", user(`"channel":"webhook","url":"https://example.test/"`), &wire.NewAddress{}, "/channel"},

		{"one event", `{"events":[{}]}`, &wire.Batch{}, "ok"},
		{"no events", `{"events":[]}`, &wire.Batch{}, "/events"},
		{"1000 events", `{"events":[1` + strings.Repeat(",1", 999) + `]}`, &wire.Batch{}, "ok"},
		{"1001 events", `{"events":[1` + strings.Repeat(",1", 1000) + `]}`, &wire.Batch{}, "/events"},
		{"no list of events", `{}`, &wire.Batch{}, "/events"},

		{"a zone can be forgotten", `{"timezone":null,"version":3}`, &wire.PreferencesPatch{}, "ok"},
		{"a choice twice", `{"categories":{"orders":true,"orders":false}}`, &wire.PreferencesPatch{}, "/categories/orders"},

		{"files", `{"files":{"catalog.yaml":"x","a":"y","A":"z"}}`, &wire.CatalogChange{}, "ok"},
		{"a file twice", `{"files":{"a":"y","a":"z"}}`, &wire.CatalogChange{}, "/files/a"},
		{"a file that is no text", `{"files":{"a":{}}}`, &wire.CatalogChange{}, "/files/a"},
		{"a field where none is taken", `{"force":true}`, &wire.Nothing{}, "/force"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if p := strict.Check([]byte(c.body)); p != nil {
				t.Fatalf("the body of the test is broken: %v", p)
			}
			got := "ok"
			if p := strict.Read([]byte(c.body), c.into); p != nil {
				got = p.Errors[0].Pointer
			}
			if got != c.pointer {
				t.Errorf("the problem is at %q, want %q", got, c.pointer)
			}
		})
	}
}

func TestWhatIsNotSupportedSaysSo(t *testing.T) {
	for body, into := range map[string]strict.Reader{
		`{"channel":"inbox"}`:   &wire.NewAddress{},
		`{"channel":"webhook"}`: &wire.NewAddress{},
	} {
		if p := strict.Read([]byte(body), into); p == nil || p.Code != problem.NotSupported {
			t.Errorf("%s gives %v", body, p)
		}
	}
}

func TestTimesAreWrittenInUTCToTheMicrosecond(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, `null`},
		{time.Date(2026, 12, 1, 9, 0, 0, 0, berlin), `"2026-12-01T08:00:00Z"`},
		{time.Date(2026, 12, 1, 9, 0, 0, 123456789, berlin), `"2026-12-01T08:00:00.123456Z"`},
	} {
		b, err := json.Marshal(wire.At(c.at))
		if err != nil || string(b) != c.want {
			t.Errorf("%s is written %s, %v; want %s", c.at, b, err, c.want)
		}
	}
}

func TestAMailboxIsOneAddressWhateverTheCaseOfItsDomain(t *testing.T) {
	var u wire.UserChange
	if p := strict.Read([]byte(`{"email":"Ann@Mail.Example.TEST"}`), &u); p != nil {
		t.Fatal(p)
	}
	if want := wire.Email("Ann@mail.example.test"); u.Email == nil || *u.Email != want {
		t.Errorf("read %v, want %s", u.Email, want)
	}
}

func TestWhatAClientWritesIsWhatTheServiceReads(t *testing.T) {
	email := wire.Email("ann@example.test")
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	sent := wire.Event{Type: "order.shipped", User: wire.UserRef{ID: "u_1", UserFields: wire.UserFields{Email: &email}},
		Data: json.RawMessage(`{"n":9007199254740993}`), DedupeKey: "k", Channels: []tidings.Channel{tidings.Push},
		SendAt: wire.At(at), ExpiresIn: wire.Expiry(time.Hour), CollapseKey: "c", DryRun: true, At: wire.At(at)}
	body, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got wire.Event
	if p := strict.Read(body, &got); p != nil {
		t.Fatalf("%s: %v", body, p)
	}
	again, err := json.Marshal(got)
	if err != nil || string(again) != string(body) {
		t.Errorf("sent %s\nread %s, %v", body, again, err)
	}
}
