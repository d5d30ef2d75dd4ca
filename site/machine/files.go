package machine

import (
	"crypto/md5"  //nolint:gosec // package databases have it
	"crypto/sha1" //nolint:gosec // the database of apk has it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// fileRoots are the directories whose files are compared with the packages.
var fileRoots = []string{"/etc", "/usr/local", "/opt"}

// files adds the files that differ from their package, and those that no package owns.
func (r *reader) files() {
	if r.db.manager == "" {
		r.leave("files", "the package database is needed to find changed files")
		return
	}
	seen := map[string]bool{}
	for _, root := range fileRoots {
		r.filesBelow(root, seen)
	}
	for _, name := range sortedKeys(r.db.files) {
		f := r.db.files[name]
		if f.digest == "" || f.dropped || seen[name] || !strings.HasPrefix(name, "/etc/") || generatedReason("file", name) != "" {
			continue
		}
		if there, err := r.v.Exists(name); err == nil && !there {
			r.add(Item{Kind: File, Name: name, Path: name, Package: f.pkg, Removed: true, Reason: "removed; package " + f.pkg + " ships it"})
		}
	}
	for _, name := range sortedKeys(r.db.made) {
		if r.db.made[name] == "" && !seen[name] {
			r.add(Item{Kind: File, Name: name, Path: name, Package: r.db.packageOf(name), Removed: true, Reason: "removed; its package makes it"})
		}
	}
	r.findCopies()
	for _, dir := range []string{"/srv", "/var/www"} {
		for _, name := range r.names(dir) {
			if at := dir + "/" + name; r.db.files[at].pkg == "" && generatedReason("file", at) == "" {
				r.leave(at, "data: "+dir+" is not imported")
			}
		}
	}
}

// findCopies finds files of packages that are the originals of changed files: templates that scripts have installed.
func (r *reader) findCopies() {
	wanted := map[string]bool{}
	for _, i := range r.scan.Items {
		if i.original != "" {
			wanted[i.original] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	found := r.db.copies(wanted)
	for n, i := range r.scan.Items {
		if i.original != "" {
			r.scan.Items[n].copies = found[i.original]
		}
	}
}

// A foundFile is a path below one of fileRoots.
type foundFile struct {
	path string
	safepath.Info
	owner owned
	top   string // the highest directory above it, or itself, that no package owns; "" if there is none
}

// filesBelow adds the files below a directory.
func (r *reader) filesBelow(root string, seen map[string]bool) {
	if is, err := r.v.IsDirectory(root); err != nil || !is {
		r.cannot(root, err)
		return
	}
	tree, err := r.v.Tree(r.ctx, root, mostNames)
	for _, err := range each(err) {
		name := root
		if at, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(at.Path, root+"/") {
			name = at.Path
		}
		r.cannot(name, err)
	}
	var list []*foundFile
	count, size := map[string]int{}, map[string]int64{}
	tops := map[string]string{} // the top of each directory that no package owns
	standard := func(name string) bool { return root == "/usr/local" && isStandardLocal(name) }
	for _, e := range tree {
		name := path.Join(root, e.Rel)
		seen[name] = true
		f := &foundFile{path: name, Info: e.Info, owner: r.db.files[name], top: tops[path.Dir(name)]}
		if f.owner.pkg == "" && f.Kind == safepath.Directory && f.top == "" && !standard(name) {
			f.top = name
		}
		if f.owner.pkg == "" && f.Kind == safepath.Directory && !standard(name) {
			tops[name] = f.top
		}
		if r.o.ignores(name) || r.isGenerated(f) {
			continue
		}
		list = append(list, f)
		group := f.top
		if group == "" && f.owner.pkg == "" {
			group = path.Dir(name) + "/*"
		}
		switch f.Kind {
		case safepath.Regular:
			count[group]++
			size[group] += f.Size
		case safepath.Directory:
			count[group]++
		}
	}
	large := func(f *foundFile) bool {
		group := f.top
		if group == "" {
			group = path.Dir(f.path) + "/*"
		}
		if f.owner.pkg != "" || count[group] <= mostInTree && size[group] <= mostBytesInTree {
			return false
		}
		r.leave(group, fmt.Sprintf("too large for a site: files without a package (%d, %d MiB)", count[group], size[group]>>20))
		return true
	}
	needed := map[string]bool{} // the directories of the items
	first := len(r.scan.Items)
	for _, f := range list {
		if r.ctx.Err() != nil {
			return
		}
		if f.Kind == safepath.Directory || f.owner.pkg == "" && large(f) {
			continue
		}
		if i, ok := r.file(f); ok && r.includes(i) {
			r.add(i)
			for dir := path.Dir(f.path); dir != "/" && !needed[dir]; dir = path.Dir(dir) {
				needed[dir] = true
			}
		}
	}
	var dirs []Item
	for _, f := range list {
		wanted := needed[f.path] || needed[f.top] // an application needs its empty directories, too
		if wanted && f.Kind == safepath.Directory && f.owner.pkg == "" && !standard(f.path) && !systemdDirectory(f.path) {
			dirs = append(dirs, Item{Kind: Directory, Name: f.path, Path: f.path, Package: r.db.packageOf(f.path), Changed: f.MTime, Reason: "no package owns it"})
		}
	}
	r.scan.Items = slices.Insert(r.scan.Items, first, dirs...)
}

// each returns the errors of a joined one.
func each(err error) []error {
	if err == nil {
		return nil
	}
	if list, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		return list.Unwrap()
	}
	return []error{err}
}

// isStandardLocal reports whether a directory below /usr/local is part of the base system.
func isStandardLocal(name string) bool {
	switch strings.TrimPrefix(name, "/usr/local/") {
	case "bin", "etc", "games", "include", "lib", "lib64", "libexec", "man", "sbin", "share", "src", "share/man", "share/applications",
		"share/info", "share/ca-certificates", "share/fonts", "share/texmf", "share/sgml", "share/xml", "share/emacs", "share/emacs/site-lisp":
		return true
	}
	return strings.HasPrefix(name, "/usr/local/share/man/man")
}

// systemdDirectory reports whether a directory is made by the unit files in it.
func systemdDirectory(name string) bool {
	return strings.HasPrefix(name, unitDirectory) && strings.Count(name, "/") == strings.Count(unitDirectory, "/") && strings.HasSuffix(name, ".d")
}

// isGenerated reports whether a file is one of generated.txt, or as a package has made it.
func (r *reader) isGenerated(f *foundFile) bool {
	if r.db.made[f.path] != "" && f.Kind == safepath.Symlink {
		return true
	}
	if target, err := r.v.Readlink(f.path); err == nil && f.Kind == safepath.Symlink && strings.HasPrefix(target, "/etc/alternatives/") {
		return true
	}
	row := generatedRow{}
	if row = generated("file", f.path); row.reason != "" && f.owner.pkg == "" {
		r.scan.generated[row] = true
	}
	reason := row.reason
	if strings.HasPrefix(reason, "/") {
		if f.Kind != safepath.Regular {
			return true
		}
		want, err := r.v.ReadUpTo(reason, largestFile)
		if err != nil {
			return true // there is nothing to compare with
		}
		have, err := r.v.ReadUpTo(f.path, largestFile)
		return err == nil && string(have) == string(want)
	}
	if reason == "created by package scripts, if empty" {
		text, err := r.v.ReadUpTo(f.path, largestFile)
		return f.Kind == safepath.Directory || err == nil && len(settings(string(text))) == 0
	}
	return reason != ""
}

// digestOfLink returns the digest that apk has of a link.
func digestOfLink(target string) string {
	sum := sha1.Sum([]byte(target)) //nolint:gosec // the database of apk has it
	return hex.EncodeToString(sum[:])
}

// file returns the item for a file that is not a directory; false if there is nothing to report.
func (r *reader) file(f *foundFile) (i Item, ok bool) {
	i = Item{Kind: File, Name: f.path, Path: f.path, Package: r.db.packageOf(f.path), Changed: f.MTime, Size: f.Size, Reason: "no package owns it"}
	if f.owner.pkg == "" {
		if reason := generatedReason("leftover", f.path); reason != "" {
			r.leave(f.path, reason)
			return i, false
		}
	}
	unit, isUnit := unitOf(f.path)
	switch f.Kind {
	case safepath.Symlink:
		target, err := r.v.Readlink(f.path)
		if err != nil {
			r.cannot(f.path, err)
			return i, false
		}
		if f.owner.pkg != "" && (f.owner.digest == "" || f.owner.digest == digestOfLink(target)) || isUnit && (target == "/dev/null" || r.isAlias(f.path, target)) {
			return i, false
		}
		i.Kind = Link
		return i, true
	case safepath.Regular:
	default:
		r.leave(f.path, "a device, socket or pipe")
		return i, false
	}
	if f.owner.pkg != "" {
		if f.owner.digest == "" {
			return i, false
		}
		have, err := r.digest(f, len(f.owner.digest))
		switch {
		case err != nil:
			r.cannot(f.path, err)
			return i, false
		case have == f.owner.digest:
			return i, false
		}
		i.Reason, i.original = "differs from package "+f.owner.pkg, f.owner.digest
		if f.owner.dropped {
			i.Reason = "package " + f.owner.pkg + " no longer ships it"
			return i, false
		}
	}
	if f.Size > largestFile {
		r.leave(f.path, fmt.Sprintf("%d bytes: files of a site have at most %d", f.Size, largestFile))
		return i, false
	}
	if isUnit {
		i.Kind, i.Name = Unit, unit
	}
	return i, true
}

// digest returns the digest of a file in hexadecimal, of the kind that has so many digits.
func (r *reader) digest(f *foundFile, digits int) (string, error) {
	if f.Size > largestCompared {
		return "", fmt.Errorf("%d bytes: %w", f.Size, diag.Too("", "large to compare with its package"))
	}
	var sum hash.Hash
	switch digits {
	case 2 * md5.Size:
		sum = md5.New() //nolint:gosec // as the database has it
	case 2 * sha1.Size:
		sum = sha1.New() //nolint:gosec // as the database has it
	case 2 * sha256.Size:
		sum = sha256.New()
	default:
		return "", errors.New("its package has a digest of an unknown kind")
	}
	file, err := r.v.Open(f.path)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(sum, io.LimitReader(file, largestCompared))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
