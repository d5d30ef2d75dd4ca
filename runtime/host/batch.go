package host

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Batch writes several files that have nothing to do with each other and makes
// all of them durable at once, which costs little more than it does for one. Each
// is replaced in one step, as WriteFile does it, in the order of the calls of File.
// Commit must follow.
type Batch struct {
	host    *Host
	entries []*batchEntry
	dirs    safepath.DirectoryCache
}

// A batchEntry is one file of a batch.
type batchEntry struct {
	batch *Batch
	temp  *Temp // nil if nothing was written
	// isNew says that nothing stood at the path when the file was written. before is
	// what stands there now, as it was announced.
	isNew  bool
	before Info
}

// Batch begins a batch.
func (h *Host) Batch() *Batch { return &Batch{host: h} }

// File returns the host for one more file of the batch: WriteFile (or WriteNewFile)
// writes the file, which takes its place in Commit. That is the only effect there
// is: any other fails with an error that [IsRetryable].
//
// If the batch is Concurrent, the hosts of different files may be used at the same
// time, but not before the first one is written. All of that must be over before Commit.
func (b *Batch) File() *Host {
	e := &batchEntry{batch: b}
	b.entries = append(b.entries, e)
	c := *b.host
	c.batchEntry = e
	return &c
}

// Concurrent reports whether files can be written at the same time. With
// [Options.Effect], effects are asked about in an order that is always the same.
func (b *Batch) Concurrent() bool { return b.host.effect == nil }

// AtLimit reports whether the batch has to be committed before more files are
// written: each is open until then, and others want to open files too.
func (b *Batch) AtLimit() bool { return len(b.entries) >= openFileShare() }

// maxBatch is the most files of a batch. The table of open files of a Linux process grows by
// powers of two, for which the kernel may wait some milliseconds for all processors: 100 files
// need a table of 128.
const maxBatch = 100

// openFileShare returns how many files a batch may hold open at most.
var openFileShare = sync.OnceValue(func() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return maxBatch
	}
	return int(max(1, min(maxBatch, limit.Cur/4)))
})

// IsRetryable reports whether a file that could not be written in a batch may be
// written by itself: because something is used up that the batch gives back, the
// room on a disk or how many files may be open, because the file system cannot do
// what a batch does, because there is more to do than to write a file, or because
// of a conflict.
func IsRetryable(err error) bool {
	if _, ok := errors.AsType[*linkError](err); ok || errors.Is(err, errInBatch) || IsConflict(err) {
		return true
	}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// errConflict says that somebody has made or changed what stands where a file belongs
// since it was announced.
var errConflict = errors.New("something else stands there now")

// IsConflict reports whether an error of a batch says that something else stands by now
// where a file belongs than what was announced: see [Host.AfterConflict].
func IsConflict(err error) bool { return errors.Is(err, errConflict) }

var errInBatch = errors.New("only files are written in a batch, one each")

// refuseOther returns why there is no other effect than WriteFile; nil if it is no entry of a batch.
func (e *batchEntry) refuseOther() error {
	if e == nil {
		return nil
	}
	return errInBatch
}

// writeStaged writes a file that takes its place when its batch is committed. IsNew says
// that nothing stands there.
func (h *Host) writeStaged(name string, content io.Reader, attr Attr, isNew bool) error {
	e := h.batchEntry
	if e.temp != nil {
		return errInBatch
	}
	free := *h
	free.batchEntry = nil
	t, err := free.begin(name, func(t *Temp) error { return t.openUnnamed(&e.batch.dirs, attr.Mode) })
	if err != nil {
		return err
	}
	err = t.fill(content)
	if err == nil {
		err = t.setAttr(attr)
	}
	if err != nil {
		return errors.Join(err, t.Discard())
	}
	e.temp, e.isNew = t, isNew
	return nil
}

// manyFiles is from how many files on one syncfs(2) takes less time than an
// fsync(2) of each.
const manyFiles = 8

// Commit makes durable what was written, and gives all files their places. Announce has to
// come before. Errs has the error of writing each file, in the order of the calls of File,
// and gets those of Commit. A file with an error does not get its place. Placed is called with
// the number of each that has its place, before the next one gets its own.
//
// Where it fails, the old file is untouched and no temporary file is left, except if
// what fails is to make the new name of a file durable.
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

// each calls do for every file that has no error yet, and keeps the error of it.
func (b *Batch) each(errs []error, do func(i int, e *batchEntry) error) {
	for i, e := range b.entries {
		if e.temp != nil && errs[i] == nil {
			errs[i] = do(i, e)
		}
	}
}

// Announce passes what stands at the path of each file to [Options.BeforeChange]. The backups
// are durable after the call for the last file that has no error; see [PreImage.More]. Errs
// is as for Commit.
func (b *Batch) Announce(errs []error) {
	b.dirs.Revalidate(b.host.files)
	last := -1
	b.each(errs, func(i int, _ *batchEntry) error { last = i; return nil })
	announced := -1 // the last file with which that succeeded
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

// sync makes what was written durable.
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
		if err != nil { // of some file of anybody; each knows of itself
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

// announce passes what stands at the path to [Options.BeforeChange]. If nothing stood there when
// the file was written, it does not look again: what was made there since is a conflict, which
// place reports.
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

// place gives a file that is durable its place. The directory is yet to be
// synced.
func (e *batchEntry) place() error {
	t := e.temp
	if err := t.findDir(); err != nil {
		return err
	}
	if e.before.Kind == Missing && t.temp == "" {
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
