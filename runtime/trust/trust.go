// Package trust decides which files of the user root believes, and reads them: scripts,
// modules, manifests, data, facts, standard input. It is about who runs ccm, and not about
// the machine that is managed.
//
// Begin with [Of].
package trust

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Policy says which files of the user are believed: scripts, modules, manifests,
// data, facts. Root does what they say, so that whoever can write one of them is
// root. A file is believed unless everybody may write it, or may put another one
// in its place:
//
//   - no file, and no directory on the way to it, may be writable for others. Links
//     are followed, and the way to what they point to counts as well;
//   - a directory such as /tmp, which has the sticky bit, may be, because in it
//     nobody can replace what belongs to somebody else. But everybody can make
//     things there, so what is found in one has to belong to one of Owners.
//
// This is what StrictModes of sshd asks, in two points less. Others than root may
// own a file that lies in a directory of theirs: a user's script is run by sudo, a
// container sees the files of its host, and whoever names such a file has chosen
// whom to believe. And a group may write it, because a group is somebody.
//
// A nil *Policy believes everything.
type Policy struct {
	// Owners are those who may own what lies in a directory of everybody, and what
	// nobody has named.
	Owners []uint32
	// Lstat, Readlink and UserName look at the machine; nil for what the system says.
	Lstat    func(path string, st *syscall.Stat_t) error
	Readlink func(path string) (string, error)
	UserName func(uid uint32) string

	// trustedDirs are the directories that were found to be believed; nil if none is remembered.
	trustedDirs map[string]trustedDir
}

// A way is where a directory stands that is believed: what the kernel said of it, and of the
// directory that it lies in.
type trustedDir struct{ in, dir syscall.Stat_t }

// Remembering returns a policy that judges each directory once, for whoever asks about many
// files that lie together, such as one load of a script with its modules. That is safe, for
// nobody who is not believed can change the answer (see [Policy.Check]), but what others do who
// are believed is not noticed: do not keep it longer than that. It is for one goroutine.
func (t *Policy) Remembering() *Policy {
	if t == nil {
		return nil
	}
	r := *t
	r.trustedDirs = make(map[string]trustedDir)
	return &r
}

// Of returns what a process believes, given its effective user and its
// environment. Others than root believe everything: what they can be made to do,
// they could be made to do by other means. Who asked sudo, doas or polkit for root
// is believed as root is.
func Of(uid int, getenv func(string) string) *Policy {
	if uid != 0 {
		return nil
	}
	t := &Policy{Owners: []uint32{0}}
	ids := []string{getenv("SUDO_UID"), getenv("PKEXEC_UID")}
	if name := getenv("DOAS_USER"); name != "" {
		if u, err := user.Lookup(name); err == nil {
			ids = append(ids, u.Uid)
		}
	}
	for _, text := range ids {
		if id, err := strconv.ParseUint(text, 10, 32); err == nil {
			t.Owners = append(t.Owners, uint32(id))
		}
	}
	return t
}

// ReadFile returns what a file holds that is believed. What is no regular file is
// refused, and one of more than LargestText bytes; a pipe or a terminal that is open
// already, such as that of <(...), is read until the context ends.
func (t *Policy) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := t.Check(name); err != nil {
		return nil, err
	}
	if f := openStream(name); f != nil {
		defer f.Close()
		return ReadStream(ctx, f, name)
	}
	return believed.ReadRegular(name, safepath.LargestText)
}

// Open opens a regular file that is believed.
func (t *Policy) Open(name string) (*os.File, error) {
	if err := t.Check(name); err != nil {
		return nil, err
	}
	f, _, err := believed.OpenRegular(name)
	return f, err
}

// Check returns an error that says why the named file or directory is not
// believed. One that is not there is an error too.
//
// Nobody but those who are believed can change the answer afterwards: that needs
// a directory on the way that others may write.
func (t *Policy) Check(name string) error { return t.check(name, named) }

// CheckFound is Check for what nobody has named: what is found in the working
// directory, in the home directory or in a directory of a search path. It has to
// belong to one of Owners as well, and so do the directory that it lies in and the
// links that lead to it.
func (t *Policy) CheckFound(name string) error { return t.check(name, found) }

// CheckKept is Check for what the process keeps for itself, such as its state, and
// for where it is going to be made: all that leads there has to belong to one of
// Owners.
func (t *Policy) CheckKept(name string) error { return t.check(name, kept) }

// A demand is what is asked of the owners of things that stand on a way.
type demand int

const (
	named demand = iota
	found
	kept
)

func (t *Policy) check(name string, want demand) error {
	if t == nil {
		return nil
	}
	way := filepath.ToSlash(name)
	if !filepath.IsAbs(name) {
		// Not filepath.Abs: what .. means depends on the links before it. Not os.Getwd:
		// PWD may lead there through the links of somebody.
		dir, err := syscall.Getwd()
		if err != nil {
			return err
		}
		way = dir + "/" + name
	}
	return t.walk(name, strings.Split(way, "/"), want)
}

// walk follows the way to the named file as the kernel does, and judges each
// thing that stands on it.
func (t *Policy) walk(name string, way []string, want demand) error {
	var at string
	var in, dir, st syscall.Stat_t // in is the directory that at lies in
	begin := func(path string) error {
		at = path
		err := t.lstat(filepath.Dir(at), &in)
		if err == nil {
			err = t.lstat(at, &dir)
		}
		if err != nil {
			return &os.PathError{Op: "open", Path: name, Err: err}
		}
		return nil
	}
	at, way = t.remembered(way, want, &in, &dir)
	if at == "" {
		if err := begin("/"); err != nil {
			return err
		}
	}
	for links := 0; len(way) > 0; {
		step := way[0]
		way = way[1:]
		if step == "" || step == "." {
			continue
		}
		if step == ".." { // at has no links in it any more
			if err := begin(filepath.Dir(at)); err != nil {
				return err
			}
			continue
		}
		path := filepath.Join(at, step)
		if err := t.lstat(path, &st); err != nil {
			return &os.PathError{Op: "open", Path: name, Err: err}
		}
		if err := t.judge(name, at, &dir, path, &st); err != nil {
			return err
		}
		if want == kept {
			if err := t.owned(name, path, &st, &dir); err != nil {
				return err
			}
		}
		if st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
			at, in, dir = path, dir, st
			t.remember(at, want, &in, &dir)
			continue
		}
		if at == fmt.Sprintf("/proc/%d/fd", os.Getpid()) {
			return nil // whoever started ccm has opened it, as standard input
		}
		if want == found {
			if err := t.owned(name, path, &st, &dir); err != nil {
				return err
			}
		}
		if links++; links > safepath.MaxLinks {
			return &os.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		target, err := t.readlink(path)
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) {
			if err := begin("/"); err != nil {
				return err
			}
		}
		way = slices.Concat(strings.Split(target, "/"), way)
	}
	if want == named {
		return nil
	}
	return t.owned(name, at, &dir, &in)
}

// remembered returns the directory from which a way need not be walked again, and what is left of
// the way; "" if it has to be walked from the top.
func (t *Policy) remembered(steps []string, want demand, in, dir *syscall.Stat_t) (at string, rest []string) {
	if t.trustedDirs == nil || want == kept {
		return "", steps
	}
	path := strings.Join(steps, "/")
	if path != filepath.Clean(path) { // .. is not what it seems after a link
		return "", steps
	}
	at = filepath.Dir(path)
	w, ok := t.trustedDirs[at]
	if !ok {
		return "", steps
	}
	*in, *dir = w.in, w.dir
	return at, steps[len(steps)-1:]
}

// remember keeps that a path, which has no links in it, leads to a directory that is believed.
func (t *Policy) remember(at string, want demand, in, dir *syscall.Stat_t) {
	if t.trustedDirs != nil && want != kept && dir.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		t.trustedDirs[at] = trustedDir{*in, *dir}
	}
}

// judge decides whether what stands at a path in a directory is believed.
func (t *Policy) judge(name, in string, dir *syscall.Stat_t, path string, st *syscall.Stat_t) error {
	untrusted := func(hint, format string, args ...any) error {
		err := diag.Errorf(diag.Pos{File: name}, "not believed as root, because "+format, args...)
		return err.WithHint("%s, or --allow-insecure", hint)
	}
	switch {
	case open(dir) && dir.Mode&syscall.S_ISVTX == 0:
		return untrusted("chmod o-w "+in, "everybody may write the directory %s (mode %04o)", in, dir.Mode&0o7777)
	case open(dir) && !slices.Contains(t.Owners, st.Uid):
		return untrusted("copy it to a directory of your own", "%s belongs to %s, and everybody may make files in %s (mode %04o)", path, t.userName(st.Uid), in, dir.Mode&0o7777)
	case open(st) && st.Mode&syscall.S_IFMT != syscall.S_IFDIR:
		return untrusted("chmod o-w "+path, "everybody may write %s (mode %04o)", path, st.Mode&0o7777)
	case open(st) && st.Mode&syscall.S_ISVTX == 0:
		return untrusted("chmod o-w "+path, "everybody may write the directory %s (mode %04o)", path, st.Mode&0o7777)
	}
	return nil
}

// owned decides whether what stands at a path, and the directory that it lies in,
// belong to whom they may.
func (t *Policy) owned(name, path string, st, in *syscall.Stat_t) error {
	what, uid := path, st.Uid
	if slices.Contains(t.Owners, uid) {
		what, uid = "its directory "+filepath.Dir(path), in.Uid
	}
	if slices.Contains(t.Owners, uid) {
		return nil
	}
	return diag.Errorf(diag.Pos{File: name}, "not believed as root, because %s belongs to %s", what, t.userName(uid)).
		WithHint("--allow-insecure believes everything")
}

// CheckPlain refuses what http brings from an address, if nothing checks it later: everybody on the
// way can change it. Shown is what the message calls the address, may be "", and hint is what helps.
func (t *Policy) CheckPlain(address, shown, hint string) error {
	if scheme, _, ok := strings.Cut(address, "://"); t == nil || !ok || !strings.EqualFold(scheme, "http") {
		return nil
	}
	return diag.Errorf(diag.Pos{File: shown}, "not believed as root, because everybody on the way can change what http brings").WithHint("%s", hint)
}

func (t *Policy) userName(uid uint32) string {
	if t.UserName != nil {
		return t.UserName(uid)
	}
	return UserName(uid)
}

// UserName returns how messages speak of a user of this machine.
func UserName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	u, err := user.LookupId(id)
	switch {
	case uid == 0:
		return "root"
	case err != nil:
		return "uid " + id
	}
	return fmt.Sprintf("%s (uid %d)", u.Username, uid)
}

// open reports whether others may write what is described. The mode of a link
// says nothing, and what is written to a device is not what is read from it.
func open(st *syscall.Stat_t) bool {
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK, syscall.S_IFCHR, syscall.S_IFBLK:
		return false
	}
	return st.Mode&0o002 != 0
}

func (t *Policy) lstat(path string, st *syscall.Stat_t) error {
	if t.Lstat == nil {
		return safepath.IgnoringEINTR(func() error { return syscall.Lstat(path, st) })
	}
	return t.Lstat(path, st)
}

func (t *Policy) readlink(path string) (string, error) {
	if t.Readlink == nil {
		return os.Readlink(path)
	}
	return t.Readlink(path)
}
