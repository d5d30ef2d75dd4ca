package crowd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Open descriptors: a machine writes files besides its connection, and the process has some of its own.
const (
	filesOfMachine    = 4
	filesOfConnection = 1
	filesOfProcess    = 1000
)

// RaiseFileLimit raises the limit of open files for a number of machines and connections (getrlimit(2)). Only root
// can exceed the hard limit, and not everywhere.
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

// MostMachines returns the number of machines that this process can simulate, at most want.
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
