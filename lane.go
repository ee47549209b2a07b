package tidings

import "strings"

// A Channel is a way to reach a user.
type Channel string

// The channels.
const (
	Push    Channel = "push"
	SMS     Channel = "sms"
	Email   Channel = "email"
	Inbox   Channel = "inbox"
	Webhook Channel = "webhook"
)

// Channels is every channel, in the order they are listed to people.
func Channels() []Channel { return []Channel{Push, SMS, Email, Inbox, Webhook} }

// A Priority is which of a channel's two lanes a delivery takes.
type Priority string

// The priorities.
const (
	Urgent Priority = "priority"
	Bulk   Priority = "bulk"
)

// A Lane is the queue of one channel at one priority, written "push.bulk".
type Lane string

// LaneOf is the lane of a channel at a priority.
func LaneOf(c Channel, p Priority) Lane { return Lane(string(c) + "." + string(p)) }

// Lanes are all lanes that there can be, channel by channel.
func Lanes() []Lane {
	var all []Lane
	for _, c := range Channels() {
		all = append(all, LaneOf(c, Urgent), LaneOf(c, Bulk))
	}
	return all
}

// Channel is the channel that the lane carries.
func (l Lane) Channel() Channel {
	c, _, _ := strings.Cut(string(l), ".")
	return Channel(c)
}

// Priority is the priority that the lane carries.
func (l Lane) Priority() Priority {
	_, p, _ := strings.Cut(string(l), ".")
	return Priority(p)
}
