//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package app

import "os"

// lockFile cannot lock here; the operator must see to it that one process uses the folder.
func lockFile(*os.File) error { return nil }
