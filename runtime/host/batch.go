package host

import (
	"errors"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Batch writes several files that have nothing to do with each other, and makes
// all of them durable at once: that costs little more than it does for one. Each
// is replaced in one step, as WriteFile does it, in the order in which they were
// asked for.
//
// When all are written, Tell, Place and End follow; Commit is all three. Place may be
// called from another goroutine, while a later batch is being written.
type Batch struct {
	host  *Host
	slots []*slot
}

// A slot is what waits for its place in a batch.
type slot struct {
	temp *Temp // nil if nothing was written
	// room is closed once there is room for the open file; nil if there is. Who
	// waits for it does not keep others from opening files, as the kernel would.
	room <-chan struct{}
	// before is what stood at the path when the file was written. Zero is nothing.
	before Info
}

// Batch begins a batch, which must be ended.
func (h *Host) Batch() *Batch { return &Batch{host: h} }

// File returns the host for one more file of the batch: WriteFile (or WriteNewFile)
// makes the file, which gets its place only with Place. That is the only effect there is: any
// other fails, and [MayDoAlone] says so of its error.
//
// If the batch is Concurrent, the hosts of different files may be used at the same
// time. All of that must be over before Tell.
func (b *Batch) File() *Host {
	s := &slot{}
	if b.slots = append(b.slots, s); waiting.Add(1) > fewOpen {
		s.room = expectedFiles()
	}
	c := *b.host
	c.slot = s
	return &c
}

// waiting is how many files are open, in all batches.
var waiting atomic.Int64

// Concurrent reports whether files can be written at the same time. Whoever is
// asked about each effect is asked in an order that is always the same.
func (b *Batch) Concurrent() bool { return b.host.effect == nil }

// Full reports whether no more files should be written before some have their place:
// each is open until then, and others want to open files too. As long as there is room
// for few (ExpectFiles), few are enough: to wait for more takes longer.
func Full() bool {
	n := waiting.Load()
	return n >= fewOpen && (n >= int64(mostFiles()) || !isRoomy())
}

// mostFiles returns how many files wait for their places at most.
var mostFiles = sync.OnceValue(func() int {
	const most = 1024
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 256
	}
	return int(max(1, min(most, limit.Cur/4)))
})

// MayDoAlone reports whether a file that could not be written in a batch may be
// written by itself: because something is used up that the batch gives back, the
// room on a disk or how many files may be open, because the file system cannot do
// what a batch does, or because there is more to do than to write a file.
func MayDoAlone(err error) bool {
	if _, ok := errors.AsType[*linkError](err); ok || errors.Is(err, errInBatch) {
		return true
	}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

var errInBatch = errors.New("only files are written in a batch, one each")

// refusedInBatch returns why there is no other effect than WriteFile.
func (h *Host) refusedInBatch() error {
	if h.slot == nil {
		return nil
	}
	return errInBatch
}

// wait writes the file that waits for its place in a batch. IsNew says that nothing
// stands there.
func (h *Host) wait(name string, content io.Reader, attr Attr, isNew bool) error {
	s := h.slot
	if s.temp != nil {
		return errInBatch
	}
	if s.room != nil {
		<-s.room
	}
	free := *h
	free.slot = nil
	t, err := free.begin(name, func(t *Temp) error { return t.openNameless(attr.Mode) })
	if err != nil {
		return err
	}
	err = t.fill(content)
	if err == nil {
		err = t.settle(attr)
	}
	if err == nil && !isNew {
		s.before, err = free.Lstat(name)
	}
	if err != nil {
		return errors.Join(err, t.Discard())
	}
	s.temp = t
	return nil
}

// manyFiles is from how many files on one syncfs(2) takes less time than an
// fsync(2) of each.
const manyFiles = 8

// Commit gives all files their places, durably: see Tell, Place and End.
func (b *Batch) Commit(errs []error, placed func(n int)) []error {
	if errs == nil {
		errs = make([]error, len(b.slots))
	}
	b.Tell(errs)
	b.Place(errs, placed)
	b.End(errs)
	return errs
}

// Place makes durable what was written and gives all files their places. Errs has an
// error for each, in the order in which they were asked for; where there is one
// already, the file does not get its place. Placed is called with the number of each
// that has its place, before the next one gets its own.
//
// Where it fails, the old file is untouched and no temporary file is left, except if
// what fails is to make the new name of a file durable.
func (b *Batch) Place(errs []error, placed func(n int)) {
	noteCrowd()
	b.sync(errs)
	for i, s := range b.slots {
		waiting.Add(-1)
		if s.temp == nil {
			continue
		}
		if errs[i] == nil {
			errs[i] = s.place()
		}
		switch {
		case errs[i] == nil:
			placed(i)
		case errs[i] != errTaken:
			errs[i] = errors.Join(errs[i], s.temp.Discard())
		}
	}
	b.syncDirs(errs)
}

// errTaken says that somebody has made something meanwhile where nothing stood.
var errTaken = errors.New("something stands there now")

// End gives those files their places where somebody has made something else
// meanwhile: of that it has to be told.
func (b *Batch) End(errs []error) {
	for i, s := range b.slots {
		if errs[i] != errTaken {
			continue
		}
		errs[i] = s.replace()
		if errs[i] == nil {
			errs[i] = s.temp.h.syncDir(s.temp.name)
		} else {
			errs[i] = errors.Join(errs[i], s.temp.Discard())
		}
	}
	b.slots = nil
}

// each calls do for every file that has no error yet, and keeps the error of it.
func (b *Batch) each(errs []error, do func(i int, s *slot) error) {
	for i, s := range b.slots {
		if s.temp != nil && errs[i] == nil {
			errs[i] = do(i, s)
		}
	}
}

// sync makes what was written durable.
func (b *Batch) sync(errs []error) {
	synced := make(map[uint64]error)
	b.each(errs, func(_ int, s *slot) error {
		t := s.temp
		if len(b.slots) < manyFiles {
			return t.sync()
		}
		err, done := synced[t.info.Dev]
		if !done {
			// It reports what could not be written since Linux 5.8.
			err = t.call("sync", func() error { return unix.Syncfs(t.fd) })
			synced[t.info.Dev] = err
		}
		if err != nil { // of some file of anybody; each knows of itself
			return t.sync()
		}
		return nil
	})
}

// Tell says what is about to be replaced ([Options]). That is durable by the last of
// them. Errs is as for Place.
func (b *Batch) Tell(errs []error) {
	last := -1
	b.each(errs, func(i int, _ *slot) error { last = i; return nil })
	told := -1 // the last of those that could be told, and whether it was the last of all
	b.each(errs, func(i int, s *slot) error {
		err := s.tell(i < last)
		if err == nil {
			told = i
		}
		return err
	})
	if told < 0 || told == last {
		return
	}
	if err := b.slots[told].tell(false); err != nil {
		for i := range b.slots {
			errs[i] = errors.Join(errs[i], err)
		}
	}
}

// syncDirs makes the new names durable.
func (b *Batch) syncDirs(errs []error) {
	dirs := make(map[string]error)
	b.each(errs, func(_ int, s *slot) error {
		dir := filepath.Dir(s.temp.path)
		err, done := dirs[dir]
		if !done {
			err = s.temp.h.syncDir(s.temp.name)
			dirs[dir] = err
		}
		return err
	})
}

// tell says what is about to be replaced. Where nothing was, nothing is: otherwise
// the file does not get its place without it being told again.
func (s *slot) tell(more bool) error {
	t := s.temp
	if s.before.Kind == Missing && t.nameless {
		return t.h.tell(Doomed{Path: t.name, Info: s.before, Content: true, Next: &t.info, More: more})
	}
	return t.h.doomedWith(t.name, true, &t.info, more)
}

// place gives a file that is durable its place. The directory is yet to be
// synced.
func (s *slot) place() error {
	t := s.temp
	if s.before.Kind == Missing && t.nameless {
		err := t.placeNew()
		if errors.Is(err, syscall.EEXIST) {
			return errTaken
		}
		return err
	}
	if err := t.giveName(); err != nil {
		return err
	}
	return t.rename()
}

// replace puts a file in the place of what was not told of before.
func (s *slot) replace() error {
	t := s.temp
	info, err := t.h.Lstat(t.name)
	if err != nil {
		return err
	}
	if err := t.h.tell(Doomed{Path: t.name, Info: info, Content: true, Next: &t.info, Anew: true}); err != nil {
		return err
	}
	if err := t.giveName(); err != nil {
		return err
	}
	return t.rename()
}
