package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tidings/internal/app"
)

func TestAKeyIsMadeOnlyForANameThatTheAPITakes(t *testing.T) {
	for _, c := range []struct {
		why, app string
		scopes   []string
		ok       bool
	}{
		{"a name", "shop.de-1", []string{"send"}, true},
		{"128 characters", strings.Repeat("a", 128), []string{"all"}, true},
		{"129 characters", strings.Repeat("a", 129), []string{"all"}, false},
		{"a space, by which lists cannot be filtered", "a b", []string{"all"}, false},
		{"no name", "", []string{"all"}, false},
		{"no scope", "shop", nil, false},
		{"a scope that does not exist", "shop", []string{"write"}, false},
		{"an unknown scope beside all", "shop", []string{"all", "write"}, false},
	} {
		if _, _, err := app.NewKey(c.app, c.scopes, false, time.Now()); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	key, _, err := app.NewKey("shop", []string{"send", "send"}, false, time.Now())
	if err != nil || !slices.Equal(key.Scopes, []string{"send"}) {
		t.Errorf("a scope named twice makes %v, %v", key.Scopes, err)
	}
}
