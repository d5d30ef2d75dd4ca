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
	path string // without links in its directory
	// missingAt is the first directory on the way that is not there.
	missingAt string
	entry     *entry // what is assumed of it, nil if it is as it is
	info      safepath.Info
	// fresh says that nothing that stands below it now will.
	fresh bool
	// gone says that nothing stands there because of the plan.
	gone bool
	// notDirectory says that something else than a directory is on the way.
	notDirectory bool
	// relinked says that a link on the way is going to be made, or to point elsewhere.
	relinked bool
	// absolute says that a link on the way is absolute. Commands follow it from the root of
	// the operating system, and not from that of the machine.
	absolute bool
	// open is who may have put things into the directory, or into one above it; nil
	// if nobody.
	open *entry
	// doubts are the authors (see [View.Assume]) whose outcome decides what stands there.
	doubts []any
	// vague is set if something will stand there and nobody knows of which kind.
	vague bool
	// imagined is set if that something is not there now.
	imagined bool
}

// find walks to a path as the kernel does, over what stands there and what is
// assumed. A link at the end is followed if follow is set.
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

// A walker walks to one path.
type walker struct {
	o     *View
	links int // that were followed
}

// walk goes on from a place.
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
				at.doubt(e.by)
			}
			continue
		case at.info.Kind != safepath.Directory && !at.vague:
			at = place{path: path.Join(at.path, name), missingAt: at.path, notDirectory: at.info.Kind != safepath.Missing, fresh: true, gone: at.gone, doubts: at.doubts, absolute: at.absolute}
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

// step returns what stands in a directory under a name.
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
			p.doubt(in.open.by)
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
		p.doubt(e.by)
		return p, nil
	}
	p.entry, p.info = e, e.describe(now)
	p.fresh, p.gone = in.fresh || e.fresh, e.Kind == safepath.Missing && !e.Vague
	if e.tentative {
		p.doubt(e.by)
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

// describe returns what will stand there, given what does.
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

// target returns where the link at a place points.
func (o *View) target(p place) (string, error) {
	switch {
	case p.entry.asIs():
		return o.base.Readlink(p.path)
	case p.entry.Target == "":
		return "", &NotKnownError{p.path, p.entry.by}
	}
	return p.entry.Target, nil
}
