package main

import (
	"runtime"
	"runtime/debug"
)

// relaxCollector makes the garbage collector rarer: a run is short, and memory is
// cheaper than time. It begins when there are 64 MiB, which most runs never use,
// and from then on whenever the heap is five times of what was in use.
func relaxCollector() {
	debug.SetGCPercent(1600) // of at least 4 MiB
	runtime.AddCleanup(new([16]byte), func(struct{}) { debug.SetGCPercent(400) }, struct{}{})
}
