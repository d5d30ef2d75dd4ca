package doctor

import "golang.org/x/sys/unix"

// clockSynchronized reports whether the kernel takes its clock as right: something such as NTP
// has set it, and does so again and again (adjtimex(2)). It only asks.
func clockSynchronized() (bool, error) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return false, err
	}
	return t.Status&unix.STA_UNSYNC == 0, nil
}
