//go:build darwin || freebsd || linux

package admission

import (
	"fmt"
	"syscall"
)

// freeSpace is what this process may still write to the disk of a folder, and how large it is.
func freeSpace(dir string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("measure the disk of %s: %w", dir, err)
	}
	size := uint64(s.Bsize)
	return uint64(s.Bavail) * size, uint64(s.Blocks) * size, nil
}
