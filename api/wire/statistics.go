package wire

import "tidings"

// Statistic is a number of deliveries that are alike.
type Statistic struct {
	Day        string          `json:"day" doc:"In UTC, on which their notifications were accepted."`
	Channel    tidings.Channel `json:"channel"`
	Provider   string          `json:"provider" doc:"Of the last attempt; empty: none was made."`
	Category   string          `json:"category"`
	Status     tidings.Status  `json:"status" doc:"As in trails; once the detail is deleted it changes no more."`
	Deliveries int64           `json:"deliveries"`
}

// Statistics are the deliveries of some days, by day, channel, provider, category and status.
type Statistics struct {
	Data []Statistic `json:"data"`
}
