package templates

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"tidings"
)

// locales is what a locale looks like: a language, then script, region or variant.
var locales = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// execError is how text/template says where an execution failed.
var execError = regexp.MustCompile(`^template: t:(\d+):`)

// lineIn is the line of the file at which a line of the piece's source stands.
func (p *piece) lineIn(sourceLine int) string { return strconv.Itoa(p.line + sourceLine - 1) }

// extensions are the files that a channel's templates may have.
func extensions(c tidings.Channel) []string {
	switch c {
	case tidings.Push, tidings.Inbox:
		return []string{"yaml"}
	case tidings.SMS:
		return []string{"txt"}
	case tidings.Email:
		return []string{"yaml", "html", "txt"}
	}
	return nil
}

// A library collects the templates of a catalogue.
type library struct {
	*declaration
	files    map[string]string
	sets     map[slot]map[string]*set
	problems *Problems
}

func (l *library) wrong(file string, line int, format string, args ...any) {
	*l.problems = append(*l.problems, Problem{File: file, Line: line, Detail: fmt.Sprintf(format, args...)})
}

// add compiles one template file, "templates/<event type>/<channel>.<locale>.<ext>".
func (l *library) add(file, source string) {
	folder, rest, _ := strings.Cut(file, "/")
	event, name, nested := strings.Cut(rest, "/")
	parts := strings.Split(name, ".")
	if folder != templatesFolder || !nested || len(parts) != 3 {
		l.wrong(file, 0, "a file is catalog.yaml or templates/<event type>/<channel>.<locale>.<ext>")
		return
	}
	channel, locale, ext := tidings.Channel(parts[0]), parts[1], parts[2]
	e, known := l.events[event]
	switch {
	case !known:
		l.wrong(file, 0, "event type %q is not declared in %s", event, catalogFile)
	case channel == tidings.Webhook:
		l.wrong(file, 0, "a webhook has no template: it carries the event")
	case extensions(channel) == nil:
		l.wrong(file, 0, "unknown channel %q; the channels are %v", channel, tidings.Channels())
	case !has(e.Channels, channel):
		l.wrong(file, 0, "event type %s does not go to %s", event, channel)
	case !locales.MatchString(locale):
		l.wrong(file, 0, "%q is not a locale like en or pt-BR", locale)
	case !slices.Contains(extensions(channel), ext):
		l.wrong(file, 0, "templates for %s end in .%s", channel, strings.Join(extensions(channel), ", ."))
	default:
		l.compile(l.set(slot{event, channel}, file, locale), channel, file, ext, source)
	}
}

// set finds or makes the set that a file belongs to.
func (l *library) set(s slot, file, locale string) *set {
	byLocale := l.sets[s]
	if byLocale == nil {
		byLocale = map[string]*set{}
		l.sets[s] = byLocale
	}
	key := localeKey(locale)
	if byLocale[key] == nil {
		byLocale[key] = &set{locale: locale}
	}
	if have := byLocale[key].locale; have != locale {
		l.wrong(file, 0, "locale %s is written %s in another file", locale, have)
	}
	return byLocale[key]
}

func (l *library) compile(s *set, channel tidings.Channel, file, ext, source string) {
	switch {
	case ext == "html":
		l.piece(s, file, "html", 1, source)
	case channel == tidings.Email && ext == "txt":
		l.piece(s, file, "text", 1, source)
	case ext == "txt":
		l.piece(s, file, "body", 1, source)
	default:
		l.members(s, channel, file, source)
	}
}

// piece compiles one source into a set.
func (l *library) piece(s *set, file, field string, line int, source string) {
	p, wrong := compile(source, field == "html")
	for _, w := range wrong {
		l.wrong(file, line+w.line-1, "%s", w.detail)
	}
	if len(wrong) > 0 {
		return
	}
	p.file, p.field, p.line = file, field, line
	for name := range p.uses {
		p.uses[name] += line - 1
	}
	if field == "from" && p.exec == nil {
		if _, err := mail.ParseAddress(p.fixed); err != nil {
			l.wrong(file, line, "from is not an e-mail address like Shop <shop@example.test>")
		}
	}
	s.pieces = append(s.pieces, p)
}

// members compiles the members of a YAML file.
func (l *library) members(s *set, channel tidings.Channel, file, source string) {
	r := &reader{file: file, problems: l.problems}
	root := r.document(source)
	if root == nil {
		return
	}
	given := map[string]bool{}
	member := func(name, field string) func(*yaml.Node) {
		return func(n *yaml.Node) {
			given[name] = true
			if v, ok := r.str(n, name); ok {
				l.piece(s, file, field, firstLine(n), v)
			}
		}
	}
	known := map[string]func(*yaml.Node){}
	for _, name := range memberNames(channel) {
		known[name] = member(name, name)
	}
	if channel == tidings.Push {
		known["data"] = func(n *yaml.Node) {
			for _, k := range r.mapping(n, "data") {
				if !pushNames.MatchString(k.name) || slices.Contains(pushReserved(), k.name) {
					r.problem(k.line, "data member %q: a name has letters, digits, _ and -, and is none of %s", k.name, strings.Join(pushReserved(), ", "))
					continue
				}
				member("data member "+k.name, dataPrefix+k.name)(k.value)
			}
		}
	}
	r.fields(root, file, known)
	for _, name := range requiredMembers(channel) {
		if !given[name] {
			r.problem(root.Line, "%s is missing", name)
		}
	}
}

// pushNames and pushReserved are what a member of a push message's own data may be called. The
// reserved names are APNs' and FCM's own, and those that the service fills.
var pushNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func pushReserved() []string {
	return []string{"aps", "from", "message_type", "collapse_key", "notification", "url", "tidings_delivery"}
}

func memberNames(c tidings.Channel) []string {
	if c == tidings.Email {
		return []string{"subject", "from"}
	}
	return []string{"title", "body", "url"}
}

func requiredMembers(c tidings.Channel) []string {
	if c == tidings.Email {
		return []string{"subject"}
	}
	return []string{"title", "body"}
}

// firstLine is where the text of a scalar begins: a block scalar begins below its | or >.
func firstLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}

// complete checks that every channel has what it needs, in the default locale and as whole sets.
func (l *library) complete() {
	for _, name := range sortedKeys(l.events) {
		for _, c := range l.events[name].Channels {
			sets := l.sets[slot{name, c}]
			if extensions(c) != nil && sets[localeKey(l.locale)] == nil {
				l.wrong(catalogFile, l.lines[name], "event type %s goes to %s, but templates/%s/%s.%s.%s is missing",
					name, c, name, c, l.locale, extensions(c)[0])
			}
			if c == tidings.Email {
				l.completeEmail(name, sets)
			}
		}
	}
}

// completeEmail checks that each locale of an e-mail has a subject and a body.
func (l *library) completeEmail(event string, sets map[string]*set) {
	for _, key := range sortedKeys(sets) {
		s := sets[key]
		if len(s.pieces) == 0 {
			continue // something is wrong with them already
		}
		stem := fmt.Sprintf("templates/%s/%s.%s", event, tidings.Email, s.locale)
		_, subject := l.files[stem+".yaml"]
		_, html := l.files[stem+".html"]
		_, text := l.files[stem+".txt"]
		if !subject {
			l.wrong(stem+".yaml", 0, "an e-mail needs this file for its subject")
		}
		if !html && !text {
			l.wrong(stem+".yaml", 0, "an e-mail needs %s.html or %s.txt beside it", stem, stem)
		}
	}
}
