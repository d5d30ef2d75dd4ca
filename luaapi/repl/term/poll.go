package term

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// readable reports whether a file can be read, if need be after a wait.
func readable(fd int, wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for wait > 0 {
		n, err := unix.Poll(fds, int(wait.Milliseconds())+1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && n > 0
	}
	return false
}
