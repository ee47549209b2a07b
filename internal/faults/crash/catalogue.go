package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tidings/deploy"
)

// rules make the sample catalogue follow each of the rules for unknown outcomes within a run, leave
// out the caps, which would leave little to send, and close digests early.
var rules = strings.NewReplacer(
	"  billing:\n    kind: transactional\n", "  billing:\n    kind: transactional\n    on_unknown: {wait_receipt: 3s, then: give_up}\n",
	"  orders:\n    kind: transactional\n", "  orders:\n    kind: transactional\n    on_unknown: {wait_receipt: 3s, then: retry}\n",
	"  security:\n    kind: critical\n", "  security:\n    kind: critical\n    on_unknown: retry\n",
	"    caps: {per_user: 3/24h}\n", "",
	"digest: {key: post, window: 10m, max: 50}", "digest: {key: post, window: 3s, max: 10}",
)

// telling shows the mark of each comment that a message tells of.
const telling = "title: \"{{.digest.count}} on {{.data.post}}\"\nbody: \"{{range .digest.items}}#{{.data.text}};{{end}}\"\n"

// writeCatalogue puts the catalogue of the run beside the configuration that will be written.
func writeCatalogue(dir string) error {
	dir = filepath.Join(dir, "catalog")
	if err := os.CopyFS(dir, deploy.Catalogue()); err != nil {
		return fmt.Errorf("write the catalogue: %w", err)
	}
	text, err := fs.ReadFile(deploy.Catalogue(), "catalog.yaml")
	if err != nil {
		return fmt.Errorf("write the catalogue: %w", err)
	}
	for _, locale := range []string{"en", "de"} {
		if err := os.WriteFile(filepath.Join(dir, "templates", commentType, "push."+locale+".yaml"), []byte(telling), 0o600); err != nil {
			return fmt.Errorf("write the catalogue: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(rules.Replace(string(text))), 0o600)
}
