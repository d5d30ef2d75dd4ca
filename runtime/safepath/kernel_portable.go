//go:build linux && portable

package safepath

import "golang.org/x/sys/unix"

// searchOnly opens a directory that may not be read, to go on from there.
const searchOnly = unix.O_PATH
