// Package openapi makes the document of the API from its Go types, and shows it to people.
//
// It promises that document and types cannot differ, and that the page needs nothing from
// elsewhere. It must never describe what the types do not have.
package openapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

//go:embed docs.html
var shell string

//go:embed docs.js
var script string

//go:embed docs.css
var style string

// Page is the HTML page that shows /openapi.json.
func Page() []byte {
	return []byte(strings.NewReplacer("/*style*/", style, "/*script*/", script).Replace(shell))
}

// PagePolicy lets the page run its own script and style, read the document, and nothing else.
func PagePolicy() string {
	return "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src " +
		source(script) + "; style-src " + source(style)
}

// source is what a policy calls an inline text by.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
