//go:build darwin || freebsd

package collector

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// machineMemory returns the memory of the machine in bytes, 0 if unknown.
func machineMemory() int64 {
	name := "hw.physmem"
	if runtime.GOOS == "darwin" {
		name = "hw.memsize"
	}
	n, err := unix.SysctlUint64(name)
	if err != nil {
		return 0
	}
	return int64(n)
}
