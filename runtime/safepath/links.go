package safepath

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// The rule for symbolic links. Anybody who can make a link could lead root to any file, so a link is followed only to
// where its owner could have gone himself:
//
//  - a link of root, or of the user of this process, is followed;
//  - so is any link in a directory that only these two may write, because one of them has made it;
//  - the link of another user is followed if it is in a directory of that user and its final target also belongs to
// that user;
//  - links at the top of proc(5), such as /proc/self, are made by the kernel and followed. In a user namespace their
// owner has no name;
//  - every other link is unsafe, and an [UnsafeLinkError]. So is a link of root with several names in a directory of
// others, which may have made the name.
//
// Directories are entered whoever owns them: a name in a directory cannot lead elsewhere.

// A Link is a symbolic link that may lead only to files of its owner.
type Link struct {
	path, target string
	uid          uint32
	never        bool // followed only to name its target in an error
	remaining    int  // number of names left on the path behind the target
}

// mayLeadTo reports whether the link may lead to a file of a user.
func (x *Link) mayLeadTo(uid uint32) bool { return !x.never && uid == x.uid }

// JudgeLink returns the condition for following the link l in the directory in, nil if it may lead anywhere.
func JudgeLink(in, l Info, path, target string) *Link {
	x := &Link{path: path, target: target, uid: l.UID}
	switch {
	case !isSharedBy(in.UID, in.Mode):
		return nil
	case !IsOurs(l.UID):
		x.never = l.UID != in.UID
	case l.Links > 1: // another user may have made a second name for a link of root
		x.never = true
	case !HoldsLinks && !(in.Mode&0o1000 != 0 && IsOurs(in.UID)): // the link may have been replaced before its target was read
		x.never = true
	default:
		return nil
	}
	return x
}

// An UnsafeLinkError reports that a symbolic link was not followed, because it leads from one user to a file of another.
type UnsafeLinkError struct {
	Link   string // the path of the link
	Owner  string // the name of its owner
	Target string // where it leads
	// TargetOwner is the owner of the target, "" if unknown.
	TargetOwner string
}

// Error names both owners and the remedy.
func (e *UnsafeLinkError) Error() string {
	leads := "to " + e.Target
	if e.TargetOwner != "" {
		leads += ", which belongs to " + e.TargetOwner
	}
	return fmt.Sprintf("unsafe symbolic link: %s belongs to %s and leads %s (use the path without the link, or run chown -h root %s if it is correct)", e.Link, e.Owner, leads, e.Link)
}

// unsafe returns the error for a link to path, which owner owns; path is "" if the final target is unknown.
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

// MayLead returns an error if a link may not lead to the file at path. to is its Info, of kind Missing if there is
// none.
func (r *Resolver) MayLead(x *Link, path string, to Info) error {
	switch {
	case to.Kind == Missing && x.never:
		return r.unsafe(x, "", 0)
	case to.Kind != Missing && !x.mayLeadTo(to.UID):
		return r.unsafe(x, path, to.UID)
	}
	return nil
}

// mayEnd returns an error if one of the links that have led to a file may not lead there.
func (r *Resolver) mayEnd(p Location, st *unix.Stat_t) error {
	for _, x := range p.ends {
		if !x.mayLeadTo(st.Uid) {
			return r.unsafe(x, p.Path(), st.Uid)
		}
	}
	return nil
}

// areHardLinksSafe reports whether the kernel keeps users from making hard links to files that they can neither read
// nor write (fs.protected_hardlinks). Without that, a file with several names in a directory of others can be any
// file.
var areHardLinksSafe = sync.OnceValue(func() bool {
	text, err := os.ReadFile("/proc/sys/fs/protected_hardlinks")
	return err == nil && strings.TrimSpace(string(text)) != "0"
})

// A HardLinkError reports that a file was left alone because it has several hard links, one of which another user may
// have made.
type HardLinkError struct {
	Path  string
	Owner string // owner of the file
}

// Error names the owner and the remedy.
func (e *HardLinkError) Error() string {
	return fmt.Sprintf("%s is a file of %s with other hard links, in a directory where others can create them (remove the link, or replace the file by a copy)", e.Path, e.Owner)
}

// mayRead returns an error if another user may have linked the file to a place where root reads it. It is for kernels
// on which hard links are not safe.
func (r *Resolver) mayRead(p Location, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 && IsShared(&p.Dir.Stat) && st.Uid != p.Dir.Stat.Uid {
		return &HardLinkError{Path: p.Path(), Owner: r.UserName(st.Uid)}
	}
	return nil
}

// MayChange returns an error if a change of the file's owner or mode could affect another file that a user has linked
// here.
func (r *Resolver) MayChange(p Location, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 && IsShared(&p.Dir.Stat) && (st.Uid != p.Dir.Stat.Uid || !areHardLinksSafe()) {
		return &HardLinkError{Path: p.Path(), Owner: r.UserName(st.Uid)}
	}
	return nil
}
