package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// memoryFS runs tests whose temporary directories stand in memory: what they write is made
// durable, and on a disk that is most of what they wait for. TMPDIR, if it is set, is left as
// it is.
type memoryFS struct{ *testing.M }

// Run implements testscript.TestingM.
func (m memoryFS) Run() int {
	const memory, enough = "/dev/shm", 2 << 30
	var fs unix.Statfs_t
	err := unix.Statfs(memory, &fs)
	if err != nil || fs.Flags&unix.ST_NOEXEC != 0 || fs.Bavail*uint64(fs.Bsize) < enough || os.Getenv("TMPDIR") != "" {
		return m.M.Run()
	}
	dir, err := os.MkdirTemp(memory, "ccm-test-")
	if err != nil {
		return m.M.Run()
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil { // as /tmp, which others use too
		return m.M.Run()
	}
	_ = os.Setenv("TMPDIR", dir)
	return m.M.Run()
}

// askUnread is the ioctl that asks how many bytes of a pipe are not read yet (ioctl_tty(2)).
const askUnread = unix.TIOCINQ
