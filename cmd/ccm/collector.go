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

// relaxCollector makes the garbage collector rarer: a run is short, and memory is
// cheaper than time. It begins at an eighth of the memory that there is, but neither
// before there are 128 MiB, which most runs never use, nor after 256; and from then on
// whenever the heap is five times of what was in use. It does what it can so that three
// quarters of the memory suffice. What GOMEMLIMIT says is left as it is (package
// runtime).
func relaxCollector() {
	const least = 4 << 20 // what the percentage is of, at first
	limit := memoryLimit()
	debug.SetGCPercent(int(min(max(128<<20, limit/8), 256<<20) / least * 100))
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 4 * 3)
	}
	runtime.AddCleanup(new([16]byte), func(struct{}) { debug.SetGCPercent(400) }, struct{}{})
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
