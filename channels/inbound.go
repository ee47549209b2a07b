package channels

import (
	"net/http"
	"slices"
	"strings"
)

// An InboundReader is a Provider whose service passes on what people write back. ReadInbound
// verifies and parses such a callback, as ReadReceipts does receipts.
type InboundReader interface {
	ReadInbound(r *http.Request, url string, body []byte) (Inbound, error)
}

// An Inbound is a message that somebody wrote back.
type Inbound struct {
	From string // the number, in E.164 form
	Word Word
}

// A Word is what a message that somebody wrote back asks for.
type Word string

// The words. All else is said to somebody else.
const (
	WordNone  Word = ""
	WordStop  Word = "stop"  // no more messages to this number
	WordStart Word = "start" // takes that back
)

// The words by which people stop messages and take that back: those of Twilio's default opt-out
// handling (https://help.twilio.com/articles/223134027), and two that carriers ask for elsewhere:
// STOPP, and ARRET in Canada.
var (
	stopWords = [...]string{"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "OPT OUT", "STOPP", "ARRET", "ARRÊT"}
	goWords   = [...]string{"START", "UNSTOP", "YES"}
)

// WordOf is what a text asks for. Only a text that is nothing but the word counts, in any case
// and with any punctuation around it: who writes "do not stop" means something else.
func WordOf(text string) Word {
	said := strings.Join(strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return strings.ContainsRune(" \t\r\n.,;:!?-\"'“”", r) }), " ")
	switch {
	case slices.Contains(stopWords[:], said):
		return WordStop
	case slices.Contains(goWords[:], said):
		return WordStart
	}
	return WordNone
}
