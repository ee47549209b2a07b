package links_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/links"
)

var (
	now      = time.Date(2026, 11, 29, 21, 0, 0, 500, time.UTC)
	delivery = tidings.DeliveryOf(tidings.NewNotificationID(now), 3)
)

func signer(t *testing.T, secret byte) *links.Signer {
	t.Helper()
	s, err := links.New([32]byte{secret}, "https://notify.example.test/")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func token(t *testing.T, url, path string) string {
	t.Helper()
	token, ok := strings.CutPrefix(url, "https://notify.example.test"+path)
	if !ok {
		t.Fatalf("%s is not below %s", url, path)
	}
	return token
}

func TestALinkSaysWhatItWasMadeOf(t *testing.T) {
	s := signer(t, 1)
	got, err := s.Open(links.Unsubscribe, token(t, s.Unsubscribe("u_4711", "offers", delivery), "/u/"), now.AddDate(90, 0, 0))
	if want := (links.Link{User: "u_4711", Category: "offers", Ref: string(delivery[:])}); err != nil || got != want || got.Delivery() != delivery {
		t.Errorf("%+v, %v", got, err)
	}
	if old := (links.Link{User: "u_4711", Category: "offers"}); !old.Delivery().IsZero() {
		t.Errorf("a link that names no delivery is of %s", old.Delivery())
	}
	url, expires := s.Preferences("u_4711", now)
	got, err = s.Open(links.Preferences, token(t, url, "/preferences/"), now)
	if want := (links.Link{User: "u_4711", ExpiresAt: expires}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	url, expires = s.Confirm("u_4711", "offers", "v3", now)
	got, err = s.Open(links.Confirm, token(t, url, "/confirm/"), now)
	if want := (links.Link{User: "u_4711", Category: "offers", Ref: "v3", ExpiresAt: expires}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestALinkEndsWhenItSays(t *testing.T) {
	s := signer(t, 1)
	url, expires := s.Preferences("u_4711", now)
	if want := now.Add(links.PreferencesFor).Truncate(time.Second); !expires.Equal(want) {
		t.Errorf("ends %s, want %s", expires, want)
	}
	preferences := token(t, url, "/preferences/")
	if _, err := s.Open(links.Preferences, preferences, expires.Add(-1)); err != nil {
		t.Errorf("before its end: %v", err)
	}
	if l, err := s.Open(links.Preferences, preferences, expires); !errors.Is(err, links.ErrExpired) || l.User != "u_4711" {
		t.Errorf("at its end: %+v, %v", l, err)
	}
}

func TestALinkOpensNothingElse(t *testing.T) {
	s := signer(t, 1)
	unsubscribe := token(t, s.Unsubscribe("u_4711", "offers", delivery), "/u/")
	for _, p := range []links.Purpose{links.Preferences, links.Confirm, "", "other"} {
		if _, err := s.Open(p, unsubscribe, now); !errors.Is(err, links.ErrForged) {
			t.Errorf("for %q: %v", p, err)
		}
	}
	if _, err := signer(t, 2).Open(links.Unsubscribe, unsubscribe, now); !errors.Is(err, links.ErrForged) {
		t.Errorf("with another secret: %v", err)
	}
}

// Every byte that is changed, left out or added spoils a token, also those that base64 would overlook.
func TestNoTokenCanBeChanged(t *testing.T) {
	s := signer(t, 1)
	good := token(t, s.Unsubscribe("u_47112", "offers", delivery), "/u/")
	forged := []string{"", "A", good + "A", good + "=", good[1:], good[:len(good)-1], strings.Repeat("A", 5000), good + "\n", " " + good}
	for i := range good {
		for _, c := range base64Letters {
			if byte(c) != good[i] {
				forged = append(forged, good[:i]+string(c)+good[i+1:])
			}
		}
	}
	for _, token := range forged {
		if l, err := s.Open(links.Unsubscribe, token, now); !errors.Is(err, links.ErrForged) {
			t.Errorf("%q: %+v, %v", token, l, err)
		}
	}
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func TestNoTwoLinksShareTheirToken(t *testing.T) {
	s := signer(t, 1)
	seen := map[string]links.Link{}
	for _, l := range []links.Link{
		{User: "ab", Category: "c"}, {User: "a", Category: "bc"}, {User: "abc"}, {Category: "abc"}, {Ref: "abc"}, {User: "a", Category: "b", Ref: "c"},
		{User: "abc", ExpiresAt: time.Unix(1, 0)}, {User: "abc", ExpiresAt: time.Unix(2, 0)},
	} {
		token := s.Token(links.Unsubscribe, l)
		if other, taken := seen[token]; taken {
			t.Errorf("%+v and %+v", l, other)
		}
		seen[token] = l
		if token != s.Token(links.Unsubscribe, l) {
			t.Errorf("%+v has two tokens", l)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s, err := links.New([32]byte{1}, "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Token(links.Unsubscribe, links.Link{User: "u", Category: "c"}))
	f.Add(base64.RawURLEncoding.EncodeToString(make([]byte, 40)))
	f.Fuzz(func(t *testing.T, token string) {
		if l, err := s.Open(links.Unsubscribe, token, now); err == nil && s.Token(links.Unsubscribe, l) != token {
			t.Errorf("%q opens as %+v, whose token is another", token, l)
		}
	})
}
