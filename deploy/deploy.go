// Package deploy holds what a deployment starts from: the sample catalogue that a fresh
// installation, the demo and the tests share.
//
// It promises to be files only. It must never hold code that runs in the service.
package deploy

import (
	"embed"
	"io/fs"
)

//go:embed all:catalog
var files embed.FS

// Catalogue is the folder of the sample catalogue, with catalog.yaml at its top.
func Catalogue() fs.FS {
	folder, err := fs.Sub(files, "catalog")
	if err != nil {
		panic("sample catalogue is not embedded: " + err.Error()) // the path is a constant
	}
	return folder
}
