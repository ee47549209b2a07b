package playground

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"tidings/channels/simulator"
)

// accepted are the ledger's lines that concern a delivery.
func accepted(ledger, delivery string) ([]simulator.Entry, error) {
	text, err := os.ReadFile(ledger)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	var found []simulator.Entry
	for line := range bytes.Lines(text) {
		var e simulator.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		if e.DeliveryID == delivery {
			found = append(found, e)
		}
	}
	return found, nil
}
