package main

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host"
)

// clock tells the time; tests replace it by one that stands still.
var clock host.Clock = host.RealClock{}

// startCPU returns the processor time that the process has used. At the beginning of main this is
// about the time since the start of the process, because nothing waits before main.
var startCPU = func() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
