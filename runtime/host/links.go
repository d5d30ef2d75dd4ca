package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Which links are followed. Whoever can make a link can lead root to anything, so a link
// counts only as far as its owner could have gone himself:
//
//   - a link of root, or of the user of this process, is followed;
//   - so is any link in a directory that only these may write, because one of them has
//     put it there;
//   - the link of another user is followed if it lies in a directory of that user and
//     what it leads to in the end belongs to that user too;
//   - everything else is unsafe, and an [UnsafeLinkError].
//
// Directories are gone into whoever owns them: a name in a directory cannot lead
// elsewhere.

// A link is a symbolic link that is followed only as far as its owner is believed.
type link struct {
	path, target string
	uid          uint32
	never        bool // followed only to say in an error where it leads
	left         int  // how many names are left on the way when it has been followed
}

// mayLeadTo reports whether the link may lead to what a user owns.
func (x *link) mayLeadTo(uid uint32) bool { return !x.never && uid == x.uid }

// judgeLink returns what a link that lies in a directory is followed under, nil if under
// no condition.
func judgeLink(in, l Info, path, target string) *link {
	x := &link{path: path, target: target, uid: l.UID}
	switch {
	case !isSharedBy(in.UID, in.Mode):
		return nil
	case !isOurs(l.UID):
		x.never = l.UID != in.UID
	case l.Links > 1: // somebody may have given a link of root a second name here
		x.never = true
	default:
		return nil
	}
	return x
}

// isOurs reports whether a user is root or the one of this process.
func isOurs(uid uint32) bool {
	own, _ := self()
	return uid == 0 || uid == own
}

// isShared reports whether others than root and the user of this process may make,
// rename and remove things in a directory.
func isShared(dir *unix.Stat_t) bool { return isSharedBy(dir.Uid, dir.Mode) }

// isSharedBy is isShared for a directory of that owner and mode.
func isSharedBy(uid, mode uint32) bool { return !isOurs(uid) || mode&0o022 != 0 }

// An UnsafeLinkError says that a symbolic link on the way to a file is not followed,
// because it is the link of a user to something that is not his.
type UnsafeLinkError struct {
	Link   string // the path of the link
	Owner  string // the name of its owner
	Target string // where it leads
	// TargetOwner is who owns what is there, "" if that is not known.
	TargetOwner string
}

// Error names both owners and says what to do.
func (e *UnsafeLinkError) Error() string {
	leads := "to " + e.Target
	if e.TargetOwner != "" {
		leads += ", which belongs to " + e.TargetOwner
	}
	return fmt.Sprintf("unsafe symbolic link: %s belongs to %s and leads %s (name the path without the link, or chown -h root %s if it is right)", e.Link, e.Owner, leads, e.Link)
}

// unsafe returns the error for a link that leads to a path, "" if that is not known, which
// belongs to that user.
func (w *walker) unsafe(x *link, path string, owner uint32) error {
	e := &UnsafeLinkError{Link: x.path, Owner: w.userName(x.uid), Target: path}
	if path != "" {
		e.TargetOwner = w.userName(owner)
	} else {
		if e.Target = x.target; !strings.HasPrefix(x.target, "/") {
			e.Target = filepath.Join(filepath.Dir(x.path), x.target)
		}
	}
	return e
}

// mayEnd returns an error if a link has led to a place where it may not end.
func (w *walker) mayEnd(p location, st *unix.Stat_t) error {
	for _, x := range p.ends {
		if !x.mayLeadTo(st.Uid) {
			return w.unsafe(x, p.path(), st.Uid)
		}
	}
	return nil
}

// areHardLinksSafe reports whether the kernel lets nobody give a second name to a file
// that he can neither read nor write (fs.protected_hardlinks). If it does not, a file
// with several names in a directory where others may make names can be any file.
var areHardLinksSafe = sync.OnceValue(func() bool {
	text, err := os.ReadFile("/proc/sys/fs/protected_hardlinks")
	return err == nil && strings.TrimSpace(string(text)) != "0"
})

// A HardLinkError says that a file is left alone because it has more names than one, and
// others may have made the one that it was found by.
type HardLinkError struct {
	Path  string
	Owner string // of the file
}

// Error says what to do.
func (e *HardLinkError) Error() string {
	return fmt.Sprintf("%s is a file of %s that has other names too, in a directory where others may make them (remove that name, or replace the file by a copy)", e.Path, e.Owner)
}

// mayRead returns an error if the file at a place may be one that was put there for root
// to read it, where hard links are not safe.
func (w *walker) mayRead(p location, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 && isShared(&p.dir.st) && st.Uid != p.dir.st.Uid {
		return &HardLinkError{Path: p.path(), Owner: w.userName(st.Uid)}
	}
	return nil
}

// mayChange returns an error if the owner and mode of the file at a place are those of
// names elsewhere too, which others may have chosen.
func (w *walker) mayChange(p location, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 && isShared(&p.dir.st) && (st.Uid != p.dir.st.Uid || !areHardLinksSafe()) {
		return &HardLinkError{Path: p.path(), Owner: w.userName(st.Uid)}
	}
	return nil
}
