package collector

import "golang.org/x/sys/unix"

// machineMemory returns how many bytes the machine has; 0 if that is not known.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
