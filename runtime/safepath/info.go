package safepath

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A FileKind is the kind of a file.
type FileKind uint8

// The kinds of files.
const (
	Missing FileKind = iota
	Regular
	Directory
	Symlink
	Special // a device, a named pipe or a socket
)

// String returns the kind with its article, for messages.
func (k FileKind) String() string {
	return [...]string{"nothing", "a file", "a directory", "a symbolic link", "a device, socket or pipe"}[k]
}

// An Info is the metadata of a file, or of a symbolic link itself. The zero Info is of kind Missing.
type Info struct {
	Kind     FileKind
	Mode     uint32 // permission bits, with setuid, setgid and sticky
	UID, GID uint32
	Size     int64
	MTime    time.Time
	CTime    int64 // time of the last change of the inode, in nanoseconds since 1970
	Dev, Ino uint64
	Links    uint64 // number of hard links
}

// InfoOf returns the Info for a result of stat(2).
func InfoOf(st *unix.Stat_t) Info {
	i := Info{
		Mode: uint32(st.Mode) & 0o7777, UID: st.Uid, GID: st.Gid, Size: st.Size,
		MTime: time.Unix(st.Mtim.Unix()), CTime: st.Ctim.Nano(), Dev: uint64(st.Dev), Ino: st.Ino, Links: uint64(st.Nlink),
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		i.Kind = Regular
	case syscall.S_IFDIR:
		i.Kind = Directory
	case syscall.S_IFLNK:
		i.Kind = Symlink
	default:
		i.Kind = Special
	}
	return i
}

// KindOf returns the kind of a file.
func KindOf(fi os.FileInfo) FileKind {
	switch {
	case fi.IsDir():
		return Directory
	case fi.Mode().IsRegular():
		return Regular
	case fi.Mode()&os.ModeSymlink != 0:
		return Symlink
	}
	return Special
}

// IsOwnersToChange reports whether the owner of a file is neither root nor the user of this process. Such an owner
// may still change the file while ccm changes its owner.
func (i Info) IsOwnersToChange() bool { return !IsOurs(i.UID) }

// FileMode turns permission bits into a Go mode.
func FileMode(bits uint32) os.FileMode {
	m := os.FileMode(bits & 0o777)
	if bits&0o4000 != 0 {
		m |= os.ModeSetuid
	}
	if bits&0o2000 != 0 {
		m |= os.ModeSetgid
	}
	if bits&0o1000 != 0 {
		m |= os.ModeSticky
	}
	return m
}

// An Attr is the owner, group and mode of a file.
type Attr struct {
	UID, GID uint32
	Mode     uint32 // permission bits
}
