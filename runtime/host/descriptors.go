package host

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// ExpectFiles says that many files are going to be written together (Batch), among
// them one at a path. It returns at once. In memory it does nothing: where it takes no
// time to make files durable, few at once are as quick as many.
//
// Linux makes the table of open files larger when it is full, to twice its size,
// and in a process with threads waits each time until no processor can have the old
// one in use, which takes some milliseconds. Whoever opens a file waits with it.
// So the table is made large enough once, before somebody is in need of it. A
// process that ends waits for that too: it is not done where it may not be needed.
func (v *View) ExpectFiles(name string) {
	p, err := v.files.at(name)
	if err != nil {
		return
	}
	var st unix.Statfs_t
	err = unix.Fstatfs(p.dir.fd, &st)
	p.close()
	if err == nil && int64(st.Type) != unix.TMPFS_MAGIC {
		expectFiles()
	}
}

func expectFiles() {
	expecting.Store(true)
	expectedFiles()
}

var (
	// expecting says that many files are expected, crowded what noteCrowd has counted.
	expecting atomic.Bool
	crowded   atomic.Int64
)

// manyCrowds is how often that has to be for many files to be expected.
const manyCrowds = 4

// noteCrowd counts how often many files waited for their places while it took time to
// make them durable. Where that comes often, more room is made.
func noteCrowd() {
	if waiting.Load() >= fewOpen && !expecting.Load() && crowded.Add(1) >= manyCrowds {
		expectFiles()
	}
}

// isRoomy reports whether there is room for many files.
func isRoomy() bool {
	if !expecting.Load() {
		return false
	}
	select {
	case <-expectedFiles():
		return true
	default:
		return false
	}
}

// expectedFiles returns what is closed once there is room for many files.
var expectedFiles = sync.OnceValue(func() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return // then it takes longer later
		}
		if last, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, mostFiles()+others); err == nil {
			_ = unix.Close(last)
		}
		_ = unix.Close(fd)
	}()
	return done
})

// fewOpen is how many files of a batch may be open without that. The table has 64
// places at first.
const fewOpen = 40

// others is about how many files are open besides those of a batch.
const others = 64
