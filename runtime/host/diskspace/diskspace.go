// Package diskspace keeps some of a disk free: what comes from elsewhere and may be of any
// size does not take the last of it, which others need.
package diskspace

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// largestReserve is how many bytes are left at most; it is a twentieth of the disk otherwise.
const largestReserve = 1 << 30

// An Error says that too little of a disk would be left.
type Error struct{ Free, Reserve, Size int64 }

// Error says how much there is.
func (e *Error) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("no space for %s: %s of the disk are free, of which %s are left to others", bytesize.Format(e.Size), bytesize.Format(e.Free), bytesize.Format(e.Reserve))
	}
	return fmt.Sprintf("no space: %s of the disk are free, of which %s are left to others", bytesize.Format(e.Free), bytesize.Format(e.Reserve))
}

// Unwrap returns what a full disk gives.
func (e *Error) Unwrap() error { return unix.ENOSPC }

// Check reports whether there is space for size more bytes on the disk of a file
// that is open. A size below 0 is not known.
func Check(fd int, size int64) error {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Blocks == 0 {
		return nil // writing will tell
	}
	block := int64(fs.Bsize) // which is 32 bits wide on some machines
	free, reserve := int64(fs.Bavail)*block, min(int64(fs.Blocks)*block/20, largestReserve)
	if size = max(size, 0); free-size < reserve {
		return &Error{Free: free, Reserve: reserve, Size: size}
	}
	return nil
}

// A Guard fails to write once too little of a disk would be left.
type Guard struct {
	FD           int   // of a file on the disk
	writtenBytes int64 // since it was looked
}

// Write implements io.Writer. It writes nothing.
func (g *Guard) Write(p []byte) (int, error) {
	if g.writtenBytes += int64(len(p)); g.writtenBytes < 16<<20 {
		return len(p), nil
	}
	g.writtenBytes = 0
	if err := Check(g.FD, 0); err != nil {
		return 0, err
	}
	return len(p), nil
}
