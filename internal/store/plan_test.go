package store

import (
	"slices"
	"strings"
	"testing"
)

func TestNoHotStatementReadsAWholeTable(t *testing.T) {
	s := openSQLiteStore(t)
	may := []string{ // be read from end to end
