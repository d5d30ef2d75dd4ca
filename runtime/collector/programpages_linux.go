package collector

import (
	"os"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram drops the pages of the program's code from the memory of the process; much of it is needed only at
// the start. Code that runs again is mapped again from the page cache. The content cannot be lost, because code is
// never written (proc_pid_maps(5), madvise(2)).
func releaseProgram() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	here := uint64(reflect.ValueOf(releaseProgram).Pointer())
	if begin, end := codeAround(here, string(maps)); end > begin {
		// An error changes nothing.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
	}
}

// codeAround returns the file mapping around an address that is executable and not writable, zeros if there is none.
// maps is the text of /proc/self/maps.
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
