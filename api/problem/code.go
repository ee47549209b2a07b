package problem

import "net/http"

// A Code names a kind of problem. The list is closed and a code never changes its meaning.
type Code string

// The codes.
const (
	MalformedJSON        Code = "malformed_json"
	InvalidInput         Code = "invalid_input"
	UnknownEventType     Code = "unknown_event_type"
	MissingData          Code = "missing_data"
	TemplateError        Code = "template_error"
	ContentTooLarge      Code = "content_too_large"
	NotSupported         Code = "not_supported"
	Unauthenticated      Code = "unauthenticated"
	Forbidden            Code = "forbidden"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	TooLarge             Code = "too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	DedupeConflict       Code = "dedupe_conflict"
	VersionConflict      Code = "version_conflict"
	NothingToCancel      Code = "nothing_to_cancel"
	CategoryCritical     Code = "category_critical"
	QuotaExceeded        Code = "quota_exceeded"
	LaneFull             Code = "lane_full"
	NotReady             Code = "not_ready"
	Internal             Code = "internal"
)

// Codes is every code, in the order of their statuses.
func Codes() []Code {
	return []Code{MalformedJSON, Unauthenticated, Forbidden, NotFound, MethodNotAllowed, DedupeConflict, VersionConflict,
		NothingToCancel, TooLarge, UnsupportedMediaType, InvalidInput, UnknownEventType, MissingData, TemplateError,
		ContentTooLarge, NotSupported, CategoryCritical, QuotaExceeded, Internal, LaneFull, NotReady}
}

// Status is the HTTP status that answers with the code.
func (c Code) Status() int { return c.kind().status }

// Title is the kind of problem in words.
func (c Code) Title() string { return c.kind().title }

type kind struct {
	status int
	title  string
}

func (c Code) kind() kind {
	switch c {
	case MalformedJSON:
		return kind{http.StatusBadRequest, "The body is not JSON"}
	case InvalidInput:
		return kind{http.StatusUnprocessableEntity, "The input is not valid"}
	case UnknownEventType:
		return kind{http.StatusUnprocessableEntity, "The catalogue has no such event type"}
	case MissingData:
		return kind{http.StatusUnprocessableEntity, "A template needs data that the event lacks"}
	case TemplateError:
		return kind{http.StatusUnprocessableEntity, "A template cannot be rendered"}
	case ContentTooLarge:
		return kind{http.StatusUnprocessableEntity, "The rendered content is too large for its channel"}
	case NotSupported:
		return kind{http.StatusUnprocessableEntity, "Not supported"}
	case Unauthenticated:
		return kind{http.StatusUnauthorized, "A valid API key is needed"}
	case Forbidden:
		return kind{http.StatusForbidden, "Not allowed"}
	case NotFound:
		return kind{http.StatusNotFound, "Not found"}
	case MethodNotAllowed:
		return kind{http.StatusMethodNotAllowed, "The path does not take this method"}
	case TooLarge:
		return kind{http.StatusRequestEntityTooLarge, "The body is too large"}
	case UnsupportedMediaType:
		return kind{http.StatusUnsupportedMediaType, "The content type is not supported"}
	}
	return c.later()
}

// later are the kinds of what is found out only once the input is known to be good.
func (c Code) later() kind {
	switch c {
	case DedupeConflict:
		return kind{http.StatusConflict, "The dedupe key was used for another request"}
	case VersionConflict:
		return kind{http.StatusConflict, "The version is not the current one"}
	case NothingToCancel:
		return kind{http.StatusConflict, "There is nothing to cancel"}
	case CategoryCritical:
		return kind{http.StatusUnprocessableEntity, "A critical category cannot be switched off"}
	case QuotaExceeded:
		return kind{http.StatusTooManyRequests, "The app is over its quota"}
	case LaneFull:
		return kind{http.StatusServiceUnavailable, "Too many deliveries are waiting"}
	case NotReady:
		return kind{http.StatusServiceUnavailable, "The service cannot take this now"}
	}
	return kind{http.StatusInternalServerError, "Something went wrong in the service"}
}
