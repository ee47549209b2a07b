package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings/channels/simulator"
	"tidings/preferences"
)

var anyURL = regexp.MustCompile(`https?://[^\s"'<>)]+`)

// A letter is a mail as it arrived: its headers, and every link in it.
type letter struct {
	mail.Header
	links []string
}

// letters are the mails that the relay took.
func (w *world) letters() (all []letter) {
	w.t.Helper()
	for line := range bytes.Lines(w.ledger.bytes()) {
		var e simulator.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatal(err)
		}
		if e.Provider == "smtp" {
			all = append(all, w.letter(e.Raw))
		}
	}
	return all
}

func (w *world) letter(raw string) letter {
	w.t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	l := letter{Header: m.Header, links: anyURL.FindAllString(m.Header.Get("List-Unsubscribe"), -1)}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		w.t.Fatal(err)
	}
	for parts := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return l
		}
		if err != nil {
			w.t.Fatal(err)
		}
		var body io.Reader = part
		if part.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			body = quotedprintable.NewReader(part)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			w.t.Fatal(err)
		}
		l.links = append(l.links, anyURL.FindAllString(string(text), -1)...)
	}
}

// fetch asks for a page as a program does that knows nothing of it.
func (w *world) fetch(client *http.Client, method, link string, form url.Values) (int, string) {
	w.t.Helper()
	r, err := http.NewRequest(method, link, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// wishes is all that is stored of what a user wants, with the ledger.
func (w *world) wishes(user string) string {
	w.t.Helper()
	p, u, err := w.app.Store.Preferences(w.t.Context(), user)
	if err != nil {
		w.t.Fatal(err)
	}
	ledger, err := w.app.Store.Consents(w.t.Context(), user, [16]byte{}, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	doc, err := json.Marshal(struct {
		P preferences.Preferences
		U any
		L []preferences.Entry
	}{p, u, ledger})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(doc)
}

func offer(user string) map[string]any {
	return map[string]any{"type": "offer.weekly", "user": user, "channels": []string{"email"}, "data": map[string]any{"headline": "Tins"}}
}

// Programs read mail before people do, and follow all that looks like a link.
func TestAScannerOfMailChangesNothingAndOneClickStopsOneCategory(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		client := &http.Client{Transport: &http.Transport{DialContext: w.net.Dial}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		defer client.CloseIdleConnections()
		for i, locale := range []string{"en", "de"} {
			user := fmt.Sprintf("u_%d", i)
			w.do(http.MethodPut, "/v1/users/"+user, map[string]any{"locale": locale, "email": user + "@example.test", "phone": fmt.Sprintf("+1555012300%d", i)}, nil)
			w.until(w.post(offer(user)), "sent", time.Minute)
			all := w.letters()
			got := all[len(all)-1]
			link := strings.Trim(got.Get("List-Unsubscribe"), "<>")
			if got.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.HasPrefix(link, "http://"+serviceAddress+"/u/") {
				t.Fatalf("headers %v", got.Header)
			}
			ours := slices.DeleteFunc(slices.Clone(got.links), func(l string) bool { return !strings.HasPrefix(l, "http://"+serviceAddress) })
			if len(ours) != 5 { // in the header, and two in each part
				t.Errorf("links %v", got.links)
			}
			before := w.wishes(user)
			for _, l := range ours {
				for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
					if status, _ := w.fetch(client, method, l, nil); status != http.StatusOK {
						t.Errorf("%s %s answers %d", method, l, status)
					}
				}
			}
			if after := w.wishes(user); after != before {
				t.Fatalf("looking changed\n%s into\n%s", before, after)
			}

			for range 2 {
				if status, page := w.fetch(client, http.MethodPost, link, url.Values{"List-Unsubscribe": {"One-Click"}}); status != http.StatusOK {
					t.Fatalf("one click answers %d: %s", status, page)
				}
			}
			w.until(w.post(offer(user)), "suppressed", time.Minute)
			w.until(w.post(map[string]any{"type": "order.shipped", "user": user, "channels": []string{"email"}, "data": map[string]any{"order": "4711", "carrier": "UPS"}}), "sent", time.Minute)
			w.until(w.post(map[string]any{"type": "login.code", "user": user, "data": map[string]any{"code": "482913"}}), "delivered", time.Minute)
		}
	})
}

func TestOnlyMarketingIsStoppedByTheMailProgramItself(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.do(http.MethodPut, "/v1/users/u_1", map[string]any{"email": "ann@example.test"}, nil)
		for i, c := range []struct {
			event        map[string]any
			header, post bool
		}{
			{offer("u_1"), true, true},
			{map[string]any{"type": "order.shipped", "user": "u_1", "channels": []string{"email"}, "data": map[string]any{"order": "4711", "carrier": "UPS"}}, true, false},
			{map[string]any{"type": "security.alert", "user": "u_1", "channels": []string{"email"}, "data": map[string]any{"device": "a phone", "place": "Lisbon"}}, false, false},
		} {
			w.until(w.post(c.event), "sent", time.Minute)
			got := w.letters()[i]
			if header, post := got.Get("List-Unsubscribe") != "", got.Get("List-Unsubscribe-Post") != ""; header != c.header || post != c.post {
				t.Errorf("%v has List-Unsubscribe %t, -Post %t; want %t, %t", c.event["type"], header, post, c.header, c.post)
			}
		}
	})
}
