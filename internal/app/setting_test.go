package app_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
)

// What shows only at start that it cannot work is told with the line where it stands, as what shows in
// the file itself.
func TestAStartThatASettingPreventsNamesItsLine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bad.pem": "no PEM", "broken/catalog.yaml": "events: [\n", "empty/other.yaml": "a: b\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const apns = "providers:\n  - name: phones\n    type: apns\n    key_id: K\n    team_id: T\n    topic: com.example.phone\n    environment: production\n"
	const smtp = "providers:\n  - name: mail\n    type: smtp\n    host: 127.0.0.1\n    from: Shop <no-reply@example.test>\n"
	for _, c := range []struct {
		why, text string
		line      int
		want      string
	}{
		{"no key", apns + "    key_file: no.p8", 9, "providers.phones.key_file: build apns: read key_file: open " + dir + "/no.p8: no such file"},
		{"no key in the file", apns + "    key_file: bad.pem", 3, "providers.phones: "},
		{"no roots", smtp + "    ca_file: no.pem", 7, "providers.mail.ca_file: open " + dir + "/no.pem: no such file"},
		{"no roots in the file", smtp + "    ca_file: bad.pem", 7, "providers.mail.ca_file: " + dir + "/bad.pem holds no PEM certificate"},
		{"no folder", "catalog: ./nope", 2, "catalog: the folder " + dir + "/nope holds no catalog.yaml"},
		{"no catalogue in the folder", "catalog: ./empty", 2, "catalog: the folder " + dir + "/empty holds no catalog.yaml"},
		{"a catalogue that cannot be read", "catalog: ./broken", 2, "catalog: " + dir + "/broken: catalog.yaml:"},
	} {
		t.Run(c.why, func(t *testing.T) {
			file := filepath.Join(dir, "tidings.yaml")
			if err := os.WriteFile(file, []byte("listen: 127.0.0.1:0\n"+c.text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(file, nil, all.Vendors())
			if err != nil {
				t.Fatal(err)
			}
			a, err := app.New(t.Context(), cfg, app.Settings{Version: "test", Log: slog.New(slog.DiscardHandler), Vendors: all.Vendors()})
			if err == nil {
				_ = a.Shutdown(t.Context())
			}
			if got, where := fmt.Sprint(err), fmt.Sprintf("%s:%d: ", file, c.line); !strings.Contains(got, where+c.want) {
				t.Errorf("got %s\nwant %s%s", got, where, c.want)
			}
		})
	}
}
