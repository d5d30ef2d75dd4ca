// Package trust decides which of the user's files root may believe, and reads them: scripts, modules, manifests,
// data, facts, standard input. It protects the user who runs ccm, not the machine that is managed.
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

// A Policy decides which files are trusted. Root executes these files, so anybody who can write one of them
// becomes root. A file is trusted unless everybody may write it, or may put another file in its place:
//
//   - neither the file nor a directory on its path may be writable by others. Symbolic links are followed, and the
//
// paths to their targets are checked as well;
//   - a directory with the sticky bit, such as /tmp, may be writable, because nobody can replace another user's file
//
// in it. But everybody can create files there, so a file found in one must belong to one of Owners.
//
// This is the rule of sshd's StrictModes with two exceptions. A user other than root may own the file and its
// directory: a user runs a script with sudo, a container sees the files of its host, and who names a file has chosen
// to trust its owner. And a group may write it, because its members are known.
//
// A nil *Policy trusts everything.
type Policy struct {
	// Owners are the users who may own files in a directory that everybody may write, and files that the user did not
	// name (CheckFound).
	Owners []uint32
	// Lstat, Readlink and UserName replace the system calls in tests.
	Lstat    func(path string, st *syscall.Stat_t) error
	Readlink func(path string) (string, error)
	UserName func(uid uint32) string

	// trustedDirs are the directories that were checked already; nil if the policy does not remember.
	trustedDirs map[string]trustedDir
}

// A trustedDir is the metadata of a trusted directory, and of the directory that contains it.
type trustedDir struct{ in, dir syscall.Stat_t }

// Remembering returns a policy that checks each directory once, for a task that reads many files, such as loading a
// script with its modules. An untrusted user cannot change a result (see [Policy.Check]); changes by trusted users
// are missed, so use it for one such task only. It is not safe for use by several goroutines.
func (t *Policy) Remembering() *Policy {
	if t == nil {
		return nil
	}
	r := *t
	r.trustedDirs = make(map[string]trustedDir)
	return &r
}

// Of returns the policy for a process with an effective user and an environment. Users other than root trust
// everything, also as root of a user namespace: ccm gives an attacker no right that the user does not have. As root, the user who called sudo, doas or
// pkexec is trusted like root.
func Of(uid int, getenv func(string) string) *Policy {
	if uid != 0 || safepath.IsBorrowedRoot() {
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

// ReadFile returns the content of a trusted regular file of at most LargestText bytes. It also reads a pipe or
// terminal that is already open, such as standard input or <(...), until the context ends.
func (t *Policy) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return read(ctx, t, name, safepath.LargestText, believed.ReadRegular)
}

// ReadText is ReadFile for a text of at most limit bytes: it is not copied as a whole.
func (t *Policy) ReadText(ctx context.Context, name string, limit int64) (string, error) {
	return read(ctx, t, name, limit, believed.ReadText)
}

func read[T string | []byte](ctx context.Context, t *Policy, name string, limit int64, regular func(string, int64) (T, error)) (text T, err error) {
	if err := t.Check(name); err != nil {
		return text, err
	}
	if f := openStream(name); f != nil {
		defer f.Close()
		stream, err := ReadStream(ctx, f, name)
		return T(stream), err
	}
	return regular(name, limit)
}

// Open opens a trusted regular file.
func (t *Policy) Open(name string) (*os.File, error) {
	if err := t.Check(name); err != nil {
		return nil, err
	}
	f, _, err := believed.OpenRegular(name)
	return f, err
}

// Check returns an error that describes why a file or directory is not trusted. A missing file is an error too.
//
// An untrusted user cannot change the result afterwards: for that a directory on the path would have to be writable
// by others.
func (t *Policy) Check(name string) error { return t.check(name, named) }

// CheckFound is Check for a file that the user did not name but ccm found: in the working directory, the home
// directory, or a search path. The file, its directory and the links to it must belong to one of Owners as well.
func (t *Policy) CheckFound(name string) error { return t.check(name, found) }

// CheckKept is Check for ccm's own files, such as its state, and for the place where they are going to be: all
// directories on the path must belong to one of Owners.
func (t *Policy) CheckKept(name string) error { return t.check(name, kept) }

// A demand is the condition on the owners of files on a path.
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
		// Not filepath.Abs: after a symbolic link, .. leads elsewhere than the text says. Not os.Getwd: it believes
		// PWD, which may lead through links of another user.
		dir, err := syscall.Getwd()
		if err != nil {
			return err
		}
		way = dir + "/" + name
	}
	return t.walk(name, strings.Split(way, "/"), want)
}

// walk follows a path as the kernel does, and checks each file, directory and link on it.
func (t *Policy) walk(name string, way []string, want demand) error {
	var at string
	var in, dir, st syscall.Stat_t // in is the directory that contains at
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
		if step == ".." { // at is free of links
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
			return nil // opened by the parent process, such as standard input
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

// remembered returns the deepest trusted directory on a path and the remaining steps; at is "" if the whole path must
// be walked.
func (t *Policy) remembered(steps []string, want demand, in, dir *syscall.Stat_t) (at string, rest []string) {
	if t.trustedDirs == nil || want == kept {
		return "", steps
	}
	path := strings.Join(steps, "/")
	if path != filepath.Clean(path) { // after a link, .. leads elsewhere than the text says
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

// remember records a trusted directory by its path without links.
func (t *Policy) remember(at string, want demand, in, dir *syscall.Stat_t) {
	if t.trustedDirs != nil && want != kept && dir.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		t.trustedDirs[at] = trustedDir{*in, *dir}
	}
}

// judge returns an error if the file st at path, in the directory dir, is not trusted.
func (t *Policy) judge(name, in string, dir *syscall.Stat_t, path string, st *syscall.Stat_t) error {
	untrusted := func(hint, format string, args ...any) error {
		err := diag.Errorf(diag.Pos{File: name}, "not trusted as root: "+format, args...)
		return err.WithHint("%s, or use --allow-insecure", hint)
	}
	switch {
	case open(dir) && dir.Mode&syscall.S_ISVTX == 0:
		return untrusted("chmod o-w "+in, "directory %s is world-writable (mode %04o)", in, dir.Mode&0o7777)
	case open(dir) && !slices.Contains(t.Owners, st.Uid):
		return untrusted("copy it to your own directory", "%s belongs to %s, and %s is world-writable (mode %04o)", path, t.userName(st.Uid), in, dir.Mode&0o7777)
	case open(st) && st.Mode&syscall.S_IFMT != syscall.S_IFDIR:
		return untrusted("chmod o-w "+path, "%s is world-writable (mode %04o)", path, st.Mode&0o7777)
	case open(st) && st.Mode&syscall.S_ISVTX == 0:
		return untrusted("chmod o-w "+path, "directory %s is world-writable (mode %04o)", path, st.Mode&0o7777)
	}
	return nil
}

// owned returns an error unless the file at path and its directory belong to Owners.
func (t *Policy) owned(name, path string, st, in *syscall.Stat_t) error {
	what, uid := path, st.Uid
	if slices.Contains(t.Owners, uid) {
		what, uid = "its directory "+filepath.Dir(path), in.Uid
	}
	if slices.Contains(t.Owners, uid) {
		return nil
	}
	return diag.At(diag.Pos{File: name}, diag.Not("", "trusted as root: %s belongs to %s", what, t.userName(uid))).
		WithHint("or trust everything with --allow-insecure")
}

// CheckPlain refuses an address of plain http whose content is not verified later, because anybody on the network can
// change it. shown is the address for messages, or ""; hint is the advice.
func (t *Policy) CheckPlain(address, shown, hint string) error {
	if scheme, _, ok := strings.Cut(address, "://"); t == nil || !ok || !strings.EqualFold(scheme, "http") {
		return nil
	}
	return diag.At(diag.Pos{File: shown}, diag.Not("", "trusted as root: http is not protected against tampering")).
		WithHint("%s", hint)
}

func (t *Policy) userName(uid uint32) string {
	if t.UserName != nil {
		return t.UserName(uid)
	}
	return UserName(uid)
}

// UserName returns a user of this machine for messages.
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

// open reports whether others may write the file. The mode of a link means nothing, and data written to a device is
// not what a reader gets from it.
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
