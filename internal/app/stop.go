package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"tidings/workers"
)

// lastRequests is how long requests under way are let end at least, also where calls to providers took all of
// the time to shut down.
const lastRequests = time.Second

// endWorkers stops w. Calls that outlast ctx are cut, which their trails tell: that is no failure.
func endWorkers(w *workers.Workers, log *slog.Logger) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := w.Stop(ctx); err != nil {
			log.Warn("calls to providers outlasted the time to shut down: they are recorded as unknown", "error", err)
		}
		return nil
	}
}

// endHTTP lets requests under way end, and cuts those that take too long.
func endHTTP(server *http.Server, log *slog.Logger) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		left := lastRequests
		if end, ok := ctx.Deadline(); ok {
			left = max(left, time.Until(end))
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), left)
		defer cancel()
		err := server.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn("requests outlasted the time to shut down: they are cut")
			return server.Close()
		}
		return err
	}
}
