package app

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"

	"tidings/internal/config"
)

func TestAServiceThatListensEverywhereIsReachedOnItsMachine(t *testing.T) {
	for listen, want := range map[string]string{
		":8080": "http://127.0.0.1:8080", "0.0.0.0:8080": "http://127.0.0.1:8080", "[::]:8080": "http://127.0.0.1:8080",
		"127.0.0.1:8080": "http://127.0.0.1:8080", "[::1]:8080": "http://[::1]:8080", "192.0.2.7:80": "http://192.0.2.7:80", "notify.example.test:80": "http://notify.example.test:80",
	} {
		if got := BaseURL(listen); got != want {
			t.Errorf("%s is reached at %s, want %s", listen, got, want)
		}
	}
	for _, listen := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := strings.Cut(strings.TrimPrefix(l.Addr().String(), "[::]"), ":")
		app := App{listener: l}
		for _, got := range []string{app.URL(), publicURL(config.Config{}, l)} {
			if want := "http://127.0.0.1:" + port; got != want {
				t.Errorf("listening on %s it says %s, want %s", listen, got, want)
			}
		}
		if c, err := net.Dial("tcp", strings.TrimPrefix(app.URL(), "http://")); err != nil {
			t.Errorf("listening on %s: %v", listen, err)
		} else {
			_ = c.Close()
		}
		_ = l.Close()
	}
}

func TestAPublicURLWithoutTLSIsWarnedOf(t *testing.T) {
	for public, warned := range map[string]bool{
		"http://notify.example.test": true, "http://192.0.2.7:8080": true, "https://notify.example.test": false,
		"http://127.0.0.1:8080": false, "http://[::1]:8080": false, "http://localhost:8080": false,
	} {
		var log bytes.Buffer
		tellPlain(slog.New(slog.NewTextHandler(&log, nil)), public)
		if got := log.Len() > 0; got != warned {
			t.Errorf("%s: warned %t, want %t", public, got, warned)
		}
	}
}
