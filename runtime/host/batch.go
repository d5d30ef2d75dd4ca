package host

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Batch writes several files and makes all of them durable at once, which costs little more
// than for one file. No path may be at or below another. Each file is replaced in one step, like
// WriteFile, in the order of the calls of File. Commit must follow.
type Batch struct {
	host    *Host
	entries []*batchEntry
	dirs    safepath.DirectoryCache
}

// A batchEntry is one file of a batch.
type batchEntry struct {
	dirs *safepath.DirectoryCache // of the batch
	temp *Temp                    // nil if nothing was written
	// isNew says that the path was missing when the file was written. before is the entry at the
	// path as it was announced.
	isNew  bool
	before safepath.Info
}

// NewBatch begins a batch.
func (h *Host) NewBatch() *Batch { return &Batch{host: h} }

// File returns the host for one more file of the batch. WriteFile (or WriteNewFile) writes the
// file, and Commit moves it to its path. Any other effect fails with an error that [IsRetryable].
//
// If the batch is Concurrent, the hosts of different files may be used at the same time once the
// first file is written. All of them must be done before Commit.
func (b *Batch) File() *Host {
	e := &batchEntry{dirs: &b.dirs}
	b.entries = append(b.entries, e)
	c := *b.host
	c.batchEntry = e
	return &c
}

// Concurrent reports whether files can be written at the same time. With [Options.Effect] they
// cannot, because effects have to come in a fixed order.
func (b *Batch) Concurrent() bool { return b.host.effect == nil }

// AtLimit reports whether the batch has to be committed before another file is written. Each file
// is open until the commit, and other code needs open files too.
func (b *Batch) AtLimit() bool { return len(b.entries) >= openFileShare() }

// maxBatch is the largest number of files in a batch. The table of open files of a Linux process
// grows by powers of two, and to grow it the kernel may wait some milliseconds for all
// processors. 100 files need a table of 128.
const maxBatch = 100

// openFileShare returns the largest number of files that a batch may hold open.
var openFileShare = sync.OnceValue(func() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return maxBatch
	}
	return int(max(1, min(maxBatch, limit.Cur/4)))
})

// IsRetryable reports whether a file that could not be written in a batch may be written by
// itself. The reasons are: the disk is full or too many files are open, which a commit changes;
// the file system cannot do what a batch does; the file is written in place; the effect is another
// than to write a file; or there is a conflict.
func IsRetryable(err error) bool {
	if _, ok := errors.AsType[*linkError](err); ok || errors.Is(err, errInBatch) || errors.Is(err, errInPlace) || IsConflict(err) {
		return true
	}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// errConflict says that somebody made or changed the entry at the path of a file after it was
// announced.
var errConflict = diag.Meanwhile("", "replaced")

// IsConflict reports whether the error of a file is a conflict: the entry at its path is not the
// announced one. See [Host.AfterConflict].
func IsConflict(err error) bool { return errors.Is(err, errConflict) }

var errInBatch = diag.SubjectCannot("a batch", "do anything but write files, each once")

// refuseOther returns an error for any effect of a batch entry other than WriteFile; nil if e is
// nil.
func (e *batchEntry) refuseOther() error {
	if e == nil {
		return nil
	}
	return errInBatch
}

// writeStaged writes a file that Commit will move to its path. IsNew says that the path is
// missing.
func (h *Host) writeStaged(name string, content io.Reader, attr safepath.Attr, isNew bool) error {
	e := h.batchEntry
	if e.temp != nil {
		return errInBatch
	}
	plain := *h
	plain.batchEntry = nil // which refuses every other effect
	t, err := plain.begin(name, func(t *Temp) error { return t.openUnnamed(e.dirs, attr.Mode, isNew) })
	if err != nil {
		return err
	}
	err = t.fill(content)
	if err == nil {
		err = t.setAttr(attr)
	}
	if err == nil {
		err = t.setCapabilities()
	}
	if err != nil {
		return errors.Join(err, t.Discard())
	}
	e.temp, e.isNew = t, isNew
	return nil
}

// manyFiles is the number of files from which one syncfs(2) is faster than an fsync(2) of each.
const manyFiles = 8

// Commit makes the written files durable and moves them to their paths. Announce has to come
// first. Errs has the error of writing each file, in the order of the calls of File; Commit adds
// its own. A file with an error is not moved. After each move, and before the next one, placed is
// called with the index of the file.
//
// If a file fails, its old file is untouched and no temporary file is left, unless only the new
// name could not be made durable.
func (b *Batch) Commit(errs []error, placed func(n int)) {
	b.sync(errs)
	b.dirs.Revalidate(b.host.files)
	for i, e := range b.entries {
		if e.temp == nil {
			continue
		}
		if errs[i] == nil {
			errs[i] = e.place()
		}
		if errs[i] == nil {
			placed(i)
		} else if err := e.temp.Discard(); err != nil {
			errs[i] = errors.Join(errs[i], err)
		}
	}
	b.syncDirs(errs)
	b.dirs.Close()
	b.entries = nil
}

// each calls do for every file without an error, and stores its error.
func (b *Batch) each(errs []error, do func(i int, e *batchEntry) error) {
	for i, e := range b.entries {
		if e.temp != nil && errs[i] == nil {
			errs[i] = do(i, e)
		}
	}
}

// Announce passes the entry at the path of each file to [Options.BeforeChange]. After the call
// for the last file without an error the backups are durable; see [PreImage.More]. Errs is as for
// Commit.
func (b *Batch) Announce(errs []error) {
	b.dirs.Revalidate(b.host.files)
	last := -1
	b.each(errs, func(i int, _ *batchEntry) error { last = i; return nil })
	announced := -1 // the last file announced without an error
	b.each(errs, func(i int, e *batchEntry) error {
		err := e.announce(i < last)
		if err == nil {
			announced = i
		}
		return err
	})
	if announced < 0 || announced == last {
		return
	}
	if err := b.entries[announced].announce(false); err != nil {
		for i := range b.entries {
			errs[i] = errors.Join(errs[i], err)
		}
	}
}

// sync makes the written contents durable.
func (b *Batch) sync(errs []error) {
	synced := make(map[uint64]error)
	b.each(errs, func(_ int, e *batchEntry) error {
		t := e.temp
		if len(b.entries) < manyFiles || !safepath.SyncsFileSystems {
			return t.sync()
		}
		err, done := synced[t.info.Dev]
		if !done {
			err = t.call("sync", func() error { return safepath.SyncFileSystem(t.fd) })
			synced[t.info.Dev] = err
		}
		if err != nil { // the error may be that of any file on the file system
			return t.sync()
		}
		return nil
	})
}

// syncDirs makes the new names durable.
func (b *Batch) syncDirs(errs []error) {
	dirs := make(map[string]error)
	b.each(errs, func(_ int, e *batchEntry) error {
		dir := filepath.Dir(e.temp.name)
		err, done := dirs[dir]
		if !done {
			var p target.Target
			if p, err = e.temp.h.at(e.temp.name); err == nil {
				err = p.SyncDirectory()
				p.Close()
			}
			dirs[dir] = err
		}
		return err
	})
}

// announce passes the entry at the path to [Options.BeforeChange]. If the path was missing when
// the file was written, announce does not look again: if it exists by now, that is a conflict,
// which place reports.
func (e *batchEntry) announce(more bool) (err error) {
	t := e.temp
	dir := t.from
	if !e.isNew || t.temp != "" {
		if err := t.findDir(); err != nil {
			return err
		}
		dir = t.target.Dir
		e.before, err = t.target.Stat()
		t.releaseDir()
		if err != nil {
			return safepath.PathError("lstat", t.name, err)
		}
	}
	return t.h.BeforeChange(PreImage{Path: t.name, Dir: dir.Path, Info: e.before, Content: true, Next: &t.info, More: more})
}

// place moves a durable file to its path. The caller has to sync the directory.
func (e *batchEntry) place() error {
	t := e.temp
	if err := t.findDir(); err != nil {
		return err
	}
	if e.before.Kind == safepath.Missing && t.temp == "" {
		err := t.linkInPlace()
		if errors.Is(err, os.ErrExist) {
			return errConflict
		}
		return err
	}
	switch now, err := t.target.Stat(); {
	case err != nil:
		return safepath.PathError("lstat", t.name, err)
	case now != e.before:
		return errConflict
	}
	if err := t.linkTemp(); err != nil {
		return err
	}
	return t.rename()
}
