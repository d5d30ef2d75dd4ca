package studio

import "golang.org/x/sys/unix"

// limitMemory limits the memory of this process. A process that takes more ends.
func limitMemory(bytes uint64) error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes})
}
