package simulator

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
)

// maxParts bounds the parts of a mail that are looked at.
const maxParts = 100

// mailEntry is a mail as it is written down: the subject and the text as a reader sees them,
// the headers as they came, and all of it raw.
func mailEntry(to string, raw []byte) Entry {
	e := Entry{Address: to, Headers: map[string]string{}, Raw: string(raw)}
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return e
	}
	for name, values := range m.Header {
		e.Headers[name] = values[0]
	}
	e.DeliveryID = m.Header.Get("X-Tidings-Delivery")
	e.Title = m.Header.Get("Subject")
	if subject, err := new(mime.WordDecoder).DecodeHeader(e.Title); err == nil {
		e.Title = subject
	}
	text := readable(textproto.MIMEHeader(m.Header), m.Body)
	e.Text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	return e
}

// readable is the plain text of a part, else its HTML.
func readable(header textproto.MIMEHeader, body io.Reader) string {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(media, "multipart/") {
		return decoded(header, body)
	}
	parts, first := multipart.NewReader(body, params["boundary"]), ""
	for range maxParts {
		part, err := parts.NextRawPart()
		if err != nil {
			break
		}
		text := readable(part.Header, part)
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
			return text
		}
		if first == "" {
			first = text
		}
	}
	return first
}

func decoded(header textproto.MIMEHeader, body io.Reader) string {
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return ""
	}
	return string(text)
}
