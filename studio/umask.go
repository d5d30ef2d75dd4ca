package studio

import (
	"io/fs"
	"sync"
	"syscall"
)

// umask returns the mode bits that new files of the user do not get. Reading it means setting it
// for the whole process, so it is read once.
var umask = sync.OnceValue(func() fs.FileMode {
	old := syscall.Umask(0o077)
	syscall.Umask(old)
	return fs.FileMode(old) & fs.ModePerm
})
