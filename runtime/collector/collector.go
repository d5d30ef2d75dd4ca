// Package collector sets the garbage collector for short runs and for long-lived processes (package runtime/debug).
package collector

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A collector limits the memory of the process (runtime/debug.SetMemoryLimit) instead of the growth of the heap
// (GOGC). So the memory that the kernel counts is bounded, whatever it is used for, and does not grow when
// collections are late on a busy machine.
type collector struct {
	least   int64 // lowest limit, for a small heap
	maxHeap int64 // highest limit, from the user or the machine; 0 if unknown
}

const mebibyte = 1 << 20

// givenLimit is GOMEMLIMIT (package runtime).
var givenLimit int64 = math.MaxInt64

// firstCollection is the memory of the process, without the pages of the program, at which the first collection
// happens. With 4 MiB, the value of Go, reading 10,000 declarations takes a third longer; with 256 MiB nothing is
// faster, and a loop that produces garbage takes 260 MiB. 10,000 files of 1 KiB in Lua use 27 MiB.
const firstCollection = 38 * mebibyte

// Relax makes collections rarer than by default, because a run is short: most runs end before the first one. The
// first collection happens at firstCollection, or at a tenth of the machine's memory if that is less; later ones at
// the limit that limit computes, at most three quarters of the machine's memory. GOMEMLIMIT is a limit as well.
func Relax() {
	c := collector{least: firstCollection}
	if machine := MemoryLimit(); machine > 0 {
		c.least = max(10*mebibyte, min(c.least, machine/10))
		c.maxHeap = machine / 4 * 3
	}
	if givenLimit = debug.SetMemoryLimit(-1); givenLimit < math.MaxInt64 {
		c.least, c.maxHeap = min(c.least, givenLimit), givenLimit
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(c.least)
	// See afterCollection for how the cleanup runs.
	runtime.AddCleanup(new([16]byte), func(struct{}) { releaseProgram() }, struct{}{})
	c.afterCollection()
}

// afterCollection sets the limit for the next collection after each one.
func (c collector) afterCollection() {
	// The cleanup of an unreachable object runs after the next collection. If the cleanup is late, the collection
	// after that comes earlier than necessary, never later.
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		stays.Lock()
		defer stays.Unlock()
		if stays.on {
			return
		}
		sample := []metrics.Sample{
			{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
			{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		}
		metrics.Read(sample)
		of := func(i int) int64 { return int64(sample[i].Value.Uint64()) }
		debug.SetMemoryLimit(c.limit(of(0), of(1)-of(2)-of(3)-of(4)))
		c.afterCollection()
	}, struct{}{})
}

// stays is set by Stay and ends the work of Relax.
var stays struct {
	sync.Mutex
	on bool
}

// Stay makes collections happen when the heap has grown by percent, as by default in Go, for commands that run for
// long. GOMEMLIMIT is a limit as well.
func Stay(percent int) {
	stays.Lock()
	defer stays.Unlock()
	stays.on = true
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(givenLimit)
}

// limit returns the memory limit until the next collection. live is the used part of the heap, further the memory for
// stacks, tables and fragmentation. The heap may grow by a quarter; above 42 MiB by more, and from 75 MiB on by a half.
func (c collector) limit(live, further int64) int64 {
	percent := int64(25)
	if more := live - 42*mebibyte; more > 0 {
		percent = min(50, 25+more*75/(98*mebibyte))
	}
	limit := live + live*percent/100 + further
	limit += limit/32 + mebibyte // Go keeps this much free
	limit = max(limit, c.least)
	if c.maxHeap > 0 {
		limit = min(limit, c.maxHeap)
	}
	return limit
}

// MemoryLimit returns the memory in bytes that this process may use: that of the machine or, if less, that of its
// control groups. It is 0 if unknown.
func MemoryLimit() int64 {
	limit := machineMemory()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return limit
	}
	return groupLimit(limit, string(text), os.ReadFile)
}

// groupLimit returns the least of limit and the memory limits of the control groups in the text of /proc/self/cgroup:
// of version 2 (cgroups(7)), and of the memory controller of version 1. read reads a file.
func groupLimit(limit int64, groups string, read func(string) ([]byte, error)) int64 {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		dir, file := "/sys/fs/cgroup", "memory.max"
		switch controllers := parts[1]; {
		case parts[0] == "0" && controllers == "":
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			dir, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := filepath.Clean("/" + parts[2]); ; group = filepath.Dir(group) {
			if text, err := read(filepath.Join(dir, group, file)); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && (limit == 0 || n < limit) {
					limit = n
				}
			}
			if group == "/" {
				break
			}
		}
	}
	return limit
}
