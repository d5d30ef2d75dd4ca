package host

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// What comes from elsewhere and may be of any size does not take the last of a disk,
// which others need: a twentieth of it is left, and no more than mostReserve.
const mostReserve = 1 << 30

// A SpaceError says that too little of a disk would be left.
type SpaceError struct{ Free, Reserve, Size int64 }

// Error says how much there is.
func (e *SpaceError) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("no space for %s: %s of the disk are free, of which %s are left to others", bytesize.Format(e.Size), bytesize.Format(e.Free), bytesize.Format(e.Reserve))
	}
	return fmt.Sprintf("no space: %s of the disk are free, of which %s are left to others", bytesize.Format(e.Free), bytesize.Format(e.Reserve))
}

// Unwrap returns what a full disk gives.
func (e *SpaceError) Unwrap() error { return unix.ENOSPC }

// checkSpace reports whether there is space for size more bytes on the disk of a file
// that is open. A size below 0 is not known.
func checkSpace(fd int, size int64) error {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Blocks == 0 {
		return nil // writing will tell
	}
	free, reserve := int64(fs.Bavail)*fs.Bsize, min(int64(fs.Blocks)*fs.Bsize/20, mostReserve)
	if size = max(size, 0); free-size < reserve {
		return &SpaceError{Free: free, Reserve: reserve, Size: size}
	}
	return nil
}

// A spaceGuard fails to write once too little of a disk would be left.
type spaceGuard struct {
	fd      int   // of a file on the disk
	written int64 // since it was looked
}

// Write implements io.Writer. It writes nothing.
func (g *spaceGuard) Write(p []byte) (int, error) {
	if g.written += int64(len(p)); g.written < 16<<20 {
		return len(p), nil
	}
	g.written = 0
	if err := checkSpace(g.fd, 0); err != nil {
		return 0, err
	}
	return len(p), nil
}
