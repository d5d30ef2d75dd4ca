package host

import "strings"

// A row is what a view remembers that looks at several things right after one
// another: the directory that they are in. To open a file from there takes a tenth
// less than to look at it by its whole path.
type row struct {
	name string // of the directory, with the slash, "" if none is open
	dir  *handle
	last string // the directory of the file before
}

// Row returns a view for looking at several things right after one another, from
// one goroutine, and what ends that: it holds a directory open, which can become
// another one meanwhile.
func (v *View) Row() (in *View, end func()) {
	own := *v
	own.row = new(row)
	return &own, own.row.leave
}

// open opens the file at a path. A link at the end is not followed. R may be nil.
func (r *row) open(w *walker, name string, flags int) (fd int, err error) {
	if p, ok := r.at(w, name); ok {
		return w.openAt(p, flags)
	}
	return w.open(name, flags)
}

// at returns the place of a path, if its directory is open: it is opened when the second
// thing in a row is in it. R may be nil.
func (r *row) at(w *walker, name string) (location, bool) {
	slash := strings.LastIndexByte(name, '/')
	if r == nil || slash < 0 || isDots(name[slash+1:]) {
		return location{}, false
	}
	if dir := name[:slash+1]; dir != r.name {
		again := dir == r.last
		if r.last = dir; !again || !r.enter(w, dir) {
			return location{}, false
		}
	}
	return location{dir: r.dir, name: name[slash+1:]}, true
}

// isDots reports whether a name stands for a directory and not for what is in one.
func isDots(name string) bool { return name == "" || name == "." || name == ".." }

// enter opens a directory. It reports whether that can be done.
func (r *row) enter(w *walker, name string) bool {
	r.leave()
	d, err := w.directory(name)
	if err != nil {
		return false
	}
	r.name, r.dir = name, d
	return true
}

// holds reports whether a directory is the one that is open. R may be nil.
func (r *row) holds(dir string) bool {
	return r != nil && len(r.name) == len(dir)+1 && r.name[:len(dir)] == dir
}

func (r *row) leave() {
	r.dir.close()
	r.name, r.dir = "", nil
}
