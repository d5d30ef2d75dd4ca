package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
)

// smallestGoal is where Go collects at 100 percent if the heap is small.
const smallestGoal = 4 << 20

// relaxCollector makes the garbage collector rarer than Go does by itself, because a run
// is short: most runs end before the first collection. That comes when the heap has 26 MiB,
// or a sixteenth of the memory that there is if that is less. The next ones come when it has
// 28 MiB, or a quarter more than what was in use if that is more; the larger the heap, the more,
// up to twice.
//
// This was measured at 10,000 files with 1 KiB each that are written out in Lua, which have 27 MiB
// in use when they are compiled. With the program, of which the kernel counts up to 23 MiB,
// their peak is 63 MiB; at half more than what was in use it is 66, and the processor
// time of a plan is the same. A first collection at 256 MiB saves no time that can be measured and
// takes 260 MiB for a loop that makes garbage; one at 4 MiB, as Go does, makes the reading of
// 10,000 declarations a third slower. Where memory is short the collector works harder, so that
// three quarters of it suffice. What GOMEMLIMIT says is left as it is (package runtime).
func relaxCollector() {
	limit := memoryLimit()
	first := int64(26 << 20)
	if limit > 0 {
		first = max(smallestGoal, min(first, limit/16))
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(limit / 4 * 3)
		}
	}
	debug.SetGCPercent(int(first * 100 / smallestGoal))
	afterCollection(first / 13 * 14)
}

// afterCollection lets each collection set when the next one comes: not before the heap has
// goal bytes.
func afterCollection(goal int64) {
	// A cleanup of something that nothing holds runs after the next collection.
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(collectorPercent(int64(live[0].Value.Uint64()), goal))
		afterCollection(goal)
	}, struct{}{})
}

// collectorPercent returns how much a heap of which live bytes are in use may grow until it
// has goal bytes, or by a quarter if that is more. One that is larger than one and a half of the goal
// may grow by more, and one of five times the goal may double. Go takes the percentage of at least smallestGoal.
func collectorPercent(live, goal int64) int {
	percent := min((goal-live)*100/max(live, 1), goal*100/smallestGoal)
	if more := live - goal/2*3; more > 0 {
		return int(min(100, 25+more*75/(goal/2*7)))
	}
	return int(max(25, percent))
}

// memoryLimit returns how many bytes this process may use: those of the machine or,
// if that is less, of a control group that it is in. It is 0 if that is not known.
func memoryLimit() int64 {
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
