package app

import (
	"fmt"

	"tidings/internal/config"
)

const (
	// roomToDrain is the part of the disk that new work must leave free: sending what was accepted
	// writes too, and about a kilobyte for each delivery.
	roomToDrain = 64 << 20
	// ofDisk is how small a share of the disk is enough where that is less.
	ofDisk = 20
)

// A disk is where log and lanes keep their files; empty: neither does here.
type disk string

func diskOf(cfg config.Config) disk {
	if cfg.DatabaseURL != "" && cfg.NATSURL != "" {
		return ""
	}
	return disk(cfg.DataDir)
}

// full says that there is only room left to send what was accepted; nil: there is more, or
// nobody can tell.
func (d disk) full() error {
	if d == "" {
		return nil
	}
	free, total, err := space(string(d))
	if err != nil || total == 0 {
		return nil
	}
	if least := min(roomToDrain, total/ofDisk); free < least {
		return fmt.Errorf("%d KiB are free on the disk of data_dir, and %d KiB are kept for what was accepted", free>>10, least>>10)
	}
	return nil
}
