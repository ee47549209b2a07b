package pages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tidings"
)

// The fields of the form. Beside each box and group of boxes a hidden field names those that were
// shown, since a box that is off is not sent; and beside each field another one has what it showed.
const (
	versionField = "version"
	allField     = "all"
	wayField     = "way"
	kindPrefix   = "kind."
	shownSuffix  = ".shown"
	quietField   = "quiet"
	startField   = "start"
	endField     = "end"
	zoneField    = "zone"
	localeField  = "locale"
	hearField    = "hear" // a category and the key of a thread, with a stroke between
	wasPrefix    = "was."
)

// A sent form is what the visitor sent.
type sent struct {
	url.Values
	current bool // they saw what holds now
}

// readForm reads what was sent; false when it is no form of the page. It is what the visitor wants
// now with what the person changed against what their page had shown, however long ago that was: what
// they did not touch, or did not see, is as it is now.
func (v *visitor) readForm(values url.Values) (form, bool) {
	version, err := strconv.ParseInt(values.Get(versionField), 10, 64)
	if err != nil || version < 0 {
		return form{}, false
	}
	s, f := sent{values, version == v.wants.Version}, v.form()
	f.version = version
	s.box(allField, &f.all)
	s.boxes(wayField, f.ways)
	for name := range s.Values {
		kind, found := strings.CutPrefix(name, kindPrefix)
		if kind, shown := strings.CutSuffix(kind, shownSuffix); found && shown && f.kinds[kind] != nil {
			s.boxes(kindPrefix+kind, f.kinds[kind])
		}
	}
	s.box(quietField, &f.quiet)
	for field, value := range map[string]*string{startField: &f.start, endField: &f.end, zoneField: &f.zone, localeField: &f.locale} {
		s.text(field, value)
	}
	for _, sent := range s.Values[hearField] {
		category, key, _ := strings.Cut(sent, "/")
		f.hear = append(f.hear, thread{category, key})
	}
	return f, true
}

// box changes what holds now to what a box says, if that was changed.
func (s *sent) box(field string, now *bool) {
	if on := s.Has(field); s.Has(field+shownSuffix) && s.changed(field, on != (s.Get(wasPrefix+field) != "")) {
		*now = on
	}
}

// boxes does so for each of a group.
func (s *sent) boxes(field string, now map[tidings.Channel]bool) {
	was := strings.Fields(s.Get(wasPrefix + field))
	for shown := range strings.FieldsSeq(s.Get(field + shownSuffix)) {
		if on := slices.Contains(s.Values[field], shown); s.changed(field, on != slices.Contains(was, shown)) {
			now[tidings.Channel(shown)] = on
		}
	}
}

// text does so for a text.
func (s *sent) text(field string, now *string) {
	if s.Has(field) && s.changed(field, s.Get(field) != s.Get(wasPrefix+field)) {
		*now = s.Get(field)
	}
}

// changed reports whether a field was changed, which differs from what it was. A form that does not
// say what it showed showed what holds now, or what nobody knows any more.
func (s *sent) changed(field string, differs bool) bool {
	if !s.Has(wasPrefix + field) {
		return s.current
	}
	return differs
}
