// Package sources has the files and URLs that the user names as sources, and caches their digests
// and contents for a run.
package sources

import (
	"os"
	"strconv"
	"time"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A StatData is the size, times and inode of a source, which change with its content (as
// the stat data in the index of git).
type StatData struct {
	Size int64 // in bytes
	// MTime and CTime are the times of the last change of its content and of its inode, in
	// nanoseconds since 1970. Both and the inode are 0 if the source is not a file.
	MTime, CTime int64
	Inode        uint64
	// Reliable is set if every later change of the source changes its stat data: the last
	// change was longer ago than the resolution of its times.
	Reliable bool
}

// timeStep is the coarsest resolution of the times of files: two seconds on FAT.
const timeStep = 2 * time.Second

// StatDataOf returns the stat data of a file.
func StatDataOf(fi os.FileInfo, now time.Time) StatData {
	g := StatData{Size: fi.Size()}
	if ctime, inode, ok := safepath.CTimeOf(fi); ok {
		g.MTime, g.CTime, g.Inode = fi.ModTime().UnixNano(), ctime.UnixNano(), inode
		g.Reliable = now.Sub(ctime) > timeStep
	}
	return g
}

// StatDataOfInfo returns the stat data of an Info.
func StatDataOfInfo(i *safepath.Info, now time.Time) StatData {
	return StatData{
		Size: i.Size, MTime: i.MTime.UnixNano(), CTime: i.CTime, Inode: i.Ino,
		Reliable: now.UnixNano()-i.CTime > int64(timeStep),
	}
}

// Stamp returns a text that changes with every later change of the source; "" if the stat data
// are not reliable.
func (g StatData) Stamp() string {
	if !g.Reliable || g.Inode == 0 {
		return ""
	}
	b := strconv.AppendInt(nil, g.MTime, 10)
	b = strconv.AppendInt(append(b, '-'), g.CTime, 10)
	return string(strconv.AppendUint(append(b, '-'), g.Inode, 10))
}
