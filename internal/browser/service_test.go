package browser_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/client"
	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/links"
)

// A service is the whole service on a port of this machine, without providers.
type service struct {
	t     *testing.T
	api   *client.Client
	links *links.Signer
	url   string
}

// news is a category beside those of the sample, which asks twice.
const news = "categories:\n  news:\n    kind: marketing\n    consent: double_opt_in\n    title: {en: Newsletter, de: Rundbrief}\n"

func newService(t *testing.T) *service {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tidings.yaml")
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, nil, all.Vendors())
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, app.Settings{Version: "test", Log: slog.New(slog.DiscardHandler), Vendors: all.Vendors()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	secret, err := app.LoadSecret(cfg.SecretFile)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, url: a.URL()}
	if s.links, err = links.New(secret, a.URL()); err != nil {
		t.Fatal(err)
	}
	key, word, err := app.NewKey("shop", []string{"all"}, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Store.CreateKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	s.api = client.New(a.URL(), key.ID, word)
	t.Cleanup(s.api.CloseIdleConnections)
	s.addNews()
	return s
}

// addNews publishes the sample with one more category.
func (s *service) addNews() {
	s.t.Helper()
	var catalogue struct {
		Files map[string]string `json:"files"`
	}
	s.do(http.MethodGet, "/v1/catalog", nil, &catalogue)
	yaml := strings.Replace(catalogue.Files["catalog.yaml"], "categories:\n", news, 1)
	catalogue.Files["catalog.yaml"] = strings.Replace(yaml, "events:\n", "events:\n  news.monthly:\n    category: news\n    channels: [sms]\n", 1)
	catalogue.Files["templates/news.monthly/sms.en.txt"] = "News"
	s.do(http.MethodPut, "/v1/catalog", catalogue, nil)
}

func (s *service) do(method, path string, in, out any) {
	s.t.Helper()
	if err := s.api.Do(context.Background(), method, path, in, out); err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// reader makes a user who speaks a language, and gives the links to their pages.
func (s *service) reader(id, locale string) (unsubscribe, preferences, confirm string) {
	s.t.Helper()
	s.do(http.MethodPut, "/v1/users/"+id, map[string]any{"locale": locale, "timezone": "Europe/Berlin", "email": id + "@example.test"}, nil)
	muted := map[string]any{"threads": map[string]any{"social": map[string]any{"Bread without kneading": false}}}
	s.do(http.MethodPatch, "/v1/users/"+id+"/preferences", muted, nil)
	var link struct {
		URL string `json:"url"`
	}
	s.do(http.MethodGet, "/v1/users/"+id+"/preferences/link", nil, &link)
	var asked struct {
		URL string `json:"confirm_url"`
	}
	s.do(http.MethodPost, "/v1/users/"+id+"/consents", map[string]any{"category": "news", "action": "give", "wording": "Send me the newsletter", "version": "1"}, &asked)
	return s.links.Unsubscribe(id, "offers", tidings.DeliveryID{}), link.URL, asked.URL
}
