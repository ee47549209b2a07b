//go:build !linux

package fleet

import "syscall"

// orphans cannot be told here to end with the process that started them.
func orphans() *syscall.SysProcAttr { return nil }
