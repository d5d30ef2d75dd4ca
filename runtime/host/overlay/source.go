package overlay

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/safepath"
)

// SourceOf returns the path on the machine of a file of the user. It is false if the plan has
// neither assumptions nor a record of looks.
func (o *View) SourceOf(name string) (string, bool) {
	if !o.IsActive() || o.base.InScratch(name) {
		return "", false
	}
	return ofMachine(o.base.Root(), name)
}

// OpenSource opens a file of the user whose path on the machine is name (see SourceOf).
func (o *View) OpenSource(source, name string) (*os.File, error) {
	p, err := o.look(name, true, false)
	if err != nil {
		return nil, err
	}
	if p.info.Kind != safepath.Regular && p.info.Kind != safepath.Missing {
		return nil, diag.Not(source, "a file")
	}
	if p.info.Kind == safepath.Regular && p.entry.asIs() {
		return o.base.OpenUserFile(sourceAt(o.base.Root(), source, p))
	}
	if p.info.Kind == safepath.Missing && o.looks != nil && o.looks.Grant != nil && o.looks.Grant(Look{Kind: PathLook, Name: p.path}, p.doubts) {
		return nil, &NotKnownError{Path: source}
	}
	f, err := o.openPlace(p)
	if e, ok := errors.AsType[*os.PathError](err); ok {
		e.Path = source
	}
	return f, err
}

// SourceTree lists everything below a directory of the user whose path on the machine is name.
func (o *View) SourceTree(source, name string, r *safepath.NameReader) ([]safepath.TreeEntry, error) {
	p, err := o.look(name, true, true)
	switch {
	case err != nil:
		return nil, err
	case p.info.Kind == safepath.Missing:
		return nil, &os.PathError{Op: "stat", Path: source, Err: syscall.ENOENT}
	case p.info.Kind != safepath.Directory:
		return nil, diag.Not(source, "a directory")
	}
	return o.Tree(name, true, r)
}

// contentOfSource returns the content that a source will have when a file is made of it, if that
// is assumed.
func contentOfSource(o *View, source string) (*string, bool) {
	name, ok := ofMachine(o.base.Root(), source)
	if fetch.IsURL(source) || !ok {
		return nil, false
	}
	p, err := o.find(name, true)
	if err != nil || p.entry.asIs() {
		return nil, false
	}
	if p.entry.Content == nil && p.entry.Source != "" {
		return contentOfSource(o, p.entry.Source)
	}
	return p.entry.Content, true
}

// sourceAt returns the path of a source that leads to place p.
func sourceAt(root string, source string, p place) string {
	if p.relinked {
		return filepath.Join(root, p.path)
	}
	return source
}
