package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tidings/channels/all"
	"tidings/internal/config"
)

// untilReady ends a command as soon as it says that it is ready.
type untilReady struct{ end context.CancelFunc }

func (u untilReady) Write(line []byte) (int, error) {
	u.end()
	return len(line), nil
}

// simulateUntilReady runs tidings simulate until all listens, or gives why it was refused.
func simulateUntilReady(t *testing.T, args ...string) error {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	root := newRoot()
	root.SetOut(untilReady{end})
	root.SetArgs(append([]string{"simulate"}, args...))
	return root.ExecuteContext(ctx)
}

// files are the contents of all files below a folder, by path; folders are there with none.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			all[path] = ""
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// changed are the paths of what came, went or has another content.
func changed(before, after map[string]string) []string {
	var paths []string
	for path, text := range after {
		if old, there := before[path]; !there || old != text {
			paths = append(paths, path)
		}
	}
	for path := range before {
		if _, there := after[path]; !there {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestASimulationThatIsRefusedWritesNothing(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "tidings.yaml")
	if err := simulateUntilReady(t, "--listen-base", "0", "--write-config", there); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, lastPort, _ := net.SplitHostPort(taken.Addr().String())
	var port int
	if _, err := fmt.Sscan(lastPort, &port); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	for _, c := range []struct {
		why, want string
		args      []string
	}{
		{"the configuration is there", "--force", []string{"--listen-base", "0", "--write-config", there, "--ledger", filepath.Join(dir, "ledger.jsonl")}},
		{"the control port is taken, and the file may be overwritten", "simulate ",
			[]string{"--listen-base", fmt.Sprint(port - 8), "--write-config", there, "--force"}},
		{"the control port is taken, and all is new", "simulate ",
			[]string{"--listen-base", fmt.Sprint(port - 8), "--write-config", filepath.Join(dir, "new", "other.yaml")}},
	} {
		if err := simulateUntilReady(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
		for _, path := range changed(before, files(t, dir)) {
			t.Errorf("%s: %s has changed", c.why, path)
		}
	}
}

func TestTwoConfigurationsInOneFolderHaveCredentialsOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	names := []string{"tidings.yaml", "other.yaml", "other.yml", "other"}
	var before map[string]string
	for _, name := range names {
		if err := simulateUntilReady(t, "--listen-base", "0", "--write-config", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		after := files(t, dir)
		for _, path := range changed(before, after) {
			if _, there := before[path]; there {
				t.Errorf("%s changed %s", name, path)
			}
		}
		before = after
	}
	for _, name := range names {
		if _, err := config.Load(filepath.Join(dir, name), nil, all.Vendors()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := simulateUntilReady(t, "--listen-base", "0", "--write-config", filepath.Join(dir, "other.yaml"), "--force"); err != nil {
		t.Fatal(err)
	}
	after := files(t, dir)
	for _, kept := range []string{"tidings.yaml", "simulated/fcm.json", "simulated/ca.pem", "other.yaml.simulated/ca.pem", "other.yaml.simulated/fcm.key"} {
		path := filepath.Join(dir, kept)
		if text, there := before[path]; !there || after[path] != text {
			t.Errorf("%s: there %t, and changed by a second run of another", kept, there)
		}
	}
}
