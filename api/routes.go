package api

import (
	"net/http"
	"slices"

	"tidings/api/problem"
	"tidings/api/wire"
)

// routes is every call that the service answers. What is not here is not found.
func (s *service) routes() []route {
	if s.ProbesOnly {
		return s.probeRoutes()
	}
	return slices.Concat(s.eventRoutes(), s.userRoutes(), s.explainRoutes(), s.operatorRoutes(), s.pageRoutes(), s.openRoutes(), s.probeRoutes())
}

func (s *service) eventRoutes() []route {
	return []route{
		{
			method: http.MethodPost, pattern: "/v1/events", scope: scopeSend, grows: true, summary: "Post one event",
			about: "Answers once the notification is durable. The same dedupe_key again gives the first notification; with another request it is a conflict. " +
				"While a lane that the event goes to has no room, the event is refused as a whole: 503 lane_full when the lane is full, 429 quota_exceeded when the app has its quota or its share of the lane. " +
				"Retry-After says when there should be room; posts under a dedupe_key that was accepted are answered all the same.",
			takes: takes[wire.Event](eventExample),
			gives: []reply{
				{status: http.StatusAccepted, about: "Accepted; Location says where its trail is.", body: wire.Posted{}},
				{status: http.StatusOK, about: "A duplicate (with Idempotency-Replayed: true), or the result of a dry run.", body: wire.Posted{}},
			},
			errors: []problem.Code{problem.UnknownEventType, problem.MissingData, problem.TemplateError, problem.ContentTooLarge, problem.NotSupported, problem.DedupeConflict, problem.QuotaExceeded, problem.LaneFull, problem.NotReady},
			serve:  s.postEvent,
		},
		{
			method: http.MethodPost, pattern: "/v1/events/batch", scope: scopeSend, grows: true, summary: "Post many events",
			about:  "Each event stands for itself: one that is refused does not fail the others; retry_after_seconds says when to post it again. A dedupe_key repeated in one batch: the first wins.",
			takes:  takes[wire.Batch](batchExample).upTo(maxBatchBody),
			gives:  []reply{{status: http.StatusOK, about: "What became of each event.", body: wire.BatchResults{}}},
			errors: []problem.Code{problem.NotReady},
			serve:  s.postBatch,
		},
		{
			method: http.MethodGet, pattern: "/v1/notifications", scope: scopeRead, summary: "List notifications",
			about: "Newest first. Keys without operate or admin see those of their own app. One request looks at 10,000 notifications at most, so a page may be short, or empty, and " +
				"yet have a next_cursor: go on until there is none. A dedupe_key is found at once while it counts.",
			query: listParameters,
			gives: []reply{{status: http.StatusOK, about: "A page.", body: wire.Page{}}},
			serve: s.listNotifications,
		},
		{
			method: http.MethodGet, pattern: "/v1/notifications/{id}", scope: scopeRead, summary: "Read the trail of a notification",
			gives:  []reply{{status: http.StatusOK, about: "All that is known of it.", body: wire.Trail{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.readTrail,
		},
		{
			method: http.MethodPost, pattern: "/v1/notifications/{id}/cancel", scope: scopeSend, summary: "Cancel a notification",
			about:  "Ends what waits, and dead letters for good. What is being sent is not tried again. A repeated cancel answers the same. What a newer event or an erasure called off leaves nothing to cancel.",
			takes:  takes[wire.Nothing](`{}`).maybe(),
			gives:  []reply{{status: http.StatusOK, about: "What was called off, and what was too late.", body: wire.Cancelled{}}},
			errors: []problem.Code{problem.NotFound, problem.NothingToCancel},
			serve:  s.cancel,
		},
	}
}

func (s *service) userRoutes() []route {
	user := wire.User{}
	return []route{
		{
			method: http.MethodPut, pattern: "/v1/users/{user_id}", scope: scopeUsers, grows: true, summary: "Make or replace a user",
			about: "What the body leaves out goes away; an e-mail or phone that goes away retires its address.",
			takes: takes[wire.UserChange](userExample),
			gives: []reply{{status: http.StatusOK, about: "The user.", body: user}},
			serve: s.putUser,
		},
		{
			method: http.MethodGet, pattern: "/v1/users/{user_id}", scope: scopeUsers, summary: "Read a user",
			gives:  []reply{{status: http.StatusOK, about: "The user.", body: user}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.getUser,
		},
		{
			method: http.MethodDelete, pattern: "/v1/users/{user_id}", scope: scopeUsers, summary: "Erase a user",
			about:  "Deletes the person and what notifications told; what is not sent yet is called off, dead letters too, and nothing of theirs is redriven. Trails stay, under a pseudonym in place of the user's id.",
			gives:  []reply{{status: http.StatusNoContent, about: "Erased."}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.eraseUser,
		},
		{
			method: http.MethodGet, pattern: "/v1/users/{user_id}/export", scope: scopeUsers, summary: "Export everything held about a user",
			gives:  []reply{{status: http.StatusOK, about: "Everything, with addresses in the clear.", body: wire.Export{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.exportUser,
		},
		{
			method: http.MethodPost, pattern: "/v1/users/{user_id}/addresses", scope: scopeUsers, grows: true, summary: "Register an address",
			about: "The same value again refreshes it; a token that another user holds moves.",
			takes: takes[wire.NewAddress](addressExample),
			gives: []reply{
				{status: http.StatusCreated, about: "Registered.", body: wire.Address{}},
				{status: http.StatusOK, about: "The user had it already; it is active again.", body: wire.Address{}},
			},
			errors: []problem.Code{problem.NotSupported},
			serve:  s.registerAddress,
		},
		{
			method: http.MethodGet, pattern: "/v1/users/{user_id}/addresses", scope: scopeUsers, summary: "List addresses",
			about:  "Newest first, retired ones too.",
			query:  pageParameters(),
			gives:  []reply{{status: http.StatusOK, about: "A page.", body: wire.Addresses{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.listAddresses,
		},
		{
			method: http.MethodDelete, pattern: "/v1/users/{user_id}/addresses/{address_id}", scope: scopeUsers, summary: "Retire an address",
			gives:  []reply{{status: http.StatusNoContent, about: "Retired."}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.retireAddress,
		},
		{
			method: http.MethodGet, pattern: "/v1/users/{user_id}/preferences", scope: scopeUsers, summary: "Read what a user wants",
			gives:  []reply{{status: http.StatusOK, about: "With the version in the ETag.", body: wire.Preferences{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.getPreferences,
		},
		{
			method: http.MethodPatch, pattern: "/v1/users/{user_id}/preferences", scope: scopeUsers, summary: "Change what a user wants",
			about: "A JSON merge patch. With a version in the body or in If-Match, only that version is changed; without, the last write wins. " +
				"An unknown user is made, since a wish must not be lost because it came before anything else was known.",
			takes:  takes[wire.PreferencesPatch](preferencesExample).as(mediaMerge, mediaJSON),
			gives:  []reply{{status: http.StatusOK, about: "As they are now.", body: wire.PatchedPreferences{}}},
			errors: []problem.Code{problem.VersionConflict, problem.CategoryCritical, problem.NotSupported},
			serve:  s.patchPreferences,
		},
		{
			method: http.MethodPost, pattern: "/v1/users/{user_id}/consents", scope: scopeUsers, grows: true, summary: "Record a consent",
			about: "What a person answered when they were asked, in which words: it changes their preferences and goes into the ledger, which is only added to. " +
				"In a category with double_opt_in it is asked until the person opens confirm_url, within 7 days, for the channels that it covers; asked for anew, only the newest link confirms them. What was confirmed before goes on meanwhile. " +
				"Changes of preferences go into the ledger by themselves. An unknown user is made: an answer must not be lost.",
			takes:  takes[wire.ConsentChange](consentExample),
			gives:  []reply{{status: http.StatusCreated, about: "The line of the ledger.", body: wire.Consent{}}},
			errors: []problem.Code{problem.CategoryCritical},
			serve:  s.addConsent,
		},
		{
			method: http.MethodGet, pattern: "/v1/users/{user_id}/consents", scope: scopeUsers, summary: "List the consents of a user",
			about:  "The ledger, newest first: each opt-in and opt-out, each thread that was muted and each change of quiet hours, time zone and language, by which way it came and whose key it was.",
			query:  pageParameters(),
			gives:  []reply{{status: http.StatusOK, about: "A page.", body: wire.Consents{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.listConsents,
		},
		{
			method: http.MethodGet, pattern: "/v1/users/{user_id}/preferences/link", scope: scopeUsers, summary: "Link to a user's preference page",
			about:  "Who has the link sees and changes the preferences without signing in, until it expires: hand it to the user alone.",
			gives:  []reply{{status: http.StatusOK, about: "The link.", body: wire.Link{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.preferencesLink,
		},
	}
}

func (s *service) operatorRoutes() []route {
	return []route{
		{
			method: http.MethodGet, pattern: "/v1/catalog", scope: scopeAdmin, summary: "Read the catalogue",
			gives:  []reply{{status: http.StatusOK, about: "The current version.", body: wire.Catalog{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.getCatalog,
		},
		{
			method: http.MethodPut, pattern: "/v1/catalog", scope: scopeAdmin, grows: true, summary: "Publish a catalogue",
			about:  "All files of the catalogue, as GET shows them. Those of the current version give that version; those of an older one become a new version.",
			takes:  takes[wire.CatalogChange](catalogExample).upTo(maxBatchBody),
			gives:  []reply{{status: http.StatusOK, about: "The version that holds from now on.", body: wire.Catalog{}}},
			errors: []problem.Code{problem.VersionConflict},
			serve:  s.putCatalog,
		},
		{
			method: http.MethodGet, pattern: "/v1/lanes", scope: scopeOperate, summary: "See how the lanes stand",
			gives: []reply{{status: http.StatusOK, about: "All lanes.", body: wire.Lanes{}}},
			serve: s.listLanes,
		},
		{
			method: http.MethodPatch, pattern: "/v1/lanes/{lane}", scope: scopeOperate, summary: "Set the rate of a lane",
			about:  "Counts within a second, while the lane runs. The processes share it; null lets it run as fast as its providers take.",
			takes:  takes[wire.LaneChange](laneExample).as(mediaMerge, mediaJSON),
			gives:  []reply{{status: http.StatusOK, about: "The lane.", body: wire.Lane{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.patchLane,
		},
		{
			method: http.MethodPost, pattern: "/v1/lanes/{lane}/pause", scope: scopeOperate, summary: "Pause a lane",
			about:  "What is being sent ends; nothing more is sent until it is resumed. Posts are still accepted, up to its limit.",
			takes:  takes[wire.Nothing](`{}`).maybe(),
			gives:  []reply{{status: http.StatusOK, about: "The lane.", body: wire.Lane{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.pauseLane,
		},
		{
			method: http.MethodPost, pattern: "/v1/lanes/{lane}/resume", scope: scopeOperate, summary: "Resume a lane",
			takes:  takes[wire.Nothing](`{}`).maybe(),
			gives:  []reply{{status: http.StatusOK, about: "The lane.", body: wire.Lane{}}},
			errors: []problem.Code{problem.NotFound},
			serve:  s.resumeLane,
		},
		{
			method: http.MethodPost, pattern: "/v1/lanes/{lane}/rebuild", scope: scopeOperate, summary: "Rebuild a lane",
			about: "Throws away what the broker holds of the lane, makes it again and fills it from the log. Nothing is lost and nothing is sent twice. " +
				"What was due goes in again within seconds. A lane that is damaged rebuilds itself; this is for when an operator wants it done now.",
			takes:  takes[wire.Nothing](`{}`).maybe(),
			gives:  []reply{{status: http.StatusOK, about: "The lane.", body: wire.Lane{}}},
			errors: []problem.Code{problem.NotFound, problem.NotReady},
			serve:  s.rebuildLane,
		},
		{
			method: http.MethodGet, pattern: "/v1/dead-letters", scope: scopeOperate, summary: "List dead letters",
			about: "Deliveries that need a person, of all apps: those accepted last first.",
			query: deadParameters,
			gives: []reply{{status: http.StatusOK, about: "A page.", body: wire.DeadLetters{}}},
			serve: s.listDead,
		},
		{
			method: http.MethodPost, pattern: "/v1/dead-letters/redrive", scope: scopeOperate, summary: "Try dead letters again",
			about: "Takes what is dead at that moment and all members of the body select; {} selects everything. Each has all of its tries and providers again, and " +
				"is decided on anew when its time comes: consent, expiry, cancels. Sent twice at once, it moves each of them once; sent again after they have died again, it tries them again.",
			takes: takes[wire.Redrive](redriveExample),
			gives: []reply{{status: http.StatusOK, about: "What became of them, or would become in a dry run.", body: wire.Redriven{}}},
			serve: s.redrive,
		},
		{
			method: http.MethodGet, pattern: "/v1/statistics", scope: scopeOperate, summary: "Count deliveries by day",
			about: "Of all apps, by the day on which their notifications were accepted, channel, provider of the last attempt, category and status. Test keys' are not counted. " +
				"The sums outlive the detail, which is deleted after the retention; what is still there is counted as it stands. Days without deliveries are absent. " +
				"When the days that are asked for hold too much detail to be counted in thirty seconds, the answer is 503 not_ready: ask for fewer days.",
			query:  statisticsParameters,
			gives:  []reply{{status: http.StatusOK, about: "The sums, oldest day first.", body: wire.Statistics{}}},
			errors: []problem.Code{problem.NotReady},
			serve:  s.statistics,
		},
	}
}

func (s *service) openRoutes() []route {
	return []route{
		{
			method: http.MethodPost, pattern: "/hooks/{provider}", summary: "Report a receipt",
			about:  "For providers: verified by their signature, under the configured name.",
			gives:  []reply{{status: http.StatusNoContent, about: "Taken, also when nothing is known of the message yet."}},
			errors: []problem.Code{problem.Forbidden, problem.NotFound, problem.TooLarge, problem.InvalidInput, problem.NotReady},
			serve:  s.receiveHook,
		},
		{
			method: http.MethodPost, pattern: "/hooks/{provider}/inbound", summary: "Pass on what somebody wrote back",
			about: "For SMS providers: verified by their signature, under the configured name. A text that is nothing but STOP, STOPALL, UNSUBSCRIBE, CANCEL, END, QUIT, REVOKE, OPTOUT, " +
				"OPT OUT, STOPP or ARRET stops every message to the number; START, UNSTOP or YES takes that back. Both go into the consent ledger. All else is not kept.",
			gives:  []reply{{status: http.StatusNoContent, about: "Taken; there is nothing to answer."}},
			errors: []problem.Code{problem.Forbidden, problem.NotFound, problem.TooLarge, problem.InvalidInput, problem.NotReady},
			serve:  s.receiveInbound,
		},
		{
			method: http.MethodGet, pattern: "/openapi.json", summary: "Show this document",
			gives: []reply{{status: http.StatusOK, about: "OpenAPI 3.1.", media: mediaJSON}},
			serve: s.openapi,
		},
		{
			method: http.MethodGet, pattern: "/docs", summary: "Show this document to people",
			gives: []reply{{status: http.StatusOK, about: "A page.", media: "text/html"}},
			serve: s.docs,
		},
	}
}

// probeRoutes are for who looks after the process.
func (s *service) probeRoutes() []route {
	return []route{
		{
			method: http.MethodGet, pattern: "/healthz", summary: "Tell that the process is alive",
			gives: []reply{{status: http.StatusOK, about: "Alive.", body: wire.Health{}}},
			serve: s.healthy,
		},
		{
			method: http.MethodGet, pattern: "/readyz", summary: "Tell whether events can be accepted and stored",
			gives:  []reply{{status: http.StatusOK, about: "Ready.", body: wire.Health{}}},
			errors: []problem.Code{problem.NotReady},
			serve:  s.ready,
		},
		{
			method: http.MethodGet, pattern: "/metrics", summary: "Show the metrics",
			gives: []reply{{status: http.StatusOK, about: "In the format of Prometheus.", media: "text/plain"}},
			serve: s.metrics,
		},
	}
}
