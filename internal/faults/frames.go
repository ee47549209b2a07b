package faults

import (
	"bytes"
	"strconv"
	"strings"
)

// A frame is one operation of the NATS client protocol, https://docs.nats.io/reference/reference-protocols/nats-protocol.
type frame struct {
	op      string // PUB, HPUB, MSG, HMSG; the others carry nothing
	subject string
	reply   string
	payload []byte // with its headers
	raw     []byte
}

// frames cuts a stream into frames; what is not whole yet is kept for the next bytes.
type frames struct{ rest []byte }

// add gives the frames that are whole now. They stay valid.
func (f *frames) add(b []byte) (whole []frame) {
	f.rest = append(f.rest, b...)
	for {
		next, n := parseFrame(f.rest)
		if n == 0 {
			return whole
		}
		next.raw = bytes.Clone(f.rest[:n])
		next.payload = bytes.Clone(next.payload)
		whole = append(whole, next)
		f.rest = f.rest[n:]
	}
}

// parseFrame reads the first frame and says how long it is; 0: it is not whole.
func parseFrame(b []byte) (f frame, n int) {
	end := bytes.Index(b, []byte("\r\n"))
	if end < 0 {
		return f, 0
	}
	words := strings.Fields(string(b[:end]))
	if len(words) == 0 {
		return f, end + 2
	}
	f.op = strings.ToUpper(words[0])
	words = words[1:]
	switch f.op { // the optional word is the reply
	case "PUB": // subject [reply] size
		f.subject, f.reply = pick(words, 0), optional(words, 1, 3)
	case "HPUB": // subject [reply] headers size
		f.subject, f.reply = pick(words, 0), optional(words, 1, 4)
	case "MSG": // subject sid [reply] size
		f.subject, f.reply = pick(words, 0), optional(words, 2, 4)
	case "HMSG": // subject sid [reply] headers size
		f.subject, f.reply = pick(words, 0), optional(words, 2, 5)
	default:
		return f, end + 2
	}
	size, err := strconv.Atoi(pick(words, len(words)-1))
	if err != nil || len(b) < end+2+size+2 {
		return f, 0
	}
	f.payload = b[end+2 : end+2+size]
	return f, end + 2 + size + 2
}

func pick(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}

// optional is the word at a place that it has only where there are so many words.
func optional(words []string, i, of int) string {
	if len(words) < of {
		return ""
	}
	return words[i]
}

// The subjects that tell what a frame is for.
const (
	laneSubject = "tidings.lane."
	ackSubject  = "$JS.ACK."
	apiSubject  = "$JS.API."
)

// call tells what a frame is for the seam; nothing for those that carry nothing of ours. A pull
// and its end, and answers about streams, are part of what is asked for.
func (f frame) call() Call {
	out := f.op == "PUB" || f.op == "HPUB"
	in := f.op == "MSG" || f.op == "HMSG"
	switch {
	case out && strings.HasPrefix(f.subject, laneSubject):
		return Call{Seam: Broker, What: "publish " + strings.TrimPrefix(f.subject, laneSubject)}
	case out && strings.HasPrefix(f.subject, ackSubject):
		return Call{Seam: Broker, What: "ack " + stream(f.subject) + " " + string(f.payload)}
	case in && strings.HasPrefix(f.reply, ackSubject):
		return Call{Seam: Broker, What: "entry " + stream(f.reply), Inward: true}
	case in && bytes.Contains(f.payload, []byte(`"seq":`)) && bytes.HasPrefix(f.payload, []byte(`{"stream":`)):
		return Call{Seam: Broker, What: "stored", Inward: true}
	}
	return Call{}
}

// stream is the stream that the subject of an acknowledgement names, in both of its forms: with
// a domain and an account hash, or without.
func stream(subject string) string {
	words := strings.Split(strings.TrimPrefix(subject, ackSubject), ".")
	if len(words) > 7 {
		return words[2]
	}
	return words[0]
}
