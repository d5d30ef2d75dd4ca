package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// relaxCollector makes the garbage collector rarer than Go does by itself, because a run
// is short: most runs end before the first collection. That comes when the heap has 24 MiB,
// or a sixteenth of the memory that there is if that is less, and the next ones whenever
// the heap is twice what was in use: three times takes 10 to 25 MiB more for a plan of 10,000
// pending files, and saves a twentieth of the processor's time at most. Beginning at 256 MiB
// saves no time that can be measured and takes 260 MiB for a loop that makes garbage; beginning
// at 4 MiB, as Go does, makes the reading of 10,000 declarations a third slower. Where memory is short the
// collector works harder, so that three quarters of it suffice. What GOMEMLIMIT says is
// left as it is (package runtime).
func relaxCollector() {
	const start = 4 << 20 // where Go begins at 100 percent
	limit := memoryLimit()
	first := int64(24 << 20)
	if limit > 0 {
		first = max(start, min(first, limit/16))
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(limit / 4 * 3)
		}
	}
	debug.SetGCPercent(int(first * 100 / start))
	// A cleanup of something that nothing holds runs after the first collection.
	runtime.AddCleanup(new([16]byte), func(struct{}) { debug.SetGCPercent(100) }, struct{}{})
}

// memoryLimit returns how many bytes this process may use: those of the machine or,
// if that is less, of a control group that it is in. It is 0 if that is not known.
func memoryLimit() int64 {
	var limit int64
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		limit = int64(info.Totalram) * int64(info.Unit)
	}
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
