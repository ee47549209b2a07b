package wire

import "tidings/api/strict"

// Catalog is one version of the catalogue.
type Catalog struct {
	Version int64             `json:"version"`
	Hash    string            `json:"hash" doc:"SHA-256 over the files."`
	Files   map[string]string `json:"files" doc:"By path: catalog.yaml and templates/…"`
}

// CatalogChange publishes files as a new version of the catalogue.
type CatalogChange struct {
	Version *int64            `json:"version,omitempty" doc:"The version that the caller saw; another current one is a conflict."`
	Hash    *string           `json:"hash,omitempty" doc:"The hash that the caller saw; another current one is a conflict."`
	Files   map[string]string `json:"files" doc:"All files, by path: catalog.yaml and templates/…"`
}

// ReadJSON reads the change. Whether the files make a catalogue is not known here.
func (c *CatalogChange) ReadJSON(in *strict.Input) {
	in.Object(func(name string) bool {
		switch name {
		case "version":
			if n, ok := in.Int(); ok {
				c.Version = &n
			}
		case "hash":
			if s, ok := in.String(); ok {
				c.Hash = &s
			}
		case "files":
			c.Files = files(in)
		default:
			return false
		}
		return true
	}, "files")
}

// files reads the files of a catalogue.
func files(in *strict.Input) map[string]string {
	all := map[string]string{}
	in.Members(func(path string) { all[path], _ = in.String() })
	return all
}

// Nothing is the body of a call that needs none: it may be left out, or be {}.
type Nothing struct{}

// ReadJSON reads the empty object.
func (*Nothing) ReadJSON(in *strict.Input) { in.Object(func(string) bool { return false }) }

// Health says that the process is alive, or ready.
type Health struct {
	Status  string `json:"status" doc:"ok or ready."`
	Version string `json:"version"`
}
