package admission

import (
	"fmt"
	"time"

	"tidings/internal/setting"
)

// Disk says how much of the disk must be free for new work. Of the two amounts for each step the
// smaller one counts: a part alone would refuse work on a large disk that has plenty, and an
// amount alone on a small one that is empty.
type Disk struct {
	BulkPercent float64 `yaml:"bulk_percent" least:"0" most:"100"` // below both: bulk work is refused
	BulkMiB     int     `yaml:"bulk_mib" least:"0"`
	AllPercent  float64 `yaml:"all_percent" least:"0" most:"100"` // below both: all new work is refused
	AllMiB      int     `yaml:"all_mib" least:"0"`
}

// DefaultDisk is what holds where the operator says nothing.
func DefaultDisk() Disk {
	return Disk{BulkPercent: 15, BulkMiB: 2048, AllPercent: 5, AllMiB: 64}
}

// Validate refuses what cannot be meant.
func (d Disk) Validate() error {
	for name, percent := range map[string]float64{"bulk_percent": d.BulkPercent, "all_percent": d.AllPercent} {
		if percent < 0 || percent > 100 {
			return setting.Wrong("disk."+name, "must be from 0 to 100")
		}
	}
	switch {
	case d.BulkMiB < 0:
		return setting.Wrong("disk.bulk_mib", "must not be below 0")
	case d.AllMiB < 0:
		return setting.Wrong("disk.all_mib", "must not be below 0")
	case d.BulkPercent == 0 || d.BulkMiB == 0: // bulk work is refused with all other work only
		return nil
	case d.AllPercent > d.BulkPercent:
		return setting.Wrong("disk.all_percent", "%v is above bulk_percent %v: bulk work must be the first that is refused", d.AllPercent, d.BulkPercent)
	case d.AllMiB > d.BulkMiB:
		return setting.Wrong("disk.all_mib", "%d is above bulk_mib %d: bulk work must be the first that is refused", d.AllMiB, d.BulkMiB)
	}
	return nil
}

const (
	// diskFor is how long a measurement holds of a disk that has plenty beyond what is kept free:
	// too short to write that much. Of any other disk none holds.
	diskFor = 50 * time.Millisecond
	plenty  = 1 << 30
)

// diskAfter is when to try again while the disk is nearly full: draining frees nothing at once.
const diskAfter = 10 * time.Second

// A room is what a disk has room for.
type room int

const (
	roomForAll room = iota
	roomForUrgent
	roomForNone
)

func (d Disk) room(free, total uint64) room {
	below := func(percent float64, mib int) bool {
		return free < min(uint64(percent/100*float64(total)), uint64(mib)<<20)
	}
	switch {
	case below(d.AllPercent, d.AllMiB):
		return roomForNone
	case below(d.BulkPercent, d.BulkMiB):
		return roomForUrgent
	}
	return roomForAll
}

// A measurement is what a disk had room for at an instant.
type measurement struct {
	at   time.Time
	room room
	free uint64
}

// space is what the disk has room for now, and what of it is free. A disk that cannot be measured
// is not held against anybody: writing will tell.
func (d *Door) space() (room, uint64) {
	if d.Dir == "" {
		return roomForAll, 0
	}
	now := time.Now()
	if m := d.disk.Load(); m != nil && now.Sub(m.at) < diskFor {
		return m.room, m.free
	}
	free, total, err := d.Free(d.Dir)
	if err != nil || total == 0 {
		return roomForAll, 0
	}
	m := &measurement{at: now, room: d.Disk.room(free, total), free: free}
	if free > plenty && d.Disk.room(free-plenty, total) == roomForAll {
		d.disk.Store(m)
	}
	return m.room, m.free
}

// Full says that there is only room left to send what was accepted; nil: there is more.
func (d *Door) Full() error {
	room, free := d.space()
	if room != roomForNone {
		return nil
	}
	return d.Disk.full(free)
}

// Full says that the disk of a folder has no room for new work; nil: it has, or nobody knows.
func (d Disk) Full(dir string) error {
	free, total, err := freeSpace(dir)
	if err != nil || total == 0 || d.room(free, total) != roomForNone {
		return nil
	}
	return d.full(free)
}

func (d Disk) full(free uint64) error {
	return fmt.Errorf("%d KiB are free on the disk of data_dir, and %v %% or %d MiB are kept for what was accepted", free>>10, d.AllPercent, d.AllMiB)
}

// Space says why bulk work, and why any new work, cannot be stored now; nil: it can.
func (d *Door) Space() (bulk, all *Refusal) {
	switch room, _ := d.space(); room {
	case roomForNone:
		r := &Refusal{Code: CodeNotReady, Detail: "the disk is nearly full, so no new work is taken; post it again later", After: diskAfter}
		return r, r
	case roomForUrgent:
		return &Refusal{Code: CodeNotReady, Detail: "the disk is filling up, so only priority work is taken; post it again later", After: diskAfter}, nil
	}
	return nil, nil
}
