package overlay

import (
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A place is where a path leads in a plan.
type place struct {
	path string // resolved, but for its last element
	// missingAt is the first missing directory on the way.
	missingAt string
	entry     *entry // the assumption about the path, nil for none
	info      safepath.Info
	// fresh says that nothing that is below the path now will be there.
	fresh bool
	// gone says that the plan removes what is there now.
	gone bool
	// relinked says that a link on the way is going to be made or changed.
	relinked bool
	// absolute says that a link on the way is absolute. Commands resolve it from the root of the
	// operating system, not from the root of the machine.
	absolute bool
	// open is the assumption by which unknown things may appear in the directory, or in one above
	// it; nil for none.
	open *entry
	// doubts are the authors (see [View.Assume]) on whose outcome the entry at the path depends.
	doubts []any
	// vague is set if the path will exist and its kind is not known.
	vague bool
	// imagined is set if vague is, and the path is missing now.
	imagined bool
}

// find resolves a path as the kernel does, over the machine and the assumptions. With follow, it
// follows a link at the end.
func (o *View) find(name string, follow bool) (place, error) {
	name = path.Clean("/" + name)
	dir, base := path.Split(name)
	if base == "" {
		return rootPlace(), nil
	}
	dirs := o.dirs.Load()
	var at place
	if known, ok := dirs.Load(dir); ok {
		at = known.(place)
	} else {
		var err error
		if at, err = (&walker{o: o}).walk(rootPlace(), split(dir), true); err != nil {
			return at, err
		}
		if at.info.Kind == safepath.Directory {
			dirs.Store(dir, at)
		}
	}
	return (&walker{o: o}).walk(at, []string{base}, follow)
}

func rootPlace() place {
	return place{path: "/", info: safepath.Info{Kind: safepath.Directory, Mode: 0o755}}
}

func split(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool { return c == '/' })
}

// A walker resolves one path.
type walker struct {
	o     *View
	links int // number of links followed
}

// walk resolves the rest of the way from a place.
func (w *walker) walk(at place, way []string, follow bool) (place, error) {
	for len(way) > 0 {
		name := way[0]
		way = way[1:]
		switch {
		case name == ".":
			continue
		case name == "..":
			up, err := w.walk(rootPlace(), split(path.Dir(at.path)), true)
			up.doubts = append(up.doubts[:len(up.doubts):len(up.doubts)], at.doubts...)
			up.relinked, up.absolute = up.relinked || at.relinked, up.absolute || at.absolute
			if at = up; err != nil {
				return at, err
			}
			continue
		case at.missingAt != "":
			at.path = path.Join(at.path, name)
			if e := w.o.at(at.path); e != nil && e.parentless {
				at.doubt(e.author)
			}
			continue
		case at.info.Kind != safepath.Directory && !at.vague:
			at = place{path: path.Join(at.path, name), missingAt: at.path, fresh: true, gone: at.gone, doubts: at.doubts, absolute: at.absolute}
			continue
		}
		next, err := w.o.step(at, name)
		if err != nil {
			return next, err
		}
		if next.info.Kind == safepath.Symlink && (len(way) > 0 || follow) {
			if w.links++; w.links > safepath.MaxLinks {
				return next, &os.PathError{Op: "open", Path: next.path, Err: syscall.ELOOP}
			}
			target, err := w.o.target(next)
			if err != nil {
				return next, err
			}
			in := at
			if strings.HasPrefix(target, "/") {
				at = place{path: "/", info: safepath.Info{Kind: safepath.Directory}, doubts: next.doubts, relinked: at.relinked, absolute: true}
			} else {
				at.doubts = next.doubts
			}
			if x := safepath.JudgeLink(in.info, next.info, next.path, target); x != nil && next.entry.asIs() {
				if at, err = w.walk(at, split(target), true); err == nil {
					err = w.o.base.Resolver().MayLead(x, at.path, at.info)
				}
				if err != nil {
					return at, err
				}
				continue
			}
			at.relinked = at.relinked || !next.entry.asIs()
			way = append(split(target), way...)
			continue
		}
		if next.info.Kind == safepath.Missing && next.missingAt == "" {
			next.missingAt = next.path
		}
		at = next
	}
	return at, nil
}

// step returns the place of a name in a directory.
func (o *View) step(in place, name string) (place, error) {
	p := place{path: path.Join(in.path, name), fresh: in.fresh, gone: in.gone, open: in.open, doubts: in.doubts, relinked: in.relinked, absolute: in.absolute}
	e := o.at(p.path)
	var now safepath.Info
	var err error
	if !in.fresh {
		if now, err = o.base.Lstat(p.path); err != nil && e.asIs() {
			return p, err
		}
	}
	switch {
	case e == nil:
		p.info, p.fresh = now, in.fresh || now.Kind == safepath.Missing
		if in.open != nil {
			p.doubt(in.open.author)
		}
		if p.info.Kind == safepath.Missing {
			p.doubt(o.creators(p.path)...)
		}
		return p, nil
	case e.Unsure:
		p.entry, p.info, p.fresh, p.open = e, now, in.fresh || now.Kind == safepath.Missing, e
		if e.layered {
			p.info, p.fresh = e.describe(now), in.fresh || e.fresh
		}
		p.doubt(e.author)
		return p, nil
	}
	p.entry, p.info = e, e.describe(now)
	p.fresh, p.gone = in.fresh || e.fresh, e.Kind == safepath.Missing && !e.Vague
	if e.tentative {
		p.doubt(e.author)
	}
	if e.Vague {
		p.vague = true
		if p.info.Kind == safepath.Missing {
			p.info.Kind = safepath.Regular
		}
		if p.imagined = now.Kind == safepath.Missing; !p.imagined {
			p.info, p.fresh = now, in.fresh
		}
	}
	if e.Open || e.Vague {
		p.open = e
	}
	return p, nil
}

func (p *place) doubt(by ...any) {
	p.doubts = append(p.doubts[:len(p.doubts):len(p.doubts)], by...)
}

// describe returns the Info that the path will have, given the present one.
func (e *entry) describe(now safepath.Info) safepath.Info {
	if e.Kind == safepath.Missing {
		return safepath.Info{}
	}
	if now.Kind != e.Kind {
		now = safepath.Info{Kind: e.Kind, Mode: map[safepath.FileKind]uint32{safepath.Symlink: 0o777, safepath.Directory: 0o755}[e.Kind]}
		if now.UID, now.GID = safepath.Self(); e.Kind == safepath.Regular {
			now.Mode = 0o644
		}
	}
	if e.Attr != nil {
		now.UID, now.GID, now.Mode = e.Attr.UID, e.Attr.GID, e.Attr.Mode
	}
	if e.Content != nil {
		now.Size = int64(len(*e.Content))
	}
	return now
}

// target returns the target of the link at a place.
func (o *View) target(p place) (string, error) {
	switch {
	case p.entry.asIs():
		return o.base.Readlink(p.path)
	case p.entry.Target == "":
		return "", &NotKnownError{p.path, p.entry.author}
	}
	return p.entry.Target, nil
}
