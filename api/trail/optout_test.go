package trail

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

func TestTheSummarySaysWhenTheUserOptedOut(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	line := func(category string, c tidings.Channel, minutes int) preferences.Entry {
		return preferences.Entry{Category: category, Channel: c, Action: preferences.ConsentWithdrawn, At: now.Add(time.Duration(-minutes) * time.Minute)}
	}
	for _, c := range []struct {
		why    string
		reason tidings.Reason
		lines  []preferences.Entry
		want   string
	}{
		{"a category", tidings.ReasonOptedOutCategory, []preferences.Entry{line("orders", "", 58)}, "E-mail was not sent: the user switched off e-mail for orders at 11:02:00 UTC."},
		{"a channel of the category", tidings.ReasonOptedOutCategory, []preferences.Entry{line("orders", "push", 1), line("orders", "email", 3)}, "E-mail was not sent: the user switched off e-mail for orders at 11:57:00 UTC."},
		{"all", tidings.ReasonOptedOutAll, []preferences.Entry{line("", "email", 1), line("", "", 2)}, "E-mail was not sent: the user switched off everything that is not critical at 11:58:00 UTC."},
		{"the channel", tidings.ReasonOptedOutChannel, []preferences.Entry{line("orders", "email", 1), line("", "email", 2)}, "E-mail was not sent: the user switched off e-mail at 11:58:00 UTC."},
		{"what came later is not why", tidings.ReasonOptedOutChannel, []preferences.Entry{line("", "email", -1), line("", "email", 2)}, "E-mail was not sent: the user switched off e-mail at 11:58:00 UTC."},
		{"nobody knows when", tidings.ReasonOptedOutChannel, nil, "E-mail was not sent: the user switched off e-mail."},
	} {
		trail := &store.Trail{OptOuts: c.lines, Notification: tidings.Notification{Category: "orders",
			Decisions: []tidings.Decision{{Channel: tidings.Email, Action: tidings.ActionSuppress, Reason: c.reason, At: now}}}}
		if got := Summary(trail, Service{}, now); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}
