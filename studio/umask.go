package studio

import (
	"io/fs"
	"sync"
	"syscall"
)

// umask returns what new files of the user are not allowed. It can only be asked for by setting
// it, for the whole process; that is done once.
var umask = sync.OnceValue(func() fs.FileMode {
	old := syscall.Umask(0o077)
	syscall.Umask(old)
	return fs.FileMode(old) & fs.ModePerm
})
