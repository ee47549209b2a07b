package bench

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A usage is what this process, and a process beside it, have used so far.
type usage struct {
	at      time.Time
	own     time.Duration // processor time of this process
	beside  time.Duration // processor time of the other one
	machine time.Duration // processor time of everything on this machine
}

// used reads the usage; pid 0: there is no other process.
func used(pid int) usage {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // cannot fail for the process itself
	u := usage{at: time.Now(), own: time.Duration(r.Utime.Nano() + r.Stime.Nano()), machine: machineTime()}
	if pid != 0 {
		u.beside = processorTime(pid)
	}
	return u
}

// ticksPerSecond is the unit of /proc/PID/stat on Linux, proc(5).
const ticksPerSecond = 100

// processorTime is what another process has used; 0 where the system does not tell.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte(") ")) // the name before it may hold anything
	fields := strings.Fields(string(rest))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

// Places in the first line of /proc/stat, proc(5).
const (
	idleField   = 4
	iowaitField = 5
	lastField   = 8 // steal; what follows is counted already
)

// machineTime is what all processes have used since the start; 0 where the system does not tell.
func machineTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var ticks int64
	for n, field := range strings.Fields(line) {
		if n == 0 || n == idleField || n == iowaitField || n > lastField {
			continue
		}
		value, _ := strconv.ParseInt(field, 10, 64)
		ticks += value
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// memory reads a line such as VmRSS or VmHWM of this process, in bytes; 0 where the system does not tell.
func memory(line string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(l, line+":"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// forgetPeak makes VmHWM begin again from what is used now, proc(5).
func forgetPeak() {
	runtime.GC()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) // without it the peak is that of the whole run
}

// quantile is the value below which the share q of the values lies; it sorts them.
func quantile[T int | float64 | time.Duration](values []T, q float64) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}

func median[T int | float64 | time.Duration](values []T) T {
	return quantile(slices.Clone(values), 0.5)
}
