package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// relaxCollector makes the garbage collector rarer than Go does by itself, because a run
// is short: most runs end before the first collection. That comes when the heap has 24 MiB,
// or a sixteenth of the memory that there is if that is less, and the next ones whenever
// the heap is three times of what was in use. Beginning at 256 MiB saves no time that can
// be measured and takes 260 MiB for a loop that makes garbage; beginning at 4 MiB, as Go
// does, makes the reading of 10,000 declarations a third slower. Where memory is short the
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
	runtime.AddCleanup(new([16]byte), func(struct{}) { debug.SetGCPercent(200) }, struct{}{})
}

// memoryLimit returns how many bytes this process may use: those of the machine or,
// if that is less, of a control group that it is in (cgroups(7), version 2). It is 0
// if that is not known.
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
	group := ""
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			group = strings.TrimSpace(path)
		}
	}
	for group != "" {
		if text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", group, "memory.max")); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && (limit == 0 || n < limit) {
				limit = n
			}
		}
		if group == "/" || group == "." {
			break
		}
		group = filepath.Dir(group)
	}
	return limit
}
