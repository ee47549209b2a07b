package tidings

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"time"
)

// MaxDeliveries is how many deliveries one notification can have: the ordinal of a delivery
// takes the last ten bits of its id.
const MaxDeliveries = 1 << 10

// An ID is a UUIDv7 (RFC 9562): 48 bits of milliseconds, 12 bits of the fraction of the
// millisecond, the rest random. It prints as its kind's prefix and 26 lower-case base32hex
// characters, and both forms sort by time.
type ID[K Kind] [16]byte

// Kind names what an ID identifies, by the prefix it prints with.
type Kind interface{ Prefix() string }

type (
	notificationKind struct{}
	deliveryKind     struct{}
	addressKind      struct{}
	holdKind         struct{}
	digestKind       struct{}
	consentKind      struct{}
)

func (notificationKind) Prefix() string { return "ntf_" }
func (deliveryKind) Prefix() string     { return "dlv_" }
func (addressKind) Prefix() string      { return "adr_" }
func (holdKind) Prefix() string         { return "hld_" }
func (digestKind) Prefix() string       { return "dig_" }
func (consentKind) Prefix() string      { return "con_" }

type (
	// A NotificationID identifies a notification; its last ten bits are zero.
	NotificationID = ID[notificationKind]
	// A DeliveryID identifies a delivery: its notification's id with the ordinal in the last ten bits.
	DeliveryID = ID[deliveryKind]
	// An AddressID identifies an address of a user.
	AddressID = ID[addressKind]
	// A HoldID identifies a hold.
	HoldID = ID[holdKind]
	// A DigestID identifies what gathers events until it becomes one notification.
	DigestID = ID[digestKind]
	// A ConsentID identifies a line of the consent ledger.
	ConsentID = ID[consentKind]
)

var idText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

const idTextLen = 26

// NewID makes an id of kind K for the instant now.
func NewID[K Kind](now time.Time) ID[K] {
	var id ID[K]
	_, _ = rand.Read(id[6:]) // crypto/rand.Read never fails: it ends the program instead
	ms := now.UnixMilli()
	fraction := uint16(now.UnixMicro()%1000) << 2 // below 4000, so it fits twelve bits
	binary.BigEndian.PutUint16(id[0:2], uint16(ms>>32))
	binary.BigEndian.PutUint32(id[2:6], uint32(ms))
	binary.BigEndian.PutUint16(id[6:8], 0x7000|fraction|uint16(id[7]&3))
	id[8] = 0x80 | id[8]&0x3f
	return id
}

// NewNotificationID makes the id of a notification accepted at now.
func NewNotificationID(now time.Time) NotificationID {
	id := NewID[notificationKind](now)
	id[14] &^= 0x03
	id[15] = 0
	return id
}

// NewAddressID makes the id of an address first seen at now.
func NewAddressID(now time.Time) AddressID { return NewID[addressKind](now) }

// NewDigestID makes the id of a digest opened at now.
func NewDigestID(now time.Time) DigestID { return NewID[digestKind](now) }

// NewHoldID makes the id of a hold taken at now.
func NewHoldID(now time.Time) HoldID { return NewID[holdKind](now) }

// NewConsentID makes the id of a line of the consent ledger written at now.
func NewConsentID(now time.Time) ConsentID { return NewID[consentKind](now) }

// DeliveryOf is the id of the delivery with ordinal n of a notification; n is below MaxDeliveries.
func DeliveryOf(ntf NotificationID, n int) DeliveryID {
	id := DeliveryID(ntf)
	id[14] |= byte(n>>8) & 0x03
	id[15] = byte(n)
	return id
}

// NotificationOf is the notification that a delivery belongs to.
func NotificationOf(id DeliveryID) NotificationID {
	ntf := NotificationID(id)
	ntf[14] &^= 0x03
	ntf[15] = 0
	return ntf
}

// OrdinalOf is the ordinal of a delivery within its notification, from 0.
func OrdinalOf(id DeliveryID) int { return int(id[14]&0x03)<<8 | int(id[15]) }

// ParseID reads the text form of an id of kind K; another prefix, length, alphabet or spare bits are an error.
func ParseID[K Kind](s string) (ID[K], error) {
	var id ID[K]
	var k K
	prefix := k.Prefix()
	if len(s) != len(prefix)+idTextLen || s[:len(prefix)] != prefix {
		return id, fmt.Errorf("read id: want %s and %d characters", prefix, idTextLen)
	}
	raw, err := idText.DecodeString(s[len(prefix):])
	if err != nil || len(raw) != len(id) {
		return id, fmt.Errorf("read id: %q is not an id", s)
	}
	copy(id[:], raw)
	if id.String() != s { // two spare bits of the last character must be zero
		return id, fmt.Errorf("read id: %q is not an id", s)
	}
	return id, nil
}

// String is the text form of the id.
func (id ID[K]) String() string {
	var k K
	return k.Prefix() + idText.EncodeToString(id[:])
}

// UUID is the id in the usual form of a UUID, 8-4-4-4-12 hexadecimal digits, as APNs wants it.
func (id ID[K]) UUID() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// IsZero reports whether the id is unset.
func (id ID[K]) IsZero() bool { return id == ID[K]{} }

// Time is the instant in the id, to the millisecond.
func (id ID[K]) Time() time.Time {
	ms := int64(binary.BigEndian.Uint16(id[0:2]))<<32 | int64(binary.BigEndian.Uint32(id[2:6]))
	return time.UnixMilli(ms).UTC()
}

// MarshalText is the text form, for JSON.
func (id ID[K]) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the text form, for JSON.
func (id *ID[K]) UnmarshalText(b []byte) error {
	got, err := ParseID[K](string(b))
	if err != nil {
		return err
	}
	*id = got
	return nil
}

// ParseNotificationID reads "ntf_…".
func ParseNotificationID(s string) (NotificationID, error) { return ParseID[notificationKind](s) }

// ParseDeliveryID reads "dlv_…".
func ParseDeliveryID(s string) (DeliveryID, error) { return ParseID[deliveryKind](s) }

// ParseAddressID reads "adr_…".
func ParseAddressID(s string) (AddressID, error) { return ParseID[addressKind](s) }

// ParseConsentID reads "con_…".
func ParseConsentID(s string) (ConsentID, error) { return ParseID[consentKind](s) }
