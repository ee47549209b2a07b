package api

import (
	"errors"
	"net/http"

	"tidings"
	"tidings/api/problem"
	"tidings/api/wire"
	"tidings/internal/intake"
)

func (s *service) explainRoutes() []route {
	return []route{
		{
			method: http.MethodGet, pattern: "/v1/users/{user_id}/explain", scope: scopeRead, summary: "Explain what a user would get",
			about: "What would become of an event of a type for the user, with every rule, what it looked at and what it said. It is decided by what is stored, without data: " +
				"threads and digest keys are unknown, and nothing is rendered; POST /v1/events with dry_run does both. Nothing changes.",
			query: []parameter{
				{"event", "The event type; required."}, {"at", "The instant (RFC 3339) to decide for, before the year 3000; now unless told. All that is known counts as it stands now, also for an instant in the past: earlier counts are not kept, and the explanation says so."}, {"channel", "Only this channel of the event type."},
			},
			gives:  []reply{{status: http.StatusOK, about: "The decisions, and why.", body: wire.Explained{}}},
			errors: []problem.Code{problem.NotFound, problem.UnknownEventType},
			serve:  s.explain,
		},
		{
			method: http.MethodPost, pattern: "/v1/catalog/replay", scope: scopeAdmin, summary: "Ask what another catalogue would decide otherwise",
			about: "Decides the newest 10,000 notifications since a time again, each for the instant at which it was accepted, by the current catalogue and by the files given, both times " +
				"with what is known of the user today. Limits count only what would have been sent within the replay, the loop brake is not asked on either side, what would have been held is not followed to its release, and the expiry stays as it was. Nothing changes.",
			takes: takes[wire.Replay](replayExample).upTo(maxBatchBody),
			gives: []reply{{status: http.StatusOK, about: "What differs.", body: wire.Replayed{}}},
			serve: s.replayCatalog,
		},
	}
}

func (s *service) explain(c *call) (*answer, error) {
	user, err := c.userID()
	if err != nil {
		return nil, err
	}
	q := c.URL.Query()
	if !q.Has("event") {
		return nil, invalid("/event", "is missing: name the event type")
	}
	if err := names(q, "event"); err != nil {
		return nil, err
	}
	if err := oneOf(q, "channel", tidings.Channels()); err != nil {
		return nil, err
	}
	at, err := instant(q, "at")
	if err != nil {
		return nil, err
	}
	if wire.At(at).Far() {
		return nil, invalid("/at", wire.TooFar)
	}
	a, err := s.Intake.Explain(c.Context(), intake.Question{
		User: user, Type: q.Get("event"), Test: c.caller.Test, Channel: tidings.Channel(q.Get("channel")), At: at,
	})
	var refusal *intake.Refusal
	if errors.As(err, &refusal) {
		return nil, refused(refusal)
	}
	if err != nil {
		return nil, err
	}
	return ok(wire.Explained{
		UserID: user, Type: q.Get("event"), Category: a.Category, Timezone: a.Zone, ZoneFrom: a.ZoneFrom, At: wire.At(a.At), ExpiresAt: wire.At(a.ExpiresAt),
		Channels: wire.Explanations(a.Channels),
	}), nil
}
