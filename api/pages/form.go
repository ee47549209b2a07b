package pages

import (
	"maps"
	"slices"

	"tidings"
	"tidings/preferences"
)

// A form is what the page of preferences shows: what the visitor wants, and what they changed of it.
type form struct {
	version    int64
	all        bool
	ways       map[tidings.Channel]bool
	kinds      map[string]map[tidings.Channel]bool
	quiet      bool
	start, end string
	zone       string
	locale     string
	hear       []thread // muted ones that are to be heard of again

	wrongQuiet, wrongPlace bool // what check found
}

// A thread is what a user muted, such as one post: a key of a category.
type thread struct{ category, key string }

// muted are the threads that the visitor hears nothing of, in order.
func (v *visitor) muted() (list []thread) {
	for _, category := range slices.Sorted(maps.Keys(v.wants.Threads)) {
		for _, key := range slices.Sorted(maps.Keys(v.wants.Threads[category])) {
			list = append(list, thread{category, key})
		}
	}
	return list
}

// form is what the visitor wants now.
func (v *visitor) form() form {
	p := &v.wants
	f := form{
		version: p.Version, all: p.All == nil || *p.All,
		ways: map[tidings.Channel]bool{}, kinds: map[string]map[tidings.Channel]bool{},
		quiet: p.QuietHours != nil, start: "22:00", end: "07:00", zone: v.user.Timezone, locale: v.user.Locale,
	}
	if p.QuietHours != nil {
		f.start, f.end = p.QuietHours.Start.String(), p.QuietHours.End.String()
	}
	for name, channels := range v.choosable() {
		c := v.catalogue.Categories[name]
		f.kinds[name] = map[tidings.Channel]bool{}
		for _, channel := range channels {
			on, named := p.Channels[channel]
			f.ways[channel] = on || !named
			f.kinds[name][channel] = wanted(p, &c, channel)
		}
	}
	return f
}

// choosable is every category that can be refused, with its channels.
func (v *visitor) choosable() map[string][]tidings.Channel {
	all := map[string][]tidings.Channel{}
	for _, e := range v.catalogue.Events {
		if e.Category.Kind == tidings.Critical {
			continue
		}
		for _, channel := range e.Channels {
			if !slices.Contains(all[e.Category.Name], channel) {
				all[e.Category.Name] = append(all[e.Category.Name], channel)
			}
		}
	}
	return all
}

// wanted is what a user wants of a category on a channel, whatever they want of the channel or of all.
// What waits for a link is not wanted yet.
func wanted(p *preferences.Preferences, c *tidings.Category, channel tidings.Channel) bool {
	if c.AsksTwice() && p.Consents[c.Name].State == preferences.ConsentGiven {
		return p.Agrees(c.Name, channel)
	}
	choice, chosen := p.Categories[c.Name]
	if on, named := choice.Channels[channel]; named {
		return on
	}
	if choice.All != nil {
		return *choice.All
	}
	if c.AsksFirst() {
		return !chosen && p.Consents[c.Name].State == preferences.ConsentGiven
	}
	on, named := c.Channels[channel]
	return on || !named
}

// locked reports whether nothing of a category can be switched here: it asks twice, the second time
// by a link that is sent. Once some of it was agreed to, that can be switched off.
func (v *visitor) locked(c *tidings.Category) bool {
	return c.AsksTwice() && v.wants.Consents[c.Name].State != preferences.ConsentGiven
}

// check finds what cannot be meant, and says whether there was anything.
func (f *form) check(s *Site, v *visitor) (wrong bool) {
	_, ok := f.hours()
	f.wrongQuiet = f.quiet && !ok
	f.wrongPlace = !s.known(&f.locale, &f.zone, v)
	return f.wrongQuiet || f.wrongPlace
}

func (f *form) hours() (preferences.Hours, bool) {
	start, wrongStart := preferences.ParseClock(f.start)
	end, wrongEnd := preferences.ParseClock(f.end)
	h := preferences.Hours{Start: start, End: end}
	return h, wrongStart == nil && wrongEnd == nil && h.Validate() == nil
}

// changes reports whether saving would change anything.
func (f *form) changes(v *visitor) bool {
	p, u := v.wants.Clone(), v.user
	f.apply(&p, &u, v)
	return u.Locale != v.user.Locale || u.Timezone != v.user.Timezone || len(difference(p, v.wants)) > 0
}

// apply changes what the form says otherwise than it is. It must have been checked.
func (f *form) apply(p *preferences.Preferences, u *tidings.User, v *visitor) {
	if on := p.All == nil || *p.All; on != f.all {
		p.All = &f.all
	}
	for channel, on := range f.ways {
		if was, named := p.Channels[channel]; slices.Contains(tidings.Channels(), channel) && on != (was || !named) {
			p.Channels = with(p.Channels, channel, on)
		}
	}
	choosable := v.choosable()
	for name, boxes := range f.kinds {
		c := v.catalogue.Categories[name]
		if v.locked(&c) {
			continue
		}
		maps.DeleteFunc(boxes, func(channel tidings.Channel, on bool) bool {
			return !slices.Contains(choosable[name], channel) || on && c.AsksTwice() && !wanted(p, &c, channel)
		})
		choose(p, &c, boxes, len(choosable[name]))
	}
	switch hours, _ := f.hours(); {
	case !f.quiet:
		p.QuietHours = nil
	default:
		p.QuietHours = &hours
	}
	for _, t := range f.hear {
		if _, muted := p.Threads[t.category][t.key]; muted {
			p.Threads = with(p.Threads, t.category, without(p.Threads[t.category], t.key))
		}
		if len(p.Threads[t.category]) == 0 {
			p.Threads = without(p.Threads, t.category)
		}
	}
	u.Locale, u.Timezone = f.locale, f.zone
}

// choose makes the choice of a category what its boxes say, in those that say otherwise than it is. All
// of them off speaks of the whole category, so that it also holds for channels it gets later; all of
// them on does so too, where what was switched on is no consent to more than was shown.
func choose(p *preferences.Preferences, c *tidings.Category, boxes map[tidings.Channel]bool, channels int) {
	changed, on := map[tidings.Channel]bool{}, 0
	for channel, box := range boxes {
		if box != wanted(p, c, channel) {
			changed[channel] = box
		}
		if box {
			on++
		}
	}
	if len(changed) == 0 {
		return
	}
	choice := preferences.Choice{All: p.Categories[c.Name].All, Channels: p.Categories[c.Name].Channels}
	switch whole := len(boxes) == channels; {
	case whole && on == 0:
		choice = preferences.Choice{All: new(false)}
	case whole && on == channels && len(changed) == channels && !c.AsksFirst():
		choice = preferences.Choice{All: new(true)}
	default:
		for channel, box := range changed {
			choice.Channels = with(choice.Channels, channel, box)
		}
	}
	p.Categories = with(p.Categories, c.Name, choice)
}
