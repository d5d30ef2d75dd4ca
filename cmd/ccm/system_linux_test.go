package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// memoryFS runs tests with temporary directories in memory, because syncing to a disk would take most of their time.
// If TMPDIR is set, it is used instead.
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
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil { // as /tmp, which other users use too
		return m.M.Run()
	}
	_ = os.Setenv("TMPDIR", dir)
	return m.M.Run()
}

// askUnread is the ioctl for the number of unread bytes in a pipe (ioctl_tty(2)).
const askUnread = unix.TIOCINQ
