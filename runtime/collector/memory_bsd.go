//go:build darwin || freebsd

package collector

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// machineMemory returns how many bytes the machine has; 0 if that is not known.
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
