package preferences

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tidings"
)

// MarshalJSON is a bool when the choice has no channels of its own, else {all, push, …} with
// the channels in their usual order.
func (c Choice) MarshalJSON() ([]byte, error) {
	if len(c.Channels) == 0 && c.All != nil {
		return json.Marshal(*c.All)
	}
	members := make(map[string]bool, len(c.Channels)+1)
	if c.All != nil {
		members["all"] = *c.All
	}
	for channel, on := range c.Channels {
		members[string(channel)] = on
	}
	return json.Marshal(members)
}

// UnmarshalJSON reads a bool, which is {all: bool}, or an object of bools.
func (c *Choice) UnmarshalJSON(b []byte) error {
	var all bool
	if string(b) != "null" && json.Unmarshal(b, &all) == nil {
		*c = Choice{All: &all}
		return nil
	}
	var members map[string]*bool
	if err := json.Unmarshal(b, &members); err != nil {
		return fmt.Errorf("read a category's preferences: %w", err)
	}
	if members == nil {
		return errors.New("read a category's preferences: null is not a choice")
	}
	read := Choice{}
	for name, on := range members {
		switch {
		case on == nil:
			return errors.New("read a category's preferences: null is not a choice")
		case name == "all":
			read.All = on
		case !slices.Contains(tidings.Channels(), tidings.Channel(name)):
			return fmt.Errorf("read a category's preferences: unknown channel %q", name)
		default:
			read.set(tidings.Channel(name), *on)
		}
	}
	*c = read
	return nil
}

func (c *Choice) set(channel tidings.Channel, on bool) {
	if c.Channels == nil {
		c.Channels = map[tidings.Channel]bool{}
	}
	c.Channels[channel] = on
}

// empty reports whether the choice says nothing.
func (c Choice) empty() bool { return c.All == nil && len(c.Channels) == 0 }
