//go:build linux && portable

package safepath

import "golang.org/x/sys/unix"

// searchOnly opens a directory as the start of a path, without the right to list it.
const searchOnly = unix.O_PATH
