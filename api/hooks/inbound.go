package hooks

import (
	"errors"
	"net/http"
	"strings"

	"tidings"
	"tidings/api/problem"
	"tidings/channels"
	"tidings/preferences"
)

// ReceiveInbound verifies a message that somebody wrote back, and stores it when it says stop or
// start; all else is not kept. It gives what the message asked for, and of how many users the
// number is. Its errors are those of Receive.
func (v *Receiver) ReceiveInbound(r *http.Request, channel tidings.Channel, reader channels.InboundReader, body []byte) (channels.Word, int, error) {
	in, err := reader.ReadInbound(r, strings.TrimRight(v.PublicURL, "/")+r.URL.RequestURI(), body)
	if err != nil {
		return channels.WordNone, 0, unreadable(err)
	}
	now := v.Now().UTC()
	people := 0
	switch in.Word {
	case channels.WordStop:
		people, err = v.Stop(r.Context(), channel, in.From, preferences.Origin{Source: preferences.SourceStop}, now)
	case channels.WordStart:
		people, err = v.Restart(r.Context(), channel, in.From, preferences.Origin{Source: preferences.SourceStart}, now)
	}
	return in.Word, people, err
}

// unreadable is what is wrong with a callback that a provider's reader refused.
func unreadable(err error) error {
	if errors.Is(err, channels.ErrForged) {
		return problem.New(problem.Forbidden, "the callback is not signed by the provider")
	}
	p := problem.New(problem.InvalidInput, "the callback is authentic and cannot be read")
	p.Errors = []problem.At{{Pointer: "", Detail: p.Detail}}
	return p
}
