package lanes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tidings"
)

// MaxChunk is how many deliveries one entry of a bulk lane carries at most: one message for
// fifty costs a third of fifty messages.
const MaxChunk = 50

// An entry on the wire is a version byte, the stamp in microseconds since 1970 and the ids.
const (
	entryVersion = 1
	entryHeader  = 1 + 8
	idSize       = len(tidings.DeliveryID{})
)

var errForeign = errors.New("not an entry of this version")

func encodeEntry(stamp time.Time, ids []tidings.DeliveryID) []byte {
	b := make([]byte, entryHeader, entryHeader+len(ids)*idSize)
	b[0] = entryVersion
	binary.BigEndian.PutUint64(b[1:], uint64(stamp.UnixMicro()))
	for i := range ids {
		b = append(b, ids[i][:]...)
	}
	return b
}

func decodeEntry(b []byte) (stamp time.Time, ids []tidings.DeliveryID, err error) {
	if len(b) < entryHeader || b[0] != entryVersion || (len(b)-entryHeader)%idSize != 0 {
		return time.Time{}, nil, fmt.Errorf("read entry of %d bytes: %w", len(b), errForeign)
	}
	stamp = time.UnixMicro(int64(binary.BigEndian.Uint64(b[1:]))).UTC()
	ids = make([]tidings.DeliveryID, (len(b)-entryHeader)/idSize)
	for i := range ids {
		copy(ids[i][:], b[entryHeader+i*idSize:])
	}
	return stamp, ids, nil
}

// An Entry is what a lane hands out: ids under one stamp. It must be acknowledged, and kept
// alive with Working while that takes longer than the lane's AckWait.
type Entry struct {
	Lane  tidings.Lane
	Stamp time.Time
	IDs   []tidings.DeliveryID
	Times int // how often it was handed out, from 1

	msg jetstream.Msg
}

// Ack removes the entry from its lane. A lost acknowledgement costs a second delivery of ids
// that have nothing left to do.
func (e *Entry) Ack() error {
	if err := e.msg.Ack(); err != nil {
		return fmt.Errorf("acknowledge entry of %s: %w", e.Lane, unavailable(err))
	}
	return nil
}

// Working asks the broker for another AckWait.
func (e *Entry) Working() error {
	if err := e.msg.InProgress(); err != nil {
		return fmt.Errorf("keep entry of %s: %w", e.Lane, unavailable(err))
	}
	return nil
}

// Return hands the entry back at once, for whoever fetches next.
func (e *Entry) Return() error {
	if err := e.msg.Nak(); err != nil {
		return fmt.Errorf("return entry of %s: %w", e.Lane, unavailable(err))
	}
	return nil
}
