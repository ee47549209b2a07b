package wire

import (
	"tidings"
	"tidings/api/strict"
)

// Replay asks which notifications another catalogue would decide otherwise.
type Replay struct {
	Files map[string]string `json:"files" doc:"All files of the other catalogue, by path: catalog.yaml and templates/…"`
	Since Instant           `json:"since" doc:"Notifications accepted at this time or later, the newest 10,000 of them."`
}

// ReadJSON reads the question. Whether the files make a catalogue is not known here.
func (r *Replay) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		switch name {
		case "files":
			r.Files = files(in)
		case "since":
			r.Since.ReadJSON(in)
		default:
			return false
		}
		return true
	}, "files", "since")
}

// Replayed is what another catalogue would decide otherwise.
type Replayed struct {
	CatalogVersion int64             `json:"catalog_version" doc:"The current version, by which before is decided."`
	Since          Time              `json:"since"`
	Examined       int               `json:"examined" doc:"Notifications that were decided again."`
	Cut            bool              `json:"cut" doc:"There were more than 10,000 of them; only the newest were examined."`
	Changed        int               `json:"changed" doc:"Decisions that differ; one a notification and channel."`
	Counts         []DifferenceCount `json:"counts" doc:"All of them by type, channel, action and reason, most first."`
	Differences    []Difference      `json:"differences" doc:"The newest 1,000 of them."`
}

// DifferenceCount is how many decisions differ in the same way.
type DifferenceCount struct {
	Type    string          `json:"type"`
	Channel tidings.Channel `json:"channel"`
	Before  *Outcome        `json:"before" doc:"null: the current catalogue has no such type, or the type no such channel."`
	After   *Outcome        `json:"after" doc:"null: the other catalogue has no such type, or the type no such channel."`
	Count   int             `json:"count"`
}

// Difference is a decision about one channel of a notification that differs.
type Difference struct {
	ID      tidings.NotificationID `json:"id"`
	Type    string                 `json:"type"`
	UserID  string                 `json:"user_id"`
	Channel tidings.Channel        `json:"channel"`
	Before  *Outcome               `json:"before"`
	After   *Outcome               `json:"after"`
}

// Outcome is what was decided, without for whom.
type Outcome struct {
	Action tidings.Action `json:"action"`
	Reason tidings.Reason `json:"reason,omitzero"`
	Until  Time           `json:"until,omitzero"`
}
