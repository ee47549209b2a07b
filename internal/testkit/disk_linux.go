package testkit

import (
	"errors"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// A Disk can be filled up and freed again.
type Disk struct {
	Dir string

	t       testing.TB
	mounted bool
}

// SmallDisk is a disk of some bytes in memory, or a Folder where this process may not mount one.
// The test must run Alone.
func SmallDisk(t testing.TB, size string) *Disk {
	t.Helper()
	d := Folder(t)
	if d.mounted = syscall.Mount("tmpfs", d.Dir, "tmpfs", 0, "size="+size) == nil; !d.mounted {
		return d
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.Dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Folder is a disk that is full in that this process, which must be Alone, cannot write any file.
func Folder(t testing.TB) *Disk {
	t.Helper()
	d := &Disk{Dir: filepath.Join(t.TempDir(), "disk"), t: t}
	if err := os.Mkdir(d.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Free)
	return d
}

// Mounted reports whether the disk is one, and has a size.
func (d *Disk) Mounted() bool { return d.mounted }

// Fill leaves no room at all.
func (d *Disk) Fill() {
	d.t.Helper()
	if !d.mounted {
		signal.Ignore(syscall.SIGXFSZ)
		d.limit(0)
		return
	}
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for _, part := range [][]byte{make([]byte, 64<<10), make([]byte, 1)} {
		for err = nil; err == nil; {
			_, err = f.Write(part)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			d.t.Fatal(err)
		}
	}
}

// Free gives back what Fill took.
func (d *Disk) Free() {
	d.t.Helper()
	if !d.mounted {
		d.limit(math.MaxUint64)
		return
	}
	if err := os.Remove(d.ballast()); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
}

func (d *Disk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// limit bounds how far into a file the process may write (setrlimit(2), RLIMIT_FSIZE).
func (d *Disk) limit(bytes uint64) {
	d.t.Helper()
	var is syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &is); err != nil {
		d.t.Fatal(err)
	}
	is.Cur = min(bytes, is.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &is); err != nil {
		d.t.Fatal(err)
	}
}
