package collector

import (
	"os"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram gives back the pages of the program's code that were read until now: much of it
// is needed only at the start. What runs again comes back from the kernel's cache of the file. It
// changes nothing but the count: nobody writes to code (proc_pid_maps(5), madvise(2)).
func releaseProgram() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	here := uint64(reflect.ValueOf(releaseProgram).Pointer())
	if begin, end := codeAround(here, string(maps)); end > begin {
		// Refused, it is as before.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
	}
}

// codeAround returns the mapping of a file that holds an address and can be run but not written;
// zeros if there is none.
func codeAround(address uint64, maps string) (begin, end uint64) {
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "r-xp" {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		b, err := strconv.ParseUint(from, 16, 64)
		e, err2 := strconv.ParseUint(to, 16, 64)
		if err == nil && err2 == nil && b <= address && address < e {
			return b, e
		}
	}
	return 0, 0
}
