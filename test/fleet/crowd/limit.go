package crowd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// filesEach is how many descriptors a machine has open at most: its connection, and files that it writes.
const filesEach = 4

// RaiseFileLimit lets this process have as many files open as so many machines need (getrlimit(2)). Only root can go
// beyond the hard limit.
func RaiseFileLimit(nodes int) error {
	want := uint64(nodes*filesEach + 1000)
	var have unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &have); err != nil {
		return err
	}
	if have.Cur >= want {
		return nil
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: want, Max: max(want, have.Max)}); err != nil {
		return fmt.Errorf("%d nodes need %d open files, and %d are allowed: %w", nodes, want, have.Max, err)
	}
	return nil
}
