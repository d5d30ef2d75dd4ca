package host

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/host/diskspace"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// An ObstacleError reports what keeps a path from being changed, and what to do about it.
type ObstacleError struct {
	text  string
	errno error // of the system call that would fail
}

// Error implements error.
func (e *ObstacleError) Error() string { return e.text }

// Unwrap returns the errno of the system call that would fail.
func (e *ObstacleError) Unwrap() error { return e.errno }

// obstacle returns an ObstacleError.
func obstacle(errno error, format string, args ...any) error {
	return &ObstacleError{fmt.Sprintf(format, args...), errno}
}

// Obstacles looks for what keeps effects from happening, whoever tries, without trying: immutable
// files, read-only mounts, files of the kernel and the like. The error describes what to do about the
// first one. Notes list the paths that are written in place, and why. An effect that cannot be judged,
// because an earlier one is assumed at its path, has no obstacle.
func Obstacles(v *View, list ...overlay.PathEffect) (notes []string, err error) {
	var room *overlay.RoomProposal
	if v.IsPlan() { // a run finds out by trying
		room = &overlay.RoomProposal{Claims: make(map[overlay.Volume]overlay.Claim)}
		v.overlay.ProposeRoom(room)
	}
	for _, p := range list {
		if p.Unsure || p.Vague || p.Account != nil || p.OfSystem && v.root != "/" {
			continue
		}
		if _, assumed := v.overlay.Assumed(p.Path); assumed {
			continue
		}
		note, err := obstacleOf(v, p, room)
		if err != nil {
			return nil, err
		}
		if note != "" {
			notes = append(notes, note)
		}
		notes = append(notes, dropInNotes(v, p)...)
	}
	return notes, nil
}

// obstacleOf is Obstacles for one effect.
func obstacleOf(v *View, p overlay.PathEffect, room *overlay.RoomProposal) (note string, err error) {
	at, dir, err := nearest(v, p.Path)
	if err != nil {
		return "", nil // the effect itself reports it
	}
	defer dir.Close()
	if a := p.Attr; a != nil && !overlay.IsPlaceholder(a.UID) && !overlay.IsPlaceholder(a.GID) && !safepath.IsMapped(a.UID, a.GID) {
		return "", obstacle(unix.EINVAL, "%s cannot belong to uid %d, gid %d: this user namespace does not have both (/proc/self/uid_map, gid_map)", p.Path, a.UID, a.GID)
	}
	if p.SetsCapabilities {
		if _, err := dir.Capabilities(); errors.Is(err, unix.EOPNOTSUPP) {
			return "", capabilityError(p.Path, err)
		}
	}
	if dir != at.Dir { // a directory above the path is missing
		return "", directoryObstacle(v, p, dir, nil, room)
	}
	d, err := at.OpenPath()
	if err != nil {
		return "", directoryObstacle(v, p, dir, nil, room)
	}
	defer d.Close()
	kind := safepath.InfoOf(&d.Stat).Kind
	if p.Kind == safepath.Directory && (kind != safepath.Directory || p.Attr == nil) {
		return "", checkRoom(v, room, p, d, d)
	}
	c := d.Constraint()
	if c.OfKernel && !isWritten(p) && !(p.Kind == safepath.Missing && kind == safepath.Regular) {
		if c.ReadOnly && p.Kind == safepath.Regular {
			return "", readOnly(v, p.Path, at.Path())
		}
		return "", nil // a command may do what a write cannot
	}
	stays := p.Kind == kind && (p.Kept || kind == safepath.Directory) // only its owner or mode changes
	switch {
	case c.OfKernel && p.Kind == safepath.Missing:
		return "", obstacle(unix.EPERM, "%s cannot be removed: the kernel provides it", p.Path)
	case c.OfKernel && isBelow(at.Path(), "/proc/sys") && v.root == "/" && !stays:
		setting := strings.ReplaceAll(strings.TrimPrefix(at.Path(), "/proc/sys/"), "/", ".")
		return "", obstacle(unix.EPERM, "%s is a kernel setting: use std.sysctl, which also sets it at boot (sysctl { %q, value = ... })", p.Path, setting)
	case c.OfKernel && kind == safepath.Regular && !stays && d.Stat.Mode&0o222 == 0:
		return "", obstacle(unix.EACCES, "%s is read-only: the kernel lets nobody change it", p.Path)
	case c.ReadOnly:
		return "", readOnly(v, p.Path, at.Path())
	case c.Mounted && p.Kind == safepath.Missing:
		return "", obstacle(unix.EBUSY, "%s is a mount point, which cannot be removed (umount %s)", p.Path, p.Path)
	case c.Immutable:
		return "", obstacle(unix.EPERM, "%s is immutable (chattr -i %s)", p.Path, p.Path)
	case c.AppendOnly:
		return "", obstacle(unix.EPERM, "%s is append-only (chattr -a %s)", p.Path, p.Path)
	case kind == safepath.Regular && !stays && isSwap(v, at.Path(), d.Stat.Size):
		return "", obstacle(unix.ETXTBSY, "%s is a swap file in use (swapoff %s)", p.Path, p.Path)
	case stays:
		return "", checkRoom(v, room, p, d, d)
	}
	if kind == safepath.Regular && p.Kind == safepath.Regular {
		if reason := inPlaceReason(d, p.KeepsHardLinks); reason != "" {
			return "in place, because " + reason, checkRoom(v, room, p, d, d)
		}
		if d.Stat.Nlink > 1 {
			note = "its other hard links keep the old content"
		}
	}
	return note, directoryObstacle(v, p, dir, d, room)
}

// minSwap is less than the kernel takes for swap space, in bytes: 10 pages.
const minSwap = 40 << 10

// isSwap reports whether the kernel swaps to a file.
func isSwap(v *View, real string, size int64) bool {
	if size < minSwap {
		return false
	}
	text, _ := os.ReadFile("/proc/swaps")
	return hasSwap(string(text), filepath.Join(v.root, real))
}

// hasSwap reports whether a file is in the text of /proc/swaps.
func hasSwap(swaps, file string) bool {
	for line := range strings.Lines(swaps) {
		if words := strings.Fields(line); len(words) > 1 && words[1] == "file" && unescapeMount(words[0]) == file {
			return true
		}
	}
	return false
}

// isWritten reports whether ccm itself writes the content of a file, and not a command such as
// sysctl.
func isWritten(p overlay.PathEffect) bool {
	return p.Kind == safepath.Regular && (p.Content != nil || p.Source != "" || p.Kept)
}

// nearest returns the place of a path, and the directory in which an entry has to be made for it: that of the path, or
// the nearest one above it that exists. The caller closes the directory.
func nearest(v *View, name string) (at safepath.Location, dir *safepath.Handle, err error) {
	if at, err = v.files.At(name); err == nil {
		return at, at.Dir, nil
	}
	for above := filepath.Dir(name); safepath.IsMissing(err); above = filepath.Dir(above) {
		if dir, err = v.files.Directory(above); err == nil || above == "/" {
			break
		}
	}
	return at, dir, err
}

// directoryObstacle returns what keeps an entry of a directory from being made, replaced or removed. Old is the present
// entry, nil for none.
func directoryObstacle(v *View, p overlay.PathEffect, dir, old *safepath.Handle, room *overlay.RoomProposal) error {
	if _, assumed := v.overlay.Assumed(dir.Path); assumed {
		return nil
	}
	c := dir.Constraint()
	switch {
	case c.OfKernel && !isWritten(p):
		return nil // control groups are directories that anybody may make
	case c.OfKernel:
		return obstacle(unix.EPERM, "%s cannot be created or removed: the kernel provides all files in %s", p.Path, dir.Path)
	case c.ReadOnly:
		return readOnly(v, p.Path, dir.Path)
	case c.Immutable:
		return obstacle(unix.EPERM, "%s is in an immutable directory (chattr -i %s)", p.Path, dir.Path)
	case c.AppendOnly:
		return obstacle(unix.EPERM, "%s is in an append-only directory (chattr -a %s)", p.Path, dir.Path)
	}
	if uid, _ := safepath.Self(); uid == 0 {
		if err := dir.MayWrite(); err != nil {
			return obstacle(err, "root cannot write in %s: %v (user namespace, missing capability, or root_squash of NFS)", dir.Path, err)
		}
	}
	return checkRoom(v, room, p, dir, old)
}

// checkRoom returns an error if the file system of an open file or directory, or a quota of the owner, has no room for
// an effect besides what earlier resources of the plan take, and adds the effect to a proposal, unless that is nil. Old
// is what is at the path, nil for nothing. What only commands and backups write does not count: what this refuses fails
// in the run.
func checkRoom(v *View, proposal *overlay.RoomProposal, p overlay.PathEffect, dir, old *safepath.Handle) (err error) {
	if proposal == nil || p.Kind != safepath.Missing && p.Kept {
		return nil
	}
	room, ok := dir.Room()
	if !ok {
		return nil
	}
	need := overlay.Claim{Bytes: bytesOf(v, p), Files: 1}
	if v.announcedSize(p.Path) >= 0 {
		if free, reserve, ok := diskspace.Free(dir.FD); ok {
			room.Bytes, room.Reserved = free, reserve
		}
	}
	uid, gid := ownerAfter(p, old)
	for _, r := range append([]safepath.Room{room}, dir.Quotas(uid, gid)...) {
		if e := claimRoom(v.overlay, proposal, r, p.Kind == safepath.Missing, need, dir, old); err == nil {
			err = e
		}
	}
	return err
}

// ExplainNoRoom replaces err with the error of [Obstacles] if err is ENOSPC or EDQUOT, and a file system or quota has no
// room for one of the effects. Other errors, and nil, are returned unchanged.
func ExplainNoRoom(v *View, err error, list ...overlay.PathEffect) error {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	for _, p := range list {
		if p.Path == "" || p.Kind == safepath.Missing || p.Account != nil {
			continue
		}
		if e := noRoom(v, p); e != nil {
			return e
		}
	}
	return err
}

// noRoom returns an error if the file system of a new file, or a quota of its owner, has no room for it now.
func noRoom(v *View, p overlay.PathEffect) error {
	_, dir, err := nearest(v, p.Path)
	if err != nil {
		return nil // err of the caller says more
	}
	defer dir.Close()
	room, ok := dir.Room()
	if !ok {
		return nil
	}
	uid, gid := ownerAfter(p, nil)
	for _, r := range append([]safepath.Room{room}, dir.Quotas(uid, gid)...) {
		need := overlay.Claim{Bytes: max(bytesOf(v, p), 1), Files: 1}
		if err = roomError(r, dir.Path, overlay.Claim{}, need); err != nil {
			return err
		}
	}
	return nil
}

// ownerAfter returns the owner and group of what is at the path after an effect. Old is what is there before it.
func ownerAfter(p overlay.PathEffect, old *safepath.Handle) (uid, gid uint32) {
	uid, gid = safepath.Self()
	if old != nil {
		uid, gid = old.Stat.Uid, old.Stat.Gid
	}
	if a := p.Attr; a != nil && !overlay.IsPlaceholder(a.UID) && !overlay.IsPlaceholder(a.GID) {
		uid, gid = a.UID, a.GID
	}
	return uid, gid
}

// claimRoom is checkRoom for the room of a file system or a quota. Need is what a new file takes.
func claimRoom(o *overlay.View, proposal *overlay.RoomProposal, room safepath.Room, removed bool, need overlay.Claim, dir, old *safepath.Handle) error {
	volume, freed := overlay.Volume{Device: room.Device, Quota: room.Quota}, int64(0)
	if old != nil && room.Counts(&old.Stat) {
		need.Files = 0
		if safepath.InfoOf(&old.Stat).Kind == safepath.Regular && old.Stat.Nlink == 1 {
			freed = old.Stat.Blocks * 512
		}
	}
	before := proposal.Claims[volume]
	if removed {
		proposal.Claims[volume] = overlay.Claim{Bytes: before.Bytes - freed, Files: before.Files - 1}
		proposal.FreesMore = proposal.FreesMore || old != nil && safepath.InfoOf(&old.Stat).Kind == safepath.Directory
		return nil
	}
	proposal.Claims[volume] = overlay.Claim{Bytes: before.Bytes + need.Bytes - freed, Files: before.Files + need.Files}
	if dir == old { // written in place
		room.Bytes += min(freed, math.MaxInt64-room.Bytes)
	} else {
		need.Bytes = max(need.Bytes, 1)
	}
	earlier, known := o.ClaimedRoom(volume)
	if !known {
		return nil
	}
	return roomError(room, dir.Path, overlay.Claim{Bytes: earlier.Bytes + before.Bytes, Files: earlier.Files + before.Files}, need)
}

// roomError returns an error if a room in a directory is too small for what is needed besides the earlier changes of a plan.
func roomError(room safepath.Room, dir string, earlier, need overlay.Claim) error {
	errno, what, files, space := unix.ENOSPC, "the file system of "+dir, "df -i "+dir, "df "+dir
	if room.Quota != "" {
		errno, what, files, space = unix.EDQUOT, "the quota of "+room.Quota+" in "+dir, "repquota -a", "repquota -a"
	}
	if freed := -earlier.Bytes; freed > 0 { // earlier changes free more than they take
		room.Bytes, earlier.Bytes = room.Bytes+min(freed, math.MaxInt64-room.Bytes), 0
	}
	if freed := -earlier.Files; freed > 0 {
		room.Files, earlier.Files = room.Files+min(freed, math.MaxInt64-room.Files), 0
	}
	free := bytesize.Format(room.Bytes) + " free"
	if room.Reserved > 0 {
		free += fmt.Sprintf(", of which %s are reserved", bytesize.Format(room.Reserved))
	}
	room.Bytes -= room.Reserved
	switch {
	case need.Files > room.Files:
		return obstacle(errno, "%s can hold no more files (%s)", what, files)
	case need.Files > 0 && earlier.Files > room.Files-need.Files:
		return obstacle(errno, "%s can hold only %d more files, which earlier changes of this plan create (%s)", what, room.Files, files)
	case need.Bytes > room.Bytes:
		return obstacle(errno, "%s is full: %s, %s needed (%s)", what, free, bytesize.Format(need.Bytes), space)
	case need.Bytes > 0 && earlier.Bytes > room.Bytes-need.Bytes:
		return obstacle(errno, "%s is too small for this plan: %s, %s needed by earlier changes and %s by this one (%s)",
			what, free, bytesize.Format(earlier.Bytes), bytesize.Format(need.Bytes), space)
	}
	return nil
}

// bytesOf returns the number of bytes that an effect writes, as far as it is known.
func bytesOf(v *View, p overlay.PathEffect) int64 {
	switch {
	case p.Content != nil:
		return int64(len(*p.Content))
	case p.Source == "" || fetch.IsURL(p.Source):
		return max(p.Size, v.announcedSize(p.Path))
	}
	f, err := v.Sources().OpenFile(p.Source)
	if err != nil {
		return 0 // the provider reports it
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// readOnly returns the error that a path is on a read-only mount.
func readOnly(v *View, name, real string) error {
	point := mountPointOf(v, real)
	return obstacle(unix.EROFS, "%s is on a read-only mount, %s (mount -o remount,rw %s)", name, point, point)
}

// CheckWritable returns an error if a directory, below which commands write, is on a read-only mount. A directory that an
// earlier resource is assumed to change has none.
func CheckWritable(v *View, dir string) error {
	d, err := v.files.Directory(dir)
	if err != nil {
		return nil // the commands report it
	}
	defer d.Close()
	if _, assumed := v.overlay.Assumed(dir); assumed || !d.Constraint().ReadOnly {
		return nil
	}
	return readOnly(v, dir, d.Path)
}

// mountPointOf returns the mount point above or at a path, as the operating system sees both.
func mountPointOf(v *View, real string) string {
	real = filepath.Join(v.root, real)
	text, _ := os.ReadFile("/proc/self/mountinfo")
	point := "/"
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 4 {
			if at := unescapeMount(words[4]); isBelow(real, at) && len(at) >= len(point) {
				point = at
			}
		}
	}
	return point
}

// isBelow reports whether a path is a directory or below it.
func isBelow(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir+"/")
}
