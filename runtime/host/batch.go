package host

import (
	"errors"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Batch writes several files that have nothing to do with each other, and makes
// all of them durable at once: that costs little more than it does for one. Each
// is replaced in one step, as WriteFile does it, in the order in which they were
// written.
type Batch struct {
	host  *Host
	temps []*Temp
}

// Batch begins a batch. Commit must follow.
func (h *Host) Batch() *Batch {
	c := *h
	b := &Batch{}
	c.batch = b
	b.host = &c
	return b
}

// Host returns the host whose WriteFile adds to the batch: the file has its place
// only after Commit. All other effects are made at once.
func (b *Batch) Host() *Host { return b.host }

// Len returns how many files there are in the batch.
func (b *Batch) Len() int { return len(b.temps) }

// Full reports whether the batch takes no more files. Each is open until it has
// its place, and others want to open files too.
func (b *Batch) Full() bool { return len(b.temps) >= mostFiles() }

// mostFiles returns how many files there are in a batch at most.
var mostFiles = sync.OnceValue(func() int {
	const most = 256
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return most
	}
	return int(max(1, min(most, limit.Cur/4)))
})

// MayDoAlone reports whether a file that could not be written in a batch may be
// written by itself: because something is used up that the batch gives back, the
// room on a disk or how many files may be open, or because the file system cannot
// do what a batch does.
func MayDoAlone(err error) bool {
	if _, ok := errors.AsType[*linkError](err); ok {
		return true
	}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// manyFiles is from how many files on one syncfs(2) takes less time than an
// fsync(2) of each.
const manyFiles = 8

// Commit gives all files their places, durably. It returns an error for each, in
// the order in which they were written. Where it fails, the old file is untouched
// and no temporary file is left, except if what fails is to make the new name of
// a file durable. Placed is called with the number of each file that has its
// place, before the next one gets its own.
func (b *Batch) Commit(placed func(n int)) []error {
	errs := make([]error, len(b.temps))
	b.sync(errs)
	b.tell(errs)
	dirs := make(map[string]error)
	for i, t := range b.temps {
		if errs[i] == nil {
			errs[i] = t.place()
		}
		if errs[i] == nil {
			placed(i)
		} else {
			errs[i] = errors.Join(errs[i], t.Discard())
		}
	}
	for i, t := range b.temps {
		if errs[i] != nil {
			continue
		}
		dir := filepath.Dir(t.path)
		err, done := dirs[dir]
		if !done {
			err = t.h.syncDir(t.name)
			dirs[dir] = err
		}
		errs[i] = err
	}
	b.temps = nil
	return errs
}

// sync makes what was written durable.
func (b *Batch) sync(errs []error) {
	synced := make(map[uint64]error)
	for i, t := range b.temps {
		if len(b.temps) < manyFiles {
			errs[i] = t.h.do("sync", t.name, t.f.Sync)
			continue
		}
		var st unix.Stat_t
		if errs[i] = unix.Fstat(int(t.f.Fd()), &st); errs[i] != nil {
			continue
		}
		err, done := synced[uint64(st.Dev)]
		if !done {
			// It reports what could not be written since Linux 5.8.
			err = t.h.do("sync", t.name, func() error { return unix.Syncfs(int(t.f.Fd())) })
			synced[uint64(st.Dev)] = err
		}
		if err != nil { // of some file of anybody; each knows of itself
			errs[i] = t.h.do("sync", t.name, t.f.Sync)
		}
	}
}

// tell says what is about to be replaced. It is durable by the last of them.
func (b *Batch) tell(errs []error) {
	last := -1
	for i := range b.temps {
		if errs[i] == nil {
			last = i
		}
	}
	told := -1 // the last of those that could be told, and whether it was the last of all
	for i, t := range b.temps {
		if errs[i] != nil {
			continue
		}
		if errs[i] = t.h.doomedWith(t.name, true, i < last); errs[i] == nil {
			told = i
		}
	}
	if told < 0 || told == last {
		return
	}
	t := b.temps[told]
	if err := t.h.doomedWith(t.name, true, false); err != nil {
		for i := range b.temps {
			errs[i] = errors.Join(errs[i], err)
		}
	}
}
