//go:build !linux

package main

import "testing"

// memoryFS runs tests with the temporary directories that there are.
type memoryFS struct{ *testing.M }

// askUnread is the ioctl that asks how many bytes of a pipe are not read yet: FIONREAD of the BSDs (sys/filio.h).
const askUnread = 0x4004667f

// withSystemd is ccm where systemd seems to run, which only Linux can pretend.
func withSystemd() {}
