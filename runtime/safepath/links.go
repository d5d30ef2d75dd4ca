package safepath

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
//   - the links at the top of proc(5), such as /proc/self, are the kernel's, and followed.
//     In a user namespace they belong to a user that has no name there;
//   - everything else is unsafe, and an [UnsafeLinkError].
//
// Directories are gone into whoever owns them: a name in a directory cannot lead
// elsewhere.

// A Link is a symbolic link that is followed only as far as its owner is believed.
type Link struct {
	path, target string
	uid          uint32
	never        bool // followed only to say in an error where it leads
	remaining    int  // how many names are left on the way when it has been followed
}

// mayLeadTo reports whether the link may lead to what a user owns.
func (x *Link) mayLeadTo(uid uint32) bool { return !x.never && uid == x.uid }

// JudgeLink returns what a link that lies in a directory is followed under, nil if under
// no condition.
func JudgeLink(in, l Info, path, target string) *Link {
	x := &Link{path: path, target: target, uid: l.UID}
	switch {
	case !isSharedBy(in.UID, in.Mode):
		return nil
	case !IsOurs(l.UID):
		x.never = l.UID != in.UID
	case l.Links > 1: // somebody may have given a link of root a second name here
		x.never = true
	case !HoldsLinks && !(in.Mode&0o1000 != 0 && IsOurs(in.UID)): // another one may have been read
		x.never = true
	default:
		return nil
	}
	return x
}

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
func (r *Resolver) unsafe(x *Link, path string, owner uint32) error {
	e := &UnsafeLinkError{Link: x.path, Owner: r.UserName(x.uid), Target: path}
	if path != "" {
		e.TargetOwner = r.UserName(owner)
	} else {
		if e.Target = x.target; !strings.HasPrefix(x.target, "/") {
			e.Target = filepath.Join(filepath.Dir(x.path), x.target)
		}
	}
	return e
}

// MayLead returns an error if a link may not lead to what stands at a path, which is of
// kind Missing if nothing does.
func (r *Resolver) MayLead(x *Link, path string, to Info) error {
	switch {
	case to.Kind == Missing && x.never:
		return r.unsafe(x, "", 0)
	case to.Kind != Missing && !x.mayLeadTo(to.UID):
		return r.unsafe(x, path, to.UID)
	}
	return nil
}

// mayEnd returns an error if a link has led to a place where it may not end.
func (r *Resolver) mayEnd(p Location, st *unix.Stat_t) error {
	for _, x := range p.ends {
		if !x.mayLeadTo(st.Uid) {
			return r.unsafe(x, p.Path(), st.Uid)
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
func (r *Resolver) mayRead(p Location, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 && IsShared(&p.Dir.Stat) && st.Uid != p.Dir.Stat.Uid {
		return &HardLinkError{Path: p.Path(), Owner: r.UserName(st.Uid)}
	}
	return nil
}

// MayChange returns an error if the owner and mode of the file at a place are those of
// names elsewhere too, which others may have chosen.
func (r *Resolver) MayChange(p Location, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 && IsShared(&p.Dir.Stat) && (st.Uid != p.Dir.Stat.Uid || !areHardLinksSafe()) {
		return &HardLinkError{Path: p.Path(), Owner: r.UserName(st.Uid)}
	}
	return nil
}
