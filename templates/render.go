package templates

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	text "text/template"

	"tidings"
	"tidings/channels/sms"
)

// Bounds of what may be rendered.
const (
	maxOutput  = 256 << 10 // bytes of one message, all its parts together
	maxSubject = 998       // bytes: a line of a message (RFC 5322, section 2.1.1)
	maxPush    = 4096      // bytes of JSON: what APNs and FCM take
	pushFrame  = 256       // bytes of them for what surrounds the content
)

// Render renders the event type's template for a channel in the user's locale (else its
// language, else the default). A channel without templates (a webhook) renders to nothing. Its
// error is a *RenderError.
func (c *Catalogue) Render(event string, channel tidings.Channel, in Input) (tidings.Content, error) {
	in.User.Locale = cmp.Or(in.User.Locale, c.userLocale)
	in.User.Timezone = cmp.Or(in.User.Timezone, c.userTimezone)
	set := c.pick(slot{event, channel}, in.User.Locale)
	if set == nil {
		return tidings.Content{}, c.unrendered(event, channel)
	}
	if !c.carriesLinks(event, channel) {
		in.Links = Links{}
	}
	content, err := set.render(channel, &in)
	if err != nil {
		return tidings.Content{}, err
	}
	return content, nil
}

// carriesLinks reports whether a message is one that its reader can refuse by a link in it.
func (c *Catalogue) carriesLinks(event string, channel tidings.Channel) bool {
	e, ok := c.Events[event]
	return ok && channel == tidings.Email && e.Category.Kind != tidings.Critical
}

// unrendered is nil for a channel that needs no template.
func (c *Catalogue) unrendered(event string, channel tidings.Channel) error {
	if e, ok := c.Events[event]; ok && channel == tidings.Webhook && has(e.Channels, channel) {
		return nil
	}
	return &RenderError{Code: CodeTemplateError, File: "catalog.yaml",
		Detail: fmt.Sprintf("event type %q has no template for %s", event, channel)}
}

// pick finds the set of a locale: itself, then without its last parts, then the default.
func (c *Catalogue) pick(s slot, locale string) *set {
	sets := c.sets[s]
	if sets == nil {
		return nil
	}
	if set := sets[locale]; set != nil { // the usual case: a bare language
		return set
	}
	key := localeKey(locale)
	for key != "" {
		if set := sets[key]; set != nil {
			return set
		}
		key = key[:max(strings.LastIndexByte(key, '-'), 0)]
	}
	return sets[localeKey(c.DefaultLocale)]
}

// localeKey is how locales are compared: "pt_BR" is "pt-br".
func localeKey(locale string) string {
	return strings.ToLower(strings.ReplaceAll(locale, "_", "-"))
}

func (s *set) render(channel tidings.Channel, in *Input) (tidings.Content, error) {
	scope := newScope(in, s.locale)
	content := tidings.Content{}
	room := maxOutput
	for _, p := range s.pieces {
		out, err := p.render(scope, room)
		if err != nil {
			return content, p.explain(err)
		}
		room -= len(out)
		p.place(&content, out)
	}
	if err := finish(channel, &content); err != nil {
		return content, s.pieces[0].explain(err)
	}
	return content, nil
}

// render runs one piece. A panic inside is an error like any other.
func (p *piece) render(s *scope, room int) (out string, err error) {
	if p.exec == nil {
		if len(p.fixed) > room {
			return "", errTooLarge
		}
		return p.fixed, nil
	}
	defer func() {
		if recover() != nil {
			out, err = "", fault("the template broke off") // what it panicked with may quote the data
		}
	}()
	w := bounded{room: room}
	if err := p.exec.Execute(&w, s); err != nil {
		return "", err
	}
	return w.b.String(), nil
}

// A bounded writer refuses what goes beyond its room.
type bounded struct {
	b    strings.Builder
	room int
}

var errTooLarge = &tooLarge{fmt.Sprintf("the content is larger than %d bytes", maxOutput)}

// tooLarge says that content is beyond a bound.
type tooLarge struct{ detail string }

// Error says which bound.
func (e *tooLarge) Error() string { return e.detail }

// Write appends b.
func (w *bounded) Write(b []byte) (int, error) {
	if w.b.Len()+len(b) > w.room {
		return 0, errTooLarge
	}
	return w.b.Write(b)
}

// WriteString appends s.
func (w *bounded) WriteString(s string) (int, error) {
	if w.b.Len()+len(s) > w.room {
		return 0, errTooLarge
	}
	return w.b.WriteString(s)
}

// explain puts a failure into the words of the API.
func (p *piece) explain(err error) error {
	e := &RenderError{Code: CodeTemplateError, File: p.file, Detail: "the template cannot be executed"}
	var absent *missing
	var large *tooLarge
	var wrong fault
	var exec text.ExecError
	switch {
	case errors.As(err, &absent):
		e.Code, e.Pointer, e.Detail = CodeMissingData, absent.pointer, absent.Error()
	case errors.As(err, &large):
		e.Code, e.Detail = CodeContentTooLarge, large.detail
	case errors.As(err, &wrong):
		e.Detail = string(wrong)
	}
	var at *located
	switch {
	case errors.As(err, &exec):
		e.Detail = p.where(exec) + e.Detail
	case errors.As(err, &at):
		e.Detail = "line " + p.lineIn(at.line) + ": " + e.Detail
	}
	return e
}

// where is the line at which an execution failed.
func (p *piece) where(exec text.ExecError) string {
	m := execError.FindStringSubmatch(exec.Error())
	if m == nil {
		return ""
	}
	line, _ := strconv.Atoi(m[1])
	return "line " + p.lineIn(line) + ": "
}

// place puts what a piece rendered to into its member of the content.
func (p *piece) place(c *tidings.Content, out string) {
	switch p.field {
	case "title":
		c.Title = strings.TrimSpace(out)
	case "body":
		c.Body = strings.TrimSpace(out)
	case "url":
		c.URL = strings.TrimSpace(out)
	case "subject":
		c.Subject = oneLine(out)
	case "from":
		c.From = oneLine(out)
	case "html":
		c.HTML = out
	case "text":
		c.Text = out
	default:
		if c.Data == nil {
			c.Data = map[string]string{}
		}
		c.Data[strings.TrimPrefix(p.field, dataPrefix)] = out
	}
}

// dataPrefix marks the fields of a push message's own data.
const dataPrefix = "data."

// oneLine is a text that cannot break out of a mail header: line ends and other control
// characters become spaces.
func oneLine(s string) string {
	control := func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }
	if strings.IndexFunc(s, control) >= 0 {
		s = strings.Join(strings.FieldsFunc(s, control), " ")
	}
	return strings.TrimSpace(s)
}

// finish checks a content as a whole.
func finish(channel tidings.Channel, c *tidings.Content) error {
	switch channel {
	case tidings.Push:
		if size := pushSize(c); size > maxPush {
			return &tooLarge{fmt.Sprintf("the push message has %d bytes of JSON; at most %d go to a device", size, maxPush)}
		}
	case tidings.SMS:
		if size := sms.Measure(c.Body); size.Segments > sms.MaxSegments {
			return &tooLarge{fmt.Sprintf("the SMS takes %d segments of %s; at most %d are carried", size.Segments, size.Encoding, sms.MaxSegments)}
		}
	case tidings.Email:
		return finishEmail(c)
	}
	if c.Title == "" && c.Body == "" {
		return fault("the message is empty")
	}
	return nil
}

func finishEmail(c *tidings.Content) error {
	if len(c.Subject) > maxSubject {
		return &tooLarge{fmt.Sprintf("the subject has %d bytes; at most %d fit a line", len(c.Subject), maxSubject)}
	}
	if c.From == "" {
		return nil
	}
	if _, err := mail.ParseAddress(c.From); err != nil {
		return fault("from is not an e-mail address")
	}
	return nil
}

// pushSize is the number of bytes of the JSON that a content makes, with room for its frame.
func pushSize(c *tidings.Content) int {
	size := pushFrame + jsonSize(c.Title) + jsonSize(c.Body) + jsonSize(c.URL)
	for name, value := range c.Data {
		size += jsonSize(name) + jsonSize(value) + len(`"":"",`)
	}
	return size
}

// jsonSize is the length of s inside a JSON string as encoding/json writes it, which escapes
// <, > and & too.
func jsonSize(s string) int {
	size := len(s)
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '"' || b == '\\' || b == '\n' || b == '\r' || b == '\t' || b == '\b' || b == '\f':
			size++
		case b < ' ' || b == '<' || b == '>' || b == '&':
			size += len(`\u003c`) - 1
		}
	}
	for _, separator := range []string{"\u2028", "\u2029"} {
		size += strings.Count(s, separator) * (len(`\u2028`) - len(separator))
	}
	return size
}
