package main

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host"
)

// clock is what tells the time; tests make it stand still.
var clock host.Clock = host.RealClock{}

// beforeMain returns the processor time that the process has used. Called first
// thing in main it is about the time that passed since it was started: nothing
// waits for anything before main.
var beforeMain = func() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
