package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tidings/deploy"
)

// rules make the sample catalogue follow each of the rules for unknown outcomes within a run, and
// leave out the caps, which would leave little to send.
var rules = strings.NewReplacer(
	"  billing:\n    kind: transactional\n", "  billing:\n    kind: transactional\n    on_unknown: {wait_receipt: 3s, then: give_up}\n",
	"  orders:\n    kind: transactional\n", "  orders:\n    kind: transactional\n    on_unknown: {wait_receipt: 3s, then: retry}\n",
	"  security:\n    kind: critical\n", "  security:\n    kind: critical\n    on_unknown: retry\n",
	"    caps: {per_user: 3/24h}\n", "",
)

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
	return os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(rules.Replace(string(text))), 0o600)
}
