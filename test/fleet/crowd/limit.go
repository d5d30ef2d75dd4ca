package crowd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Descriptors that are open at most: a machine writes files besides its connection, and the process has some itself.
const (
	filesOfMachine    = 4
	filesOfConnection = 1
	filesOfProcess    = 1000
)

// RaiseFileLimit lets this process have as many files open as so many machines and connections need (getrlimit(2)). Only
// root can go beyond the hard limit, and not everywhere.
func RaiseFileLimit(machines, connections int) error {
	want := uint64(machines*filesOfMachine + connections*filesOfConnection + filesOfProcess)
	var have unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &have); err != nil {
		return err
	}
	if have.Cur >= want {
		return nil
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: want, Max: max(want, have.Max)}); err != nil {
		return fmt.Errorf("%d machines and %d connections need %d open files, and %d are allowed: %w", machines, connections, want, have.Max, err)
	}
	return nil
}

// MostMachines returns how many machines this process can simulate, at most want.
func MostMachines(want int) int {
	if RaiseFileLimit(want, 0) == nil {
		return want
	}
	var have unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &have) != nil {
		return 0
	}
	return max(0, min(want, (int(have.Cur)-filesOfProcess)/filesOfMachine))
}
