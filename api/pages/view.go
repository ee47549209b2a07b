package pages

import (
	"slices"
	"strings"

	"tidings"
	"tidings/preferences"
)

// A preferencesView is the page of preferences.
type preferencesView struct {
	frame
	Token     string
	Notice    *news
	Version   int64
	All       bool
	Ways      boxesView
	Kinds     []kindView
	Muted     []mutedView
	Quiet     bool
	Start     string
	End       string
	Zone      string
	Zones     []zoneGroup
	OtherZone string // the user's, when the list does not have it
	Locale    string
	Languages []option
	Was       wasView

	WrongQuiet, WrongPlace bool
}

// News tell what came of a change.
type news struct {
	Text  string
	Undo  string // empty: it cannot be undone
	Alarm bool   // nothing was saved
}

// A wasView is what holds, beside what the fields of the page show: they differ where the person
// changed something that is not saved yet.
type wasView struct {
	All, Quiet               bool
	Start, End, Zone, Locale string
}

// A boxesView is a group of boxes, one for each channel.
type boxesView struct {
	Field string
	Shown string // the channels, with spaces between
	Was   string // those of them that are on as it holds
	Boxes []boxView
}

// A boxView is one box.
type boxView struct {
	Channel tidings.Channel
	Label   string
	On      bool
	Locked  bool // it cannot be switched here
}

// A kindView is one category.
type kindView struct {
	Name, Title, Description string
	ToConfirm                bool // some of it waits for a link
	Locked                   bool // it asks twice, which this page cannot
	PartLocked               bool // in what is off of it
	boxesView
}

// A mutedView is a thread that the user hears nothing of.
type mutedView struct {
	Value string // that its box sends
	Label string
	On    bool
}

func (s *Site) preferencesView(v *visitor, f form, r Request) preferencesView {
	now := v.form()
	view := preferencesView{
		frame: frame{words: v.words, Title: v.words.text("preferences")}, Token: r.Token, Version: f.version, All: f.all,
		Ways: v.boxes(wayField, f.ways, now.ways), Quiet: f.quiet, Start: f.start, End: f.end, Zone: f.zone, Zones: s.zones,
		Locale: f.locale, Languages: v.languages(), WrongQuiet: f.wrongQuiet, WrongPlace: f.wrongPlace,
		Was: wasView{All: now.all, Quiet: now.quiet, Start: now.start, End: now.end, Zone: now.zone, Locale: now.locale},
	}
	if !s.listed(v.user.Timezone) {
		view.OtherZone = v.user.Timezone
	}
	for _, t := range v.muted() {
		c, _ := v.categoryOf(t.category)
		c.Name = t.category
		title, _ := v.describe(&c)
		view.Muted = append(view.Muted, mutedView{t.category + "/" + t.key, title + ": " + t.key, slices.Contains(f.hear, t)})
	}
	for name := range now.kinds {
		c := v.catalogue.Categories[name]
		k := kindView{Name: name, boxesView: v.boxes(kindPrefix+name, f.kinds[name], now.kinds[name]), ToConfirm: v.waits(&c)}
		k.Title, k.Description = v.describe(&c)
		if k.Locked = v.locked(&c); c.AsksTwice() && !k.Locked {
			k.PartLocked = k.lock(now.kinds[name])
		}
		view.Kinds = append(view.Kinds, k)
	}
	slices.SortFunc(view.Kinds, func(a, b kindView) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) })
	return view
}

// boxes shows a group in the order of the channels, and beside it how it holds.
func (v *visitor) boxes(field string, on, now map[tidings.Channel]bool) boxesView {
	view := boxesView{Field: field}
	var shown, was []string
	for _, channel := range tidings.Channels() {
		on, there := on[channel]
		if !there {
			continue
		}
		view.Boxes = append(view.Boxes, boxView{Channel: channel, Label: v.words.text(string(channel)), On: on})
		shown = append(shown, string(channel))
		if now[channel] {
			was = append(was, string(channel))
		}
	}
	view.Shown, view.Was = strings.Join(shown, " "), strings.Join(was, " ")
	return view
}

// lock locks the boxes that are off, and says whether there are any.
func (b *boxesView) lock(now map[tidings.Channel]bool) (any bool) {
	var free []string
	for i := range b.Boxes {
		box := &b.Boxes[i]
		if box.Locked = !now[box.Channel]; box.Locked {
			box.On, any = false, true
			continue
		}
		free = append(free, string(box.Channel))
	}
	b.Shown = strings.Join(free, " ")
	return any
}

// waits reports whether the visitor is to confirm something of a category by a link.
func (v *visitor) waits(c *tidings.Category) bool {
	stands := v.wants.Consents[c.Name]
	return stands.State == preferences.ConsentAsked || slices.ContainsFunc(tidings.Channels(), stands.Waits)
}

// languages are those that the catalogue speaks, and the user's own.
func (v *visitor) languages() []option {
	var list []option
	for _, locale := range v.catalogue.Locales() {
		list = append(list, option{locale, nameOf(locale)})
	}
	if own := v.user.Locale; own != "" && !slices.ContainsFunc(list, func(o option) bool { return o.Value == own }) {
		list = append(list, option{own, nameOf(own)})
	}
	return list
}

// nameOf is a locale as those who speak it call it, else as it is written.
func nameOf(locale string) string {
	names := map[string]string{
		"cs": "Čeština", "da": "Dansk", "de": "Deutsch", "el": "Ελληνικά", "en": "English", "es": "Español", "fi": "Suomi",
		"fr": "Français", "hu": "Magyar", "it": "Italiano", "ja": "日本語", "ko": "한국어", "nl": "Nederlands", "no": "Norsk",
		"pl": "Polski", "pt": "Português", "ro": "Română", "ru": "Русский", "sv": "Svenska", "tr": "Türkçe", "uk": "Українська", "zh": "中文",
	}
	language, region, found := strings.Cut(locale, "-")
	name, known := names[language]
	switch {
	case !known:
		return locale
	case found:
		return name + " (" + region + ")"
	}
	return name
}

// listed reports whether a time zone is in the list, or none.
func (s *Site) listed(zone string) bool {
	return zone == "" || slices.ContainsFunc(s.zones, func(g zoneGroup) bool {
		return slices.ContainsFunc(g.Zones, func(o option) bool { return o.Value == zone })
	})
}

// known reports whether a locale and a time zone are ones that the page offers, or that the user
// has; nil is no question.
func (s *Site) known(locale, zone *string, v *visitor) bool {
	offered := func(o option) bool { return o.Value == *locale }
	return (locale == nil || *locale == "" || slices.ContainsFunc(v.languages(), offered)) &&
		(zone == nil || *zone == v.user.Timezone || s.listed(*zone))
}
