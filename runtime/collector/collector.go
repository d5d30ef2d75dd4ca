// Package collector has the garbage collector work as it suits a program that runs for a moment, or for long
// (package runtime/debug).
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

// A collector says when the garbage collector is to work: by how much memory the process may have
// (runtime/debug.SetMemoryLimit), and not by how much the heap has grown. So the kernel's count has a
// bound, whatever the memory is for, and it stays the same if the collector comes late on a busy machine.
type collector struct {
	least   int64 // what a small heap may make of the process
	maxHeap int64 // what the user or the machine allows, 0 if that is not known
}

const mebibyte = 1 << 20

// givenLimit is what GOMEMLIMIT says (package runtime).
var givenLimit int64 = math.MaxInt64

// firstCollection is how much memory the process has at the first collection, without the pages of the
// program. At 4 MiB, which is what Go does, 10,000 declarations are read a third slower; at 256 MiB nothing
// is faster, and a loop that makes garbage takes 260 MiB. 10,000 files of 1 KiB in Lua have 27 MiB in use.
const firstCollection = 38 * mebibyte

// Relax makes the garbage collector rarer than Go does by itself, because a run is short: most
// runs end before the first collection. Where there is little memory, that comes at a tenth of it. The
// next ones come there too, or when the heap has grown, see limit. Three quarters of the memory that there is
// are the most. What GOMEMLIMIT says holds as well (package runtime).
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
	// What is said of cleanups in afterCollection holds here.
	runtime.AddCleanup(new([16]byte), func(struct{}) { releaseProgram() }, struct{}{})
	c.afterCollection()
}

// afterCollection lets each collection set when the next one comes.
func (c collector) afterCollection() {
	// A cleanup of something that nothing holds runs after the next collection. If that is late, the
	// one after it comes too early, and not too late.
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

// stays says that this process lives long: what Relax began ends.
var stays struct {
	sync.Mutex
	on bool
}

// Stay has the collector work when the heap has grown by so many percent, as Go does by itself. It
// is for commands that live long. What GOMEMLIMIT says holds as well.
func Stay(percent int) {
	stays.Lock()
	defer stays.Unlock()
	stays.on = true
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(givenLimit)
}

// limit returns how much the process may have until the next collection. Of its heap live bytes are in
// use, and further bytes are for stacks, tables and what is lost between objects. A heap grows by a
// quarter. One of more than 42 MiB may grow by more, and one of 140 MiB may double.
func (c collector) limit(live, further int64) int64 {
	percent := int64(25)
	if more := live - 42*mebibyte; more > 0 {
		percent = min(100, 25+more*75/(98*mebibyte))
	}
	limit := live + live*percent/100 + further
	limit += limit/32 + mebibyte // which Go keeps free
	limit = max(limit, c.least)
	if c.maxHeap > 0 {
		limit = min(limit, c.maxHeap)
	}
	return limit
}

// MemoryLimit returns how many bytes this process may use: those of the machine or,
// if that is less, of a control group that it is in. It is 0 if that is not known.
func MemoryLimit() int64 {
	limit := machineMemory()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return limit
	}
	return groupLimit(limit, string(text), os.ReadFile)
}

// groupLimit returns the least of limit and of what the control groups allow that
// /proc/self/cgroup names: in version 2 (cgroups(7)) and in the hierarchy of the memory
// controller of version 1.
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
