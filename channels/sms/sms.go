// Package sms says how a text message is cut into segments, which is what carriers bill.
//
// It promises to count as carriers do (3GPP TS 23.038 and TS 23.040). It must never know a
// provider, whose packages stand below this one, or change a text.
package sms

import (
	"strings"
	"unicode/utf16"
)

// MaxSegments is the most segments a message may have here. Carriers join up to 255, but ten
// are the most that providers take.
const MaxSegments = 10

// An Encoding is how a text goes over the air.
type Encoding string

// The encodings. One character that GSM-7 lacks makes the whole message UCS-2.
const (
	GSM7 Encoding = "GSM-7" // units of 7 bits
	UCS2 Encoding = "UCS-2" // units of 16 bits
)

// How many units one segment holds: alone, and where a header joins it with others.
const (
	gsm7Alone, gsm7Joined = 160, 153
	ucs2Alone, ucs2Joined = 70, 67
)

// The characters of GSM-7 (TS 23.038, sections 6.2.1 and 6.2.1.1). Those of the extension take
// two units, the first of which is an escape.
const (
	gsm7Basic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsm7Extension = "\f^{}\\[~]|€"
)

// A Size is how much of the air a text takes.
type Size struct {
	Encoding Encoding
	Units    int
	Segments int // 0 for an empty text
}

// Measure is the size of a text as it stands.
func Measure(text string) Size {
	size := Size{Encoding: GSM7}
	for _, r := range text {
		if gsm7Units(r) == 0 {
			size.Encoding = UCS2
			break
		}
	}
	if size.Encoding == GSM7 {
		size.Units, size.Segments = count(text, gsm7Units, gsm7Alone, gsm7Joined)
	} else {
		size.Units, size.Segments = count(text, utf16.RuneLen, ucs2Alone, ucs2Joined)
	}
	return size
}

// gsm7Units is how many units a character takes in GSM-7; 0: it is not in it.
func gsm7Units(r rune) int {
	switch {
	case strings.ContainsRune(gsm7Basic, r):
		return 1
	case strings.ContainsRune(gsm7Extension, r):
		return 2
	}
	return 0
}

// count fills segments. A character is never cut: where its second unit does not fit, all of it
// begins the next segment.
func count(text string, unitsOf func(rune) int, alone, joined int) (units, segments int) {
	room := 0 // left in the last of the joined segments
	for _, r := range text {
		n := unitsOf(r)
		units += n
		if n > room {
			segments++
			room = joined
		}
		room -= n
	}
	if units <= alone {
		return units, min(segments, 1)
	}
	return units, segments
}
