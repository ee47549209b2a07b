// Package golden compares what a test made with a file that a person has read.
//
// It promises to write files only when TIDINGS_TEST_GOLDEN is "write", as "make golden" sets it.
// Product code must never import it.
package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// Check compares text with a file below the test's folder, such as "testdata/faults.golden", or
// writes it there.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if os.Getenv("TIDINGS_TEST_GOLDEN") == "write" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run make golden and read the difference\n--- got\n%s\n--- want\n%s", path, got, want)
	}
}
