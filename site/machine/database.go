package machine

import (
	"path"
	"slices"
	"strings"
	"time"
)

// A database is what a package manager knows, as far as the scan needs it.
type database struct {
	manager  string // "" if none was found
	packages map[string]*installed
	// files are the files below the directories in isOfInterest.
	files map[string]owned
	// made are files that scripts of packages have made, with the reason why they are there, "" if they were removed since.
	made map[string]string
	// copies returns the files of packages that have some digests, by digest.
	copies func(digests map[string]bool) map[string][]string
	// scripts returns the texts that create users when packages are installed.
	scripts func() string
}

// installed is an installed package.
type installed struct {
	asked bool // not only installed for another package
	base  bool // part of the base system
	usual bool // part of most base systems, but not of small ones
	held  bool
	since time.Time
	// version is as the package manager writes it, "" if it is not known.
	version string
	units   []string // the units that it ships
}

// owned is a file of a package.
type owned struct {
	pkg string
	// digest is the digest of the file as shipped, in hexadecimal: MD5, SHA-1 or SHA-256, by its length; "" if it is not
	// known.
	digest  string
	several bool // packages ship it, as a directory
	dropped bool // the package no longer ships it
}

// unitDirectories are the directories of units of packages.
var unitDirectories = []string{"/usr/lib/systemd/system/", "/lib/systemd/system/"}

// isOfInterest reports whether the scan needs to know who owns a path.
func isOfInterest(name string) bool {
	for _, dir := range []string{"/etc/", "/opt/", "/srv/", "/usr/local/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// own notes that a package has a file.
func (db *database) own(pkg, name, digest string) {
	for _, dir := range unitDirectories {
		if unit, ok := strings.CutPrefix(name, dir); ok && isUnit(unit) {
			if p := db.packages[pkg]; p != nil && !slices.Contains(p.units, unit) {
				p.units = append(p.units, unit)
			}
		}
	}
	if !isOfInterest(name) {
		return
	}
	have, known := db.files[name]
	if known && have.pkg != pkg {
		have.several = true
	}
	if !known {
		have.pkg = pkg
	}
	if digest != "" {
		have.digest = digest
	}
	db.files[name] = have
}

// packageOf returns the package that a path belongs to, "" if that is not clear: its owner, that of a directory above it
// that has the name of the package, the package with the name of that directory, or one that reads the file.
func (db *database) packageOf(name string) string {
	if f, ok := db.files[name]; ok && !f.several {
		return f.pkg
	}
	for at := path.Dir(name); strings.Count(at, "/") > 1; at = path.Dir(at) {
		base := path.Base(at)
		if f, ok := db.files[at]; ok && !f.several && strings.HasPrefix(f.pkg, base) {
			return f.pkg
		}
		if db.packages[base] != nil { // /etc/nginx, made by a script of nginx
			return base
		}
	}
	for _, row := range generatedRows() {
		if row.kind == "read" && db.packages[row.reason] != nil && matches(row.pattern, name) {
			return row.reason
		}
	}
	return ""
}

// readDatabase reads the database of the package manager.
func (r *reader) readDatabase() *database {
	for _, read := range []func(*database) bool{r.dpkg, r.pacman, r.apk, r.rpm} {
		db := newDatabase()
		before := len(r.scan.LeftOut)
		if read(db) {
			return db
		}
		if r.scan.Damage != "" {
			break
		}
		if db.manager == "" { // there is no such database
			r.scan.LeftOut = r.scan.LeftOut[:before]
		}
	}
	r.leave("packages", "no readable package database was found: packages and files of packages are unknown")
	return newDatabase()
}

func newDatabase() *database {
	return &database{
		packages: map[string]*installed{}, files: map[string]owned{}, made: map[string]string{}, scripts: func() string { return "" },
		copies: func(map[string]bool) map[string][]string { return nil },
	}
}

// packages adds the packages that were asked for.
func (r *reader) packages() {
	for _, name := range sortedKeys(r.db.packages) {
		p := r.db.packages[name]
		switch reason := generatedReason("package", name); {
		case p.held:
			r.add(Item{Kind: Package, Name: name, Package: name, Held: true, Version: p.version, Changed: p.since, Reason: "on hold"})
		case !p.asked || p.base || p.usual:
		case reason != "":
			r.leave("package "+name, reason)
		default:
			r.add(Item{Kind: Package, Name: name, Package: name, Version: p.version, Changed: p.since, Reason: "installed by request"})
		}
	}
}

// usualPackages adds packages that are part of most base systems, if something of them was changed: a small base system
// may lack them.
func (r *reader) usualPackages() {
	var more []Item
	added := map[string]bool{}
	for _, i := range r.scan.Items {
		if p := r.db.packages[i.Package]; p != nil && p.usual && p.asked && !p.base && !p.held && !added[i.Package] && generatedReason("package", i.Package) == "" {
			added[i.Package] = true
			more = append(more, Item{Kind: Package, Name: i.Package, Package: i.Package, Version: p.version, Changed: p.since, Reason: "something of it was changed"})
		}
	}
	slices.SortFunc(more, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	r.scan.Items = append(more, r.scan.Items...)
}
