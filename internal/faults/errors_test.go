package faults_test

import (
	"testing"

	"tidings/internal/faults"
)

func TestErrorsOfSQLiteAreReal(t *testing.T) {
	all, err := faults.FileErrors(t.TempDir())
	if err != nil || len(all) != 3 {
		t.Fatalf("%d errors, %v", len(all), err)
	}
	for _, e := range all {
		t.Log(e)
	}
}
