// Package diskspace keeps a part of a disk free for others: downloads and archives may be of any
// size, and must not fill the disk.
package diskspace

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// largestReserve is the largest part that is kept free; on smaller disks it is a twentieth.
const largestReserve = 1 << 30

// An Error reports that too little of a disk would stay free.
type Error struct{ Free, Reserve, Size int64 }

// Error reports how much there is.
func (e *Error) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("no space for %s: %s free on disk, of which %s are reserved", bytesize.Format(e.Size), bytesize.Format(e.Free), bytesize.Format(e.Reserve))
	}
	return fmt.Sprintf("no space: %s free on disk, of which %s are reserved", bytesize.Format(e.Free), bytesize.Format(e.Reserve))
}

// Unwrap returns the error of a full disk.
func (e *Error) Unwrap() error { return unix.ENOSPC }

// Check returns an error if size more bytes on the disk of an open file would leave too little
// free. A negative size is unknown.
func Check(fd int, size int64) error {
	free, reserve, ok := Free(fd)
	if size = max(size, 0); ok && free-size < reserve {
		return &Error{Free: free, Reserve: reserve, Size: size}
	}
	return nil
}

// Free returns the number of free bytes on the disk of an open file, and how many of them are kept free. It is not ok if
// the disk does not report them: a write fails if the disk is full.
func Free(fd int) (free, reserve int64, ok bool) {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Blocks == 0 {
		return 0, 0, false
	}
	block := int64(fs.Bsize) // 32 bits wide on some machines
	return int64(fs.Bavail) * block, min(int64(fs.Blocks)*block/20, largestReserve), true
}

// A Guard fails a write when too little of a disk is free.
type Guard struct {
	FD           int   // of a file on the disk
	writtenBytes int64 // since the last check
}

// Write implements io.Writer. It only counts.
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
