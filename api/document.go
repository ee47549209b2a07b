package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tidings"
	"tidings/api/openapi"
	"tidings/api/problem"
	"tidings/preferences"
)

// about is what every caller should know; the document begins with it.
const about = "Tidings tells users what happened, by push, SMS and e-mail, and can say what became of it. " +
	"Send the key as Basic key_id:secret or Bearer key_id.secret. Input is strict: an unknown field is an error. " +
	"Checks come in this order: 401, 403, 404 or 405, 415, 413, 400, 422. Times are RFC 3339; answers are in UTC, to the microsecond, and finer input is cut off. " +
	"Every answer has X-Request-Id, the caller's own where it is sane. What is only planned answers 404, or 422 not_supported."

// checks are the codes that the checks before a handler can give to any keyed route.
var checks = []problem.Code{problem.Unauthenticated, problem.Forbidden, problem.InvalidInput, problem.NotReady, problem.Internal}

// bodyChecks are those of routes that take a body.
var bodyChecks = []problem.Code{problem.UnsupportedMediaType, problem.TooLarge, problem.MalformedJSON, problem.InvalidInput}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// document is the OpenAPI document of the routes.
func document(routes []route, version string) []byte {
	r := &openapi.Reflector{Enums: enums(), Components: map[string]any{}}
	paths := map[string]map[string]any{}
	for i := range routes {
		at := &routes[i]
		if paths[at.pattern] == nil {
			paths[at.pattern] = map[string]any{}
		}
		paths[at.pattern][strings.ToLower(at.method)] = operation(r, at)
	}
	doc := map[string]any{
		"openapi":    "3.1.0",
		"info":       map[string]any{"title": "Tidings", "version": version, "description": about},
		"paths":      paths,
		"components": map[string]any{"schemas": r.Components, "securitySchemes": schemes()},
	}
	b, err := json.MarshalIndent(doc, "", " ")
	if err != nil { // made of maps, lists and texts only
		panic(err)
	}
	return b
}

func operation(r *openapi.Reflector, at *route) map[string]any {
	op := map[string]any{"operationId": operationID(at.summary), "summary": at.summary, "responses": responses(r, at)}
	if at.about != "" {
		op["description"] = at.about
	}
	if at.scope != "" {
		op["security"] = []any{map[string]any{"basic": []string{}}, map[string]any{"bearer": []string{}}}
		op["description"] = strings.TrimSpace(at.about + " Scope: " + at.scope + ".")
	}
	if all := parameters(at); len(all) > 0 {
		op["parameters"] = all
	}
	if at.takes != nil {
		op["requestBody"] = requestBody(r, at.takes)
	}
	return op
}

// operationID is what generated clients call an operation: its summary as one word.
func operationID(summary string) string {
	words := strings.Fields(strings.ToLower(summary))
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

func parameters(at *route) []any {
	var all []any
	for _, m := range pathParameter.FindAllStringSubmatch(at.pattern, -1) {
		all = append(all, map[string]any{"name": m[1], "in": "path", "required": true, "schema": openapi.Schema{"type": "string"}})
	}
	for _, q := range at.query {
		all = append(all, map[string]any{"name": q.name, "in": "query", "description": q.about, "schema": openapi.Schema{"type": "string"}})
	}
	if at.pattern == "/v1/events" {
		all = append(all, header("Idempotency-Key", "Read as dedupe_key when the body has none."))
	}
	if at.method == http.MethodPatch {
		all = append(all, header("If-Match", "The version that the caller saw."))
	}
	return all
}

func header(name, about string) map[string]any {
	return map[string]any{"name": name, "in": "header", "description": about, "schema": openapi.Schema{"type": "string"}}
}

func requestBody(r *openapi.Reflector, b *body) map[string]any {
	content := map[string]any{}
	for _, media := range b.media {
		content[media] = map[string]any{"schema": r.Of(b.into()), "example": json.RawMessage(b.example)}
	}
	return map[string]any{"required": !b.optional, "content": content, "description": fmt.Sprintf("At most %d KiB.", b.limit>>10)}
}

func responses(r *openapi.Reflector, at *route) map[string]any {
	all := map[string]any{}
	for _, g := range at.gives {
		answer := map[string]any{"description": g.about}
		switch {
		case g.body != nil:
			answer["content"] = map[string]any{mediaJSON: map[string]any{"schema": r.Of(g.body)}}
		case g.media != "":
			answer["content"] = map[string]any{g.media: map[string]any{}}
		}
		all[strconv.Itoa(g.status)] = answer
	}
	for status, codes := range byStatus(at) {
		all[strconv.Itoa(status)] = map[string]any{
			"description": "With code " + strings.Join(codes, " or ") + ".",
			"content":     map[string]any{problem.MediaType: map[string]any{"schema": r.Of(problem.Problem{})}},
		}
	}
	return all
}

// byStatus are the codes that a route can answer with, by their statuses.
func byStatus(at *route) map[int][]string {
	codes := slices.Clone(at.errors)
	if at.scope != "" {
		codes = append(codes, checks...)
	}
	if at.takes != nil {
		codes = append(codes, bodyChecks...)
	}
	all := map[int][]string{}
	for _, c := range problem.Codes() {
		if slices.Contains(codes, c) {
			all[c.Status()] = append(all[c.Status()], string(c))
		}
	}
	return all
}

func schemes() map[string]any {
	return map[string]any{
		"basic":  map[string]any{"type": "http", "scheme": "basic", "description": "key_id:secret"},
		"bearer": map[string]any{"type": "http", "scheme": "bearer", "description": "key_id.secret"},
	}
}

// enums are the closed lists of words.
func enums() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[problem.Code]():               words(problem.Codes()...),
		reflect.TypeFor[tidings.Channel]():            words(tidings.Channels()...),
		reflect.TypeFor[tidings.Reason]():             words(tidings.Reasons()...),
		reflect.TypeFor[tidings.NotificationStatus](): words(tidings.NotificationStatuses()...),
		reflect.TypeFor[tidings.Outcome]():            words(append([]tidings.Outcome{tidings.OK}, tidings.Faults()...)...),
		reflect.TypeFor[tidings.Action]():             words(tidings.ActionSend, tidings.ActionHold, tidings.ActionSuppress),
		reflect.TypeFor[tidings.AddressStatus]():      words(tidings.AddressActive, tidings.AddressQuarantined, tidings.AddressRetired),
		reflect.TypeFor[preferences.ConsentState]():   words(preferences.Actions()...),
		reflect.TypeFor[preferences.Source]():         words(preferences.Sources()...),
		reflect.TypeFor[preferences.Verdict]():        words(preferences.Verdicts()...),
		reflect.TypeFor[preferences.ZoneSource]():     words(preferences.ZoneSources()...),
		reflect.TypeFor[tidings.HoldState]():          words(tidings.HoldWaiting, tidings.HoldReleased, tidings.HoldCancelled),
		reflect.TypeFor[tidings.Status](): words(tidings.Queued, tidings.Sending, tidings.Retrying, tidings.Unknown, tidings.Sent,
			tidings.Delivered, tidings.Bounced, tidings.Failed, tidings.Expired, tidings.Cancelled, tidings.Suppressed, tidings.Dead),
		reflect.TypeFor[tidings.ReceiptStatus](): words(tidings.ReceiptAccepted, tidings.ReceiptSent, tidings.ReceiptDelivered,
			tidings.ReceiptFailed, tidings.ReceiptBounced, tidings.ReceiptOpened, tidings.ReceiptClicked, tidings.ReceiptComplained),
	}
}

func words[T ~string](all ...T) []string {
	out := make([]string, 0, len(all))
	for _, w := range all {
		out = append(out, string(w))
	}
	return out
}
