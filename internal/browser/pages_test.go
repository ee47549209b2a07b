package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"tidings/internal/links"
)

// What the tests look for on the pages.
const (
	offersByMail = chromedp.CSS(`input[name="kind.offers"][value="email"]`)
	save         = chromedp.CSS(".end button")
	said         = chromedp.CSS(".news[role=status]")
	alarm        = chromedp.CSS(".news[role=alert]")
	undo         = chromedp.CSS(".news button")
)

func TestPeopleChangeSaveReloadAndUndo(t *testing.T) {
	s, browser := newService(t), newBrowser(t)
	for _, scripts := range []bool{true, false} {
		for _, lang := range []string{"en", "de"} {
			t.Run(fmt.Sprintf("%s, scripts %t", lang, scripts), func(t *testing.T) {
				unsubscribe, preferences, _ := s.reader(fmt.Sprintf("u_%s_%t", lang, scripts), lang)
				tab := newTab(t, browser, scripts)
				tab.open(preferences)
				if !tab.checked(offersByMail) {
					t.Fatal("offers by mail are off before anybody said so")
				}
				tab.run(chromedp.Click(offersByMail))
				tab.press(save, said)
				tab.run(chromedp.Reload(), chromedp.WaitVisible(undo))
				if tab.checked(offersByMail) {
					t.Error("what was saved is not there after loading the page again")
				}
				tab.press(undo, said+":not(:has(button))")
				if !tab.checked(offersByMail) {
					t.Error("what was undone is still off")
				}
				tab.open(unsubscribe)
				tab.press("button", "button.second") // which undoes it
				tab.open(preferences)
				if tab.checked(offersByMail) {
					t.Error("unsubscribed, and still on")
				}
				tab.quiet()
			})
		}
	}
}

// A look is a page as it should be looked at.
type look struct {
	name string
	show func(tab *tab)
}

func TestNothingOnThePagesIsInAnybodysWay(t *testing.T) {
	s, browser := newService(t), newBrowser(t)
	for _, lang := range []string{"en", "de"} {
		tab := newTab(t, browser, true)
		tab.speak(lang)
		for _, l := range looks(s, lang) {
			l.show(tab)
			for _, v := range tab.violations() {
				t.Errorf("%s in %s: %s (%s): %s: %+v", l.name, lang, v.ID, v.Impact, v.Help, v.Nodes)
			}
			if got := tab.lang(); got != lang {
				t.Errorf("%s speaks %s, want %s", l.name, got, lang)
			}
			tab.screenshot(l.name + "." + lang)
		}
		tab.quiet()
		tab.run(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
		looks(s, lang)[3].show(tab)
		tab.screenshot("preferences.phone." + lang)
	}
}

func looks(s *service, lang string) []look {
	unsubscribe, preferences, confirm := s.reader("u_"+lang, lang)
	old, _ := s.links.Preferences("u_"+lang, time.Now().Add(-links.PreferencesFor))
	open := func(url string) func(*tab) { return func(tab *tab) { tab.open(url) } }
	return []look{
		{"unsubscribe", open(unsubscribe)},
		{"unsubscribed", func(tab *tab) { tab.open(unsubscribe); tab.press("button", "button.second") }},
		{"unsubscribed-already", open(unsubscribe)},
		{"preferences", open(preferences)},
		{"preferences-saved", func(tab *tab) {
			tab.open(preferences)
			tab.run(chromedp.Click(chromedp.CSS(`input[name="kind.orders"][value="email"]`)))
			tab.press(save, said)
		}},
		{"preferences-unmuted", func(tab *tab) {
			tab.open(preferences)
			tab.run(chromedp.Click(chromedp.CSS(`input[name="hear"]`)))
			tab.press(save, said)
		}},
		{"preferences-wrong", func(tab *tab) {
			tab.open(preferences)
			tab.run(chromedp.Click(chromedp.CSS(`input[name="quiet"]`)), chromedp.SetValue(chromedp.CSS(`input[name="end"]`), "22:00"))
			tab.press(save, alarm)
		}},
		{"preferences-conflict", func(tab *tab) {
			tab.open(preferences)
			tab.run(chromedp.SetValue(chromedp.CSS(`input[name="version"]`), "0"))
			tab.press(save, alarm)
		}},
		{"confirm", open(confirm)},
		{"confirmed", func(tab *tab) { tab.open(confirm); tab.press("button", "main:not(:has(button))") }},
		{"lost", open(unsubscribe + "A")},
		{"expired", open(old)},
	}
}

func TestTheDocumentShowsItself(t *testing.T) {
	s, browser := newService(t), newBrowser(t)
	tab := newTab(t, browser, true)
	tab.open(s.url + "/docs")
	ask(tab, chromedp.Poll[bool](`document.body.innerText.includes("/v1/users/{user_id}/preferences/link")`, chromedp.WithPollingTimeout(patience)))
	for _, v := range tab.violations() {
		if v.Impact == "serious" || v.Impact == "critical" {
			t.Errorf("%s (%s): %s: %+v", v.ID, v.Impact, v.Help, v.Nodes[0])
		}
	}
	if !strings.Contains(tab.text(), "/v1/events") {
		t.Error("the events are not there")
	}
	tab.quiet()
}
