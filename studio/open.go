package studio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/filelock"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// maxOpen is how many files can be open.
const maxOpen = 200

// A workspace is the files of the directory that are open.
type workspace struct {
	ctx       context.Context // of what outlives requests
	directory *directory
	state     *statedir.Dir
	gate      *gate
	evaluator *evaluator
	hub       *hub
	// evaluation has room for as many evaluations as may go on at once.
	evaluation chan struct{}
	lockFile   *os.File // while it is open, this is the only studio of the directory

	mu        sync.Mutex // a document may be held when it is taken
	documents map[string]*document
}

// lock makes this the only studio of the directory: journals have one writer.
func (w *workspace) lock() error {
	dir := journalDir(w.directory.path)
	if err := makeDirs(w.state, dir); err != nil {
		return err
	}
	f, err := w.state.Open(path.Join(dir, "lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if err := filelock.TryLock(f, filelock.Exclusive); err != nil {
		return errors.Join(diag.At(diag.Pos{File: w.directory.path}, diag.InUse("", "another studio")).
			WithHint("use its page, or stop it"), f.Close())
	}
	w.lockFile = f
	return nil
}

// document returns an open file, and opens a closed one. With create the file may be missing.
func (w *workspace) document(name string, create bool) (*document, error) {
	if err := checkFileName(name); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.documents[name]; d != nil {
		return d, nil
	}
	if len(w.documents) >= maxOpen {
		return nil, refuse(http.StatusServiceUnavailable, "limit", fmt.Sprintf("too many open files: the limit is %d", maxOpen))
	}
	d, err := w.open(name, create)
	if err != nil {
		return nil, err
	}
	w.documents[name] = d
	return d, nil
}

// open opens a file, with the edits in its journal.
func (w *workspace) open(name string, create bool) (*document, error) {
	now, err := w.readTrusted(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, err
	}
	if missing && !create && !w.state.Has(journalName(w.directory.path, name)) {
		return nil, err
	}
	j, entries, err := openJournal(w.state, w.directory.path, name)
	if err != nil {
		return nil, err
	}
	d := &document{name: name, directory: w.directory.path, journal: j, diskState: "same"}
	on := fileContent{name, now.text, now.digest}
	if len(entries) == 0 || entries[0].Open == nil || entries[0].Open.File != name || d.replay(entries) != nil {
		*d = document{name: name, directory: w.directory.path, journal: j, diskState: "same", text: on.Text, disk: on}
		if err := j.restart(entry{Open: &on}); err != nil {
			return nil, errors.Join(err, j.close())
		}
		return d, nil
	}
	d.rev = 0
	if err := w.found(d, now, missing); err != nil {
		return nil, errors.Join(err, j.close())
	}
	if d.saved() && d.diskState == "same" && j.isLong() {
		d.undo, d.redo = nil, nil
		return d, j.restart(entry{Open: &d.disk})
	}
	return d, nil
}

// readTrusted reads a file, if ccm as this user would read it too.
func (w *workspace) readTrusted(name string) (fileText, error) {
	t, err := w.directory.read(name)
	if err == nil {
		err = w.evaluator.main.Files.Trust().Check(path.Join(w.directory.path, name))
	}
	return t, err
}

// found compares the file on the disk with the document. If all was saved, the document follows the
// file; else a person is asked at the next save.
func (w *workspace) found(d *document, now fileText, missing bool) error {
	switch {
	case missing && d.disk.Digest == "", !missing && now.digest == d.disk.Digest:
		d.diskState = "same"
	case missing:
		d.diskState = "gone"
	case now.text == d.text:
		d.diskState = "same"
		d.disk = fileContent{d.name, now.text, now.digest}
		return d.journal.append(entry{SavedDigest: now.digest})
	case d.saved():
		return d.follow(fileContent{d.name, now.text, now.digest})
	default:
		d.diskState = "changed"
	}
	return nil
}

// follow makes the text equal to the file on the disk, as a step of undo.
func (d *document) follow(on fileContent) error {
	if list := difference(d.text, on.Text); list != nil {
		if err := d.record(list, false); err != nil {
			return err
		}
	}
	if err := d.journal.append(entry{Base: &on}); err != nil {
		return err
	}
	d.disk, d.diskState = on, "same"
	return nil
}

// close closes the journals, and frees the directory for another studio.
func (w *workspace) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.documents {
		_ = d.journal.close() // each line was written before its answer
	}
	if w.lockFile != nil {
		_ = filelock.Close(w.lockFile)
	}
}

// openFiles reports for each open file whether it has unsaved changes.
func (w *workspace) openFiles() (edited map[string]bool) {
	w.mu.Lock()
	open := maps.Clone(w.documents)
	w.mu.Unlock()
	edited = map[string]bool{}
	for name, d := range open {
		edited[name] = d.isEdited()
	}
	return edited
}
