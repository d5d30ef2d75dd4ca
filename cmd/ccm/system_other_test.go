//go:build !linux

package main

import "testing"

// memoryFS runs tests with the normal temporary directories.
type memoryFS struct{ *testing.M }

// askUnread is the ioctl for the number of unread bytes in a pipe: FIONREAD of the BSDs (sys/filio.h).
const askUnread = 0x4004667f

// withSystemd does nothing: only Linux can simulate systemd.
func withSystemd() {}
