package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A walker finds what is at a path below a root directory. It is the only way to a
// file: everything that looks at one or changes one does so from the descriptor of
// the directory that a walk has led to, so that nobody can lead it elsewhere
// afterwards by renaming things. Which symbolic links are followed on the way, links.go
// says.
//
// A path without links takes one openat2(2) with RESOLVE_NO_SYMLINKS. A path with links,
// and every path where the kernel has no openat2 (before Linux 5.6, or forbidden by a
// container), is walked one name after the other with O_PATH|O_NOFOLLOW. Both hold to
// the same rule.
type walker struct {
	root string // the directory that stands for /
	// userName returns the name of a user, for errors.
	userName func(uid uint32) string
	// anyLink follows every link, as the kernel does: what is on the way is judged by Trust.
	anyLink bool
	// stepwise walks every path one name after the other.
	stepwise bool
}

// A handle is something that is held open (O_PATH), mostly a directory.
type handle struct {
	fd int
	// path is where it was found, as the machine sees it; without links if links had to
	// be followed.
	path string
	st   unix.Stat_t
	// holders is how many others than the first need it.
	holders atomic.Int32
	// evicted is set once it is not in its dirCache any more, which guards it.
	evicted bool
}

// hold keeps d open for one more holder.
func (d *handle) hold() *handle {
	d.holders.Add(1)
	return d
}

// close gives d up. The last holder closes it. D may be nil.
func (d *handle) close() {
	if d != nil && d.holders.Add(-1) < 0 {
		_ = unix.Close(d.fd)
	}
}

// is reports whether d and e are the same directory.
func (d *handle) is(e *handle) bool { return d.st.Dev == e.st.Dev && d.st.Ino == e.st.Ino }

// A location is a name in a directory.
type location struct {
	dir  *handle
	name string
	// ends is the links on the way of which the last target is at the place itself: who
	// opens it has to ask mayEnd about it.
	ends []*link
}

func (p location) close() { p.dir.close() }

// path returns the path of the place without links, as the machine sees it.
func (p location) path() string { return filepath.Join(p.dir.path, p.name) }

// open opens what is at the place, which is not followed if it is a link.
func (p location) open(flags int, mode uint32) (fd int, err error) {
	err = ignoringEINTR(func() error {
		fd, err = unix.Openat(p.dir.fd, p.name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

// stat describes what is at the place, which is not followed if it is a link. Nothing
// there is an Info of kind Missing.
func (p location) stat() (Info, error) {
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstatat(p.dir.fd, p.name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if isMissing(err) {
		return Info{}, nil
	}
	return infoOf(&st), err
}

func isMissing(err error) bool { return err == unix.ENOENT || err == unix.ENOTDIR }

// readlink returns where the link at the place points.
func (p location) readlink() (string, error) { return readlinkat(p.dir.fd, p.name) }

func readlinkat(fd int, name string) (string, error) {
	var buf [unix.PathMax]byte
	var n int
	err := ignoringEINTR(func() (err error) { n, err = unix.Readlinkat(fd, name, buf[:]); return err })
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// at returns the place of a path. A link at the end of the path is not followed.
func (w *walker) at(name string) (location, error) {
	dir, last := splitPath(name)
	d, err := w.directory(dir)
	if err != nil {
		return location{}, err
	}
	return location{dir: d, name: last}, nil
}

// splitPath returns the directory of a path and the last name in it, "." if the path
// cannot end in a link.
func splitPath(name string) (dir, last string) {
	slash := strings.LastIndexByte(name, '/')
	if last = name[slash+1:]; isDots(last) {
		return name, "."
	}
	if slash <= 0 {
		return name[:slash+1], last
	}
	return name[:slash], last
}

// isDots reports whether a name stands for a directory and not for what is in one.
func isDots(name string) bool { return name == "" || name == "." || name == ".." }

// directory opens the directory at a path, links followed.
func (w *walker) directory(name string) (*handle, error) {
	fd, quick, err := w.quick(name, unix.O_PATH|unix.O_DIRECTORY)
	if quick {
		if err != nil {
			return nil, err
		}
		return newHandle(fd, cleanPath(name))
	}
	t, err := w.begin(name)
	if err != nil {
		return nil, err
	}
	p, err := t.to(name, true)
	if err != nil {
		return nil, err
	}
	if p.name == "." {
		return p.dir, nil
	}
	defer p.close()
	fd, err = p.open(unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	d, err := newHandle(fd, p.path())
	if err == nil {
		if err = w.mayEnd(p, &d.st); err != nil {
			d.close()
		}
	}
	return d, err
}

// cleanPath is filepath.Clean, which takes its time, for a path that mostly is clean.
func cleanPath(name string) string {
	if name == "" || strings.HasSuffix(name, "/") || strings.Contains(name, "//") || strings.Contains(name, "/.") {
		return filepath.Clean("/" + name)
	}
	return name
}

func newHandle(fd int, path string) (*handle, error) {
	d := &handle{fd: fd, path: path}
	if err := ignoringEINTR(func() error { return unix.Fstat(fd, &d.st) }); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// open opens what is at a path. A link at the end of the path is not followed.
func (w *walker) open(name string, flags int) (int, error) {
	if areHardLinksSafe() || flags&unix.O_PATH != 0 {
		if fd, quick, err := w.quick(name, flags|unix.O_NOFOLLOW); quick {
			return fd, err
		}
	}
	p, err := w.at(name)
	if err != nil {
		return -1, err
	}
	defer p.close()
	return w.openAt(p, flags)
}

// openAt opens what is at a place for reading, unless it is a link or a file that may
// belong elsewhere.
func (w *walker) openAt(p location, flags int) (int, error) {
	fd, err := p.open(flags, 0)
	if err != nil || len(p.ends) == 0 && areHardLinksSafe() {
		return fd, err
	}
	var st unix.Stat_t
	if err = ignoringEINTR(func() error { return unix.Fstat(fd, &st) }); err == nil {
		if err = w.mayEnd(p, &st); err == nil && !areHardLinksSafe() {
			err = w.mayRead(p, &st)
		}
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return fd, err
}

// mostSwaps is how often a walk is begun anew if what it has led to is another thing by
// the time that it is opened.
const mostSwaps = 40

// follow opens what is at a path, links followed.
func (w *walker) follow(name string, flags int) (int, error) {
	if w.anyLink || areHardLinksSafe() || flags&unix.O_PATH != 0 {
		if fd, quick, err := w.quick(name, flags); quick {
			return fd, err
		}
	}
	var fd int
	for range mostSwaps {
		t, err := w.begin(name)
		if err != nil {
			return -1, err
		}
		p, err := t.to(name, true)
		if err != nil {
			return -1, err
		}
		fd, err = w.openAt(p, flags)
		p.close()
		if err != unix.ELOOP {
			return fd, err
		}
	}
	return -1, unix.ELOOP
}

// believed is for the files that Trust judges.
var believed = &walker{root: "/", anyLink: true}

// hasNoOpenat2 is set once the kernel has refused openat2.
var hasNoOpenat2 atomic.Bool

// quick opens what is at a path, if no link is on the way. Quick is false if the path
// has to be walked one name after the other instead.
func (w *walker) quick(name string, flags int) (fd int, quick bool, err error) {
	if w.anyLink {
		err = ignoringEINTR(func() (err error) { fd, err = unix.Open(name, flags|unix.O_CLOEXEC, 0); return err })
		return fd, true, err
	}
	if w.stepwise || hasNoOpenat2.Load() || strings.Contains(name, "..") || name == "" {
		return -1, false, nil
	}
	if w.root != "/" {
		name = w.root + "/" + name
	}
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		switch fd, err = unix.Openat2(unix.AT_FDCWD, name, &how); err {
		case unix.EINTR:
			continue
		case unix.ELOOP, unix.EAGAIN:
			return -1, false, nil
		case unix.ENOSYS, unix.EPERM:
			// EPERM may be about the file too: the walk says so then.
			if _, e := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC}); e == unix.ENOSYS || e == unix.EPERM {
				hasNoOpenat2.Store(true)
			}
			return -1, false, nil
		}
		return fd, true, err
	}
}

// A trail is one walk, name after name.
type trail struct {
	w    *walker
	dirs []*handle // from the first to where the walk is
	rest []string  // the names that are left
	// links is the links that are being followed and have to end at what their owner owns.
	links []*link
	count int // of links
	// beneath says that the walk may not leave its first directory: an absolute link or
	// a .. that does is an error. Otherwise they lead to the first directory, as in chroot.
	beneath bool
}

// errLeadsOut means that a path leads out of the directory that it has to stay in.
var errLeadsOut = errors.New("leads out of the directory")

// begin returns a walk from the root, or for a name that is relative from the working
// directory.
func (w *walker) begin(name string) (*trail, error) {
	var fd int
	err := ignoringEINTR(func() (err error) {
		fd, err = unix.Open(w.root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	d, err := newHandle(fd, "/")
	if err != nil {
		return nil, err
	}
	t := &trail{w: w, dirs: []*handle{d}}
	if w.root == "/" && !strings.HasPrefix(name, "/") {
		dir, err := unix.Getwd()
		if err != nil {
			t.close()
			return nil, err
		}
		t.rest = strings.Split(dir, "/")
	}
	return t, nil
}

// beneath returns a walk that does not leave d, which stays open.
func (w *walker) beneath(d *handle) *trail {
	return &trail{w: w, dirs: []*handle{d.hold()}, beneath: true}
}

func (t *trail) close() {
	for _, d := range t.dirs {
		d.close()
	}
}

func (t *trail) top() *handle { return t.dirs[len(t.dirs)-1] }

// to walks to the place of a path, and ends the walk. A link at the end is followed if
// follow is set. The place of a path that ends in no name has the name ".".
func (t *trail) to(name string, follow bool) (_ location, err error) {
	defer func() { t.close() }()
	if t.beneath && strings.HasPrefix(name, "/") {
		return location{}, errLeadsOut
	}
	t.rest = append(t.rest, strings.Split(name, "/")...)
	for len(t.rest) > 0 && t.rest[len(t.rest)-1] == "" { // what ends in a slash is a directory
		t.rest = t.rest[:len(t.rest)-1]
		follow = true
	}
	for len(t.rest) > 0 {
		step := t.rest[0]
		t.rest = t.rest[1:]
		isLast := len(t.rest) == 0
		switch {
		case step == "" || step == ".":
		case step == "..":
			err = t.up()
		case isLast && !follow:
			return location{dir: t.top().hold(), name: step}, nil
		default:
			var there bool
			if there, err = t.step(step, isLast); there {
				return location{dir: t.top().hold(), name: step, ends: t.links}, nil
			}
		}
		if err == nil {
			err = t.settle()
		}
		if err != nil {
			return location{}, t.unsafeUnless(err)
		}
	}
	return location{dir: t.top().hold(), name: "."}, nil
}

func (t *trail) up() error {
	if len(t.dirs) == 1 {
		if t.beneath {
			return errLeadsOut
		}
		return nil
	}
	t.top().close()
	t.dirs = t.dirs[:len(t.dirs)-1]
	return nil
}

// step goes on to a name in the directory where the walk is. There means that the walk
// ends at that name.
func (t *trail) step(name string, isLast bool) (there bool, err error) {
	in := t.top()
	fd, err := location{dir: in, name: name}.open(unix.O_PATH, 0)
	if err != nil {
		return false, err
	}
	d, err := newHandle(fd, filepath.Join(in.path, name))
	if err != nil {
		return false, err
	}
	switch kind := d.st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		defer d.close()
		return false, t.through(in, d, name)
	case isLast:
		d.close()
		return true, nil
	case kind != unix.S_IFDIR:
		d.close()
		return false, unix.ENOTDIR
	}
	t.dirs = append(t.dirs, d)
	return false, nil
}

// through follows the link that is open as l, called name in a directory.
func (t *trail) through(in, l *handle, name string) error {
	if t.count++; t.count > maxLinks {
		return unix.ELOOP
	}
	target, err := readlinkat(l.fd, "")
	if err != nil {
		return err
	}
	if x := judgeLink(infoOf(&in.st), infoOf(&l.st), l.path, target); x != nil {
		x.left = len(t.rest)
		t.links = append(t.links, x)
	} else if t.w.root == "/" && !t.beneath && isProc(l.fd) {
		// What such a link leads to may have no path, such as standard input.
		var fd int
		err := ignoringEINTR(func() (err error) {
			fd, err = unix.Openat(in.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			return err
		})
		if err == nil {
			d, err := newHandle(fd, l.path)
			if err == nil {
				t.dirs = append(t.dirs, d)
			}
			return err
		}
	}
	if strings.HasPrefix(target, "/") {
		if t.beneath {
			return errLeadsOut
		}
		for len(t.dirs) > 1 {
			_ = t.up()
		}
	}
	t.rest = slices.Concat(strings.Split(target, "/"), t.rest)
	return nil
}

// isProc reports whether what is open lies on proc(5).
func isProc(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && int64(st.Type) == unix.PROC_SUPER_MAGIC
}

// settle judges the links that have led to where the walk is.
func (t *trail) settle() error {
	at := t.top()
	for len(t.links) > 0 {
		x := t.links[len(t.links)-1]
		if x.left < len(t.rest) {
			return nil
		}
		if !x.mayLeadTo(at.st.Uid) {
			return t.w.unsafe(x, at.path, at.st.Uid)
		}
		t.links = t.links[:len(t.links)-1]
	}
	return nil
}

// unsafeUnless returns an error of the walk, or that a link which is never followed was
// on the way: that is more than that it leads nowhere.
func (t *trail) unsafeUnless(err error) error {
	if _, ok := errors.AsType[*UnsafeLinkError](err); ok {
		return err
	}
	for _, x := range t.links {
		if x.never {
			return t.w.unsafe(x, "", 0)
		}
	}
	return err
}

// pathError returns an error of a call about a path, unless it names paths already.
func pathError(op, name string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		return &os.PathError{Op: op, Path: name, Err: errno}
	}
	return err
}
