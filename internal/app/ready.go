package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// maxSkew is how far the clocks of this process and the database may be apart.
const maxSkew = 2 * time.Second

// ready says what keeps this process from accepting, storing and passing on: in words without
// anything of the error in them, since everybody may ask, and as the error.
func (a *App) ready(ctx context.Context) (about string, err error) {
	if a.draining.Load() {
		return "the service is shutting down", errors.New("shutting down")
	}
	if err := a.door.Full(); err != nil {
		return "the disk is nearly full", fmt.Errorf("disk: %w", err)
	}
	if err := a.Store.Ping(ctx); err != nil {
		return "the log cannot be written", fmt.Errorf("log: %w", err)
	}
	skew, err := a.Store.Skew(ctx)
	if err != nil {
		return "the log cannot be read", fmt.Errorf("clock: %w", err)
	}
	if skew.Abs() > maxSkew {
		return "the clock differs from the database's by " + skew.Abs().Round(time.Second).String(), fmt.Errorf("clock: %v off the database's", skew)
	}
	if err := a.Lanes.Healthy(ctx); err != nil {
		return "the broker does not store; events are accepted and wait in the log", fmt.Errorf("broker: %w", err)
	}
	return "", nil
}
