package safepath

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A Walk resolves a path name by name.
type Walk struct {
	r     *Resolver
	dirs  []*Handle // from the first directory to the current one
	names []string  // the names still to come
	// links are the followed links that may lead only to files of their owners, and have not been checked yet.
	links []*Link
	count int // number of links followed
	// beneath makes it an error to leave the first directory by an absolute link or by "..". Otherwise the first
	// directory is the root, as in chroot.
	beneath bool
	// makes lets the walk end at a missing name, if all links on the way may lead anywhere.
	makes bool
}

func (t *Walk) close() {
	for _, d := range t.dirs {
		d.Close()
	}
}

func (t *Walk) top() *Handle { return t.dirs[len(t.dirs)-1] }

// To resolves a path to a location, and ends the walk. follow means that a link at the end is followed. The
// location of a path that ends in a directory itself has the name ".".
func (t *Walk) To(name string, follow bool) (_ Location, err error) {
	defer func() { t.close() }()
	if t.beneath && strings.HasPrefix(name, "/") {
		return Location{}, errLeadsOut
	}
	t.names = append(t.names, strings.Split(name, "/")...)
	for len(t.names) > 0 && t.names[len(t.names)-1] == "" { // a path that ends in a slash means a directory
		t.names = t.names[:len(t.names)-1]
		follow = true
	}
	for len(t.names) > 0 {
		step := t.names[0]
		t.names = t.names[1:]
		isLast := len(t.names) == 0
		switch {
		case step == "" || step == ".":
		case step == "..":
			err = t.up()
		case isLast && !follow:
			return Location{Dir: t.top().Hold(), Name: step}, nil
		default:
			var there bool
			if there, err = t.step(step, isLast); there {
				return Location{Dir: t.top().Hold(), Name: step, ends: t.links}, nil
			}
			if t.makes && isLast && err == unix.ENOENT {
				if len(t.links) > 0 {
					return Location{}, t.r.unsafe(t.links[0], "", 0)
				}
				return Location{Dir: t.top().Hold(), Name: step}, nil
			}
		}
		if err == nil {
			err = t.settle()
		}
		if err != nil {
			return Location{}, t.unsafeUnless(err)
		}
	}
	return Location{Dir: t.top().Hold(), Name: "."}, nil
}

// ToNew is To with links followed, also to a name that is missing in an existing directory, as open(2) does with
// O_CREAT. Links that may lead only to files of their owners do not lead there.
func (t *Walk) ToNew(name string) (Location, error) {
	t.makes = true
	return t.To(name, true)
}

func (t *Walk) up() error {
	if len(t.dirs) == 1 {
		if t.beneath {
			return errLeadsOut
		}
		return nil
	}
	t.top().Close()
	t.dirs = t.dirs[:len(t.dirs)-1]
	return nil
}

// step enters a directory, or follows a link. there means that name is the last one, and not a link.
func (t *Walk) step(name string, isLast bool) (there bool, err error) {
	in := t.top()
	d, err := Location{Dir: in, Name: name}.OpenPath()
	if err != nil {
		return false, err
	}
	switch kind := d.Stat.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		defer d.Close()
		return false, t.through(in, d, name)
	case isLast:
		d.Close()
		return true, nil
	case kind != unix.S_IFDIR:
		d.Close()
		return false, unix.ENOTDIR
	}
	t.dirs = append(t.dirs, d)
	return false, nil
}

// through follows the open link l, which has a name in a directory.
func (t *Walk) through(in, l *Handle, name string) error {
	if t.count++; t.count > MaxLinks {
		return unix.ELOOP
	}
	target, err := l.readlink()
	if err != nil {
		return err
	}
	if x := JudgeLink(InfoOf(&in.Stat), InfoOf(&l.Stat), l.Path, target); x != nil && !isTopOfProc(in) {
		x.remaining = len(t.names)
		t.links = append(t.links, x)
	} else if t.r.Root == "/" && !t.beneath && isProc(l.FD) {
		// The target of such a link may have no path, such as an open pipe.
		fd, err := OpenDirectoryAt(in.FD, name, 0)
		if err == nil {
			d, err := NewHandle(fd, l.Path)
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
	t.names = slices.Concat(strings.Split(target, "/"), t.names)
	return nil
}

// settle checks the links whose target is the current directory.
func (t *Walk) settle() error {
	at := t.top()
	for len(t.links) > 0 {
		x := t.links[len(t.links)-1]
		if x.remaining < len(t.names) {
			return nil
		}
		if !x.mayLeadTo(at.Stat.Uid) {
			return t.r.unsafe(x, at.Path, at.Stat.Uid)
		}
		t.links = t.links[:len(t.links)-1]
	}
	return nil
}

// unsafeUnless returns the error of the walk, or an UnsafeLinkError if there was an unsafe link on the path, because
// that matters more than where it breaks off.
func (t *Walk) unsafeUnless(err error) error {
	if _, ok := errors.AsType[*UnsafeLinkError](err); ok {
		return err
	}
	for _, x := range t.links {
		if x.never {
			return t.r.unsafe(x, "", 0)
		}
	}
	return err
}

// NewWalk returns a walk that starts at the root, or at the working directory for a relative name.
func (r *Resolver) NewWalk(name string) (*Walk, error) {
	if len(name) >= unix.PathMax { // as the kernel does, so that listing a tree by its paths comes to an end
		return nil, unix.ENAMETOOLONG
	}
	fd, err := OpenDirectoryAt(unix.AT_FDCWD, r.Root, 0)
	if err != nil {
		return nil, err
	}
	d, err := NewHandle(fd, "/")
	if err != nil {
		return nil, err
	}
	t := &Walk{r: r, dirs: []*Handle{d}}
	if r.Root == "/" && !strings.HasPrefix(name, "/") {
		dir, err := unix.Getwd()
		if err != nil {
			t.close()
			return nil, err
		}
		t.names = strings.Split(dir, "/")
	}
	return t, nil
}

// Beneath returns a walk that does not leave d, which stays open.
func (r *Resolver) Beneath(d *Handle) *Walk {
	return &Walk{r: r, dirs: []*Handle{d.Hold()}, beneath: true}
}

// errLeadsOut is returned for a path that leads out of its directory.
var errLeadsOut = errors.New("points outside of the directory")

// MaxLinks limits the links that are followed on a path, as Linux does.
const MaxLinks = 40
