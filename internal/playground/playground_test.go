package playground_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tidings/channels/simulator"
	"tidings/internal/playground"
)

func TestEveryStepOfTheStoryComesOutRight(t *testing.T) {
	var out bytes.Buffer
	err := playground.Run(t.Context(), playground.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", Once: true, JSON: true, Version: "test", Out: &out, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Error(err)
	}
	var steps []string
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var s playground.Step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if !s.OK {
			t.Errorf("%s: %s", s.Step, s.Text)
		}
		steps = append(steps, s.Step)
	}
	if got, want := strings.Join(steps, " "), "retry fallback email dead_token opt_out duplicate trail"; got != want {
		t.Errorf("steps: %s, want %s", got, want)
	}
}

func TestWriteConfigKeepsWhatIsThereUnlessForced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tidings.yaml")
	setup := playground.Setup{File: file, Listen: "127.0.0.1:8080", Providers: []simulator.Provider{
		{Type: "smtp", Lines: []simulator.Line{{Key: "name", Value: "smtp"}, {Key: "type", Value: "smtp"}, {Key: "port", Value: "9006"}}},
	}}
	if err := playground.WriteConfig(setup); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	setup.Listen = "127.0.0.1:9999"
	if err := playground.WriteConfig(setup); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("second writing: %v", err)
	}
	if kept, _ := os.ReadFile(file); !bytes.Equal(first, kept) {
		t.Error("the configuration was changed")
	}
	setup.Force = true
	if err := playground.WriteConfig(setup); err != nil {
		t.Fatal(err)
	}
	if forced, _ := os.ReadFile(file); !strings.Contains(string(forced), "127.0.0.1:9999") {
		t.Errorf("forced: %s", forced)
	}
}
