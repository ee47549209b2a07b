package app

import (
	"math"
	"time"

	"golang.org/x/time/rate"

	"tidings/internal/config"
)

// quotas are the rates at which apps may post, each in this process.
type quotas map[string]*rate.Limiter

func newQuotas(apps map[string]config.App) quotas {
	q := quotas{}
	for name, a := range apps {
		if a.RatePerSecond <= 0 {
			continue
		}
		burst := a.Burst
		if burst == 0 {
			burst = int(math.Ceil(a.RatePerSecond))
		}
		q[name] = rate.NewLimiter(rate.Limit(a.RatePerSecond), burst)
	}
	return q
}

// take takes one event of the app's quota, or says how long to wait for the next.
func (q quotas) take(app string, now time.Time) time.Duration {
	limiter := q[app]
	if limiter == nil || limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return max(time.Millisecond, time.Duration(missing/float64(limiter.Limit())*float64(time.Second)))
}
