package arch

import (
	"os"
	"testing"
)

func TestTheTreeKeepsEveryRule(t *testing.T) {
	tree, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Packages) < 10 {
		t.Fatalf("found %d packages: this is not the whole tree", len(tree.Packages))
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, v := range rule.Check(tree) {
				t.Errorf("%s\n\t(%s)", v, rule.Reason)
			}
		})
	}
}
