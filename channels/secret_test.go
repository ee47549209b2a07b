package channels_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"tidings/channels"
)

func TestSecretIsHiddenHoweverItIsPrinted(t *testing.T) {
	secret := channels.Secret("canary")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret)
	text, err := json.Marshal(struct{ S channels.Secret }{secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprint(secret), fmt.Sprintf("%+v %#v %q %s", struct{ S channels.Secret }{secret}, secret, secret, secret), string(text), log.String()} {
		if strings.Contains(shown, "canary") || !strings.Contains(shown, "***") {
			t.Errorf("shown as %s", shown)
		}
	}
}
