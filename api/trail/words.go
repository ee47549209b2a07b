package trail

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
)

// noun is a channel as people call what comes through it.
func noun(c tidings.Channel) string {
	switch c {
	case tidings.Push:
		return "push"
	case tidings.SMS:
		return "SMS"
	case tidings.Email:
		return "e-mail"
	case tidings.Inbox:
		return "inbox"
	case tidings.Webhook:
		return "webhook"
	}
	return string(c)
}

// places counts addresses of a channel as people call them.
func places(c tidings.Channel, n int) string { return fmt.Sprintf("%d %s", n, place(c, n)) }

func place(c tidings.Channel, n int) string {
	one := "address"
	switch c {
	case tidings.Push:
		one = "device"
	case tidings.SMS:
		one = "number"
	case tidings.Webhook:
		one = "URL"
	case tidings.Inbox:
		one = "inbox"
	}
	switch {
	case n == 1:
		return one
	case c == tidings.Inbox || one == "address":
		return one + "es"
	}
	return one + "s"
}

// vendor is a provider as people call it.
func vendor(name string, providers map[string]Provider) string {
	if name == "" {
		return "the provider"
	}
	vendor := providers[name].Type
	title := map[string]string{
		"apns": "APNs", "fcm": "FCM", "webpush": "the browser's push service", "twilio": "Twilio", "aws_sms": "AWS", "ses": "SES", "smtp": "the mail server",
	}[vendor]
	switch {
	case title == "":
		return name
	case strings.EqualFold(strings.ReplaceAll(vendor, "_", "-"), name):
		return title
	}
	return title + " (" + name + ")"
}

// because is a reason, with its cause, in words that fit after a colon.
func because(r tidings.Reason, cause tidings.Cause, c tidings.Channel, category string) string {
	if text := caused(cause, c, category); text != "" {
		if r == tidings.ReasonExpired && (cause == tidings.CauseLaw || cause == tidings.CauseWindow) {
			text += " for longer than it is of use"
		}
		return text
	}
	switch r {
	case tidings.ReasonSimulated:
		return "it was posted with a test key, so no provider was called"
	case tidings.ReasonNoAddress:
		return "the user has no " + place(c, 1) + " for it"
	case tidings.ReasonNoProvider:
		return "no provider is configured for it"
	case tidings.ReasonNotRequested:
		return "the app did not ask for it"
	case tidings.ReasonAddressRetired:
		return "the " + place(c, 1) + " is no longer in use"
	case tidings.ReasonAddressMoved:
		return "the " + place(c, 1) + " belongs to another user now"
	case tidings.ReasonQuarantined:
		return "the " + place(c, 1) + " is set aside after refusals"
	case tidings.ReasonOptedOutChannel:
		return "the user switched off " + noun(c)
	case tidings.ReasonOptedOutCategory:
		return "the user switched off " + noun(c) + " for " + category
	case tidings.ReasonOptedOutAll:
		return "the user switched off everything that is not critical"
	case tidings.ReasonConsentMissing:
		return "the user has not agreed to " + category
	case tidings.ReasonSuppressedBounce:
		return "earlier messages to the " + place(c, 1) + " came back"
	case tidings.ReasonSuppressedComplaint:
		return "the user reported an earlier message as unwanted"
	case tidings.ReasonRecipientDead:
		return "the provider says that the " + place(c, 1) + " no longer exists"
	case tidings.ReasonRecipientRejected:
		return "the provider refuses the " + place(c, 1)
	}
	return waiting(r)
}

// caused is a cause in words; empty: there is none.
func caused(cause tidings.Cause, c tidings.Channel, category string) string {
	switch cause {
	case tidings.CauseThread:
		return "the user muted this thread of " + category
	case tidings.CauseChannel:
		return "the user has not agreed to " + noun(c) + " for " + category
	case tidings.CauseLaw:
		return "the law of the phone's country keeps marketing texts back"
	case tidings.CauseWindow:
		return "the catalogue's hours for the phone's country keep marketing texts back"
	case tidings.CauseNever:
		return "the hours in which marketing texts may come leave no moment for it"
	case tidings.CauseRoute:
		return "no provider is configured for " + stranded(c)
	case tidings.CauseQuiet:
		return "the user's quiet hours last for longer than it is of use"
	case tidings.CauseLimits:
		return "the user was told enough already, and may be told more only when it is of no use any more"
	}
	return ""
}

// stranded is to what no provider of a channel carries.
func stranded(c tidings.Channel) string {
	switch c {
	case tidings.SMS:
		return "numbers of that country"
	case tidings.Push:
		return "the kind of device that the user has"
	}
	return "it"
}

// holding is why something is held, in words that fit after the time until when it is.
func holding(r tidings.Reason, cause tidings.Cause, c tidings.Channel, category string) string {
	text := because(r, cause, c, category)
	if cause == tidings.CauseLaw || cause == tidings.CauseWindow {
		text += " until then"
	}
	return text
}

// spoken is a list of channels, as stored, in words and in the order of the decisions; empty: it is something else.
func (t *telling) spoken(list string) string {
	var all []tidings.Channel
	for name := range strings.SplitSeq(list, ", ") {
		if !slices.Contains(tidings.Channels(), tidings.Channel(name)) {
			return ""
		}
		all = append(all, tidings.Channel(name))
	}
	place := t.trail.Notification.PlaceOf
	slices.SortStableFunc(all, func(x, y tidings.Channel) int { return cmp.Compare(place(x), place(y)) })
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = noun(c)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// waiting are the reasons that put off, replace or limit.
func waiting(r tidings.Reason) string {
	switch r {
	case tidings.ReasonQuietHours:
		return "these are the user's quiet hours"
	case tidings.ReasonScheduled:
		return "the app asked for a later time"
	case tidings.ReasonDigested:
		return "it goes out together with others"
	case tidings.ReasonEscalation:
		return "another channel is tried first"
	case tidings.ReasonRateLimitedUser:
		return "the user was told enough already"
	case tidings.ReasonRateLimitedCategory:
		return "the user was told enough of this kind already"
	case tidings.ReasonExpired:
		return "it would have come too late to be of use"
	case tidings.ReasonCancelled:
		return "it was called off"
	case tidings.ReasonSuperseded:
		return "a newer one took its place"
	case tidings.ReasonErased:
		return "the user's data were erased"
	case tidings.ReasonRedriven:
		return "an operator asked for another try"
	case tidings.ReasonSidelined:
		return "it is late, and newer work goes first"
	case tidings.ReasonLoopBrake:
		return "the app posts in a circle"
	}
	return failing(r)
}

// failing are the reasons why something went wrong.
func failing(r tidings.Reason) string {
	switch r {
	case tidings.ReasonTemplateError:
		return "its text could not be made from the template"
	case tidings.ReasonContentTooLarge:
		return "its content is too large"
	case tidings.ReasonProviderRejected:
		return "the provider refuses the message"
	case tidings.ReasonProviderBroken:
		return "the provider refuses our account or set-up"
	case tidings.ReasonRetriesSpent:
		return "all tries failed"
	case tidings.ReasonPoison:
		return "whatever worked on it broke off, again and again"
	case tidings.ReasonOutcomeUnknown:
		return "the provider gave no clear answer"
	}
	return strings.ReplaceAll(string(r), "_", " ")
}

// at is an instant as it is read out: the time of day, and the day when it is not today.
func at(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	clock := t.Format("15:04:05") + " UTC"
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return clock
	}
	return clock + " on " + t.Format("2 January 2006")
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
