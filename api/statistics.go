package api

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/wire"
	"tidings/internal/store"
)

const (
	// statisticsDays is how many days one answer may be about.
	statisticsDays = 400
	// statisticsSpan is how many days it is about unless told.
	statisticsSpan = 30
)

var statisticsParameters = []parameter{
	{"since", "Accepted on this day or later, such as 2026-11-01; 30 days before until unless told."},
	{"until", "Accepted before this day, in UTC; tomorrow unless told. At most 400 days after since."},
	{"channel", "On this channel."}, {"provider", "Whose last attempt was by this provider."},
	{"category", "Of this category."}, {"status", "With this status."},
}

// shownStatuses are the statuses of deliveries as people are told them.
func shownStatuses() []tidings.Status {
	return []tidings.Status{tidings.Queued, tidings.Sending, tidings.Retrying, tidings.Unknown, tidings.Sent, tidings.Delivered, tidings.Bounced,
		tidings.Failed, tidings.Expired, tidings.Cancelled, tidings.Suppressed, tidings.Dead}
}

func (s *service) statistics(c *call) (*answer, error) {
	if err := c.onlyQuery(); err != nil {
		return nil, err
	}
	f, err := statisticsFilter(c.URL.Query(), c.now)
	if err != nil {
		return nil, err
	}
	found, err := s.Store.Statistics(c.Context(), f, c.now)
	if errors.Is(err, store.ErrTooMuch) {
		return nil, problem.New(problem.NotReady, "the detail of so many days takes too long to count: ask for fewer of them").Retry(time.Minute)
	}
	if err != nil {
		return nil, err
	}
	out := wire.Statistics{Data: make([]wire.Statistic, len(found))}
	for i, d := range found {
		out.Data[i] = wire.Statistic{Day: dateOf(d.Day).Format(time.DateOnly), Channel: d.Channel, Provider: d.Provider,
			Category: d.Category, Status: d.Status, Deliveries: d.Deliveries}
	}
	return ok(out), nil
}

func statisticsFilter(q url.Values, now time.Time) (store.StatisticsFilter, error) {
	f := store.StatisticsFilter{Channel: tidings.Channel(q.Get("channel")), Provider: q.Get("provider"),
		Category: q.Get("category"), Status: tidings.Status(q.Get("status"))}
	if err := names(q, "provider", "category"); err != nil {
		return f, err
	}
	if err := oneOf(q, "channel", tidings.Channels()); err != nil {
		return f, err
	}
	if err := oneOf(q, "status", shownStatuses()); err != nil {
		return f, err
	}
	var err error
	if f.Until, err = day(q, "until", dayOf(now)+1); err != nil {
		return f, err
	}
	if f.Since, err = day(q, "since", max(0, f.Until-statisticsSpan)); err != nil {
		return f, err
	}
	switch {
	case f.Since >= f.Until:
		return f, invalid("/until", "must be after since: it is not included")
	case f.Until-f.Since > statisticsDays:
		return f, invalid("/since", fmt.Sprintf("must be at most %d days before until", statisticsDays))
	}
	return f, nil
}

// day reads a date as a number of days since 1970.
func day(q url.Values, name string, unless int64) (int64, error) {
	if !q.Has(name) {
		return unless, nil
	}
	t, err := time.Parse(time.DateOnly, q.Get(name))
	if err != nil || t.Unix() < 0 {
		return 0, invalid(pointer(name), "must be a day since 1970, such as 2026-12-01")
	}
	return dayOf(t), nil
}

func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

func dateOf(day int64) time.Time { return time.Unix(day*24*60*60, 0).UTC() }
