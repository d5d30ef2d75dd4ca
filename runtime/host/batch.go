package host

import (
	"errors"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Batch writes several files that have nothing to do with each other, and makes
// all of them durable at once: that costs little more than it does for one. Each
// is replaced in one step, as WriteFile does it, in the order in which they were
// asked for.
//
// When all are written, Tell and Place follow. Place may be called from another
// goroutine, while a later batch is being written.
type Batch struct {
	host   *Host
	slots  []*slot
	dirs   *Dirs
	isSlow bool
}

// A slot is what waits for its place in a batch.
type slot struct {
	dirs *Dirs
	temp *Temp // nil if nothing was written
	// isNew says that nothing stood at the path when the file was written, told is what
	// was told of it.
	isNew bool
	told  Info
}

// Batch begins a batch. Place must follow. Dirs is of this batch, or of several that
// come one after the other; who closes them does so when all have their places.
func (h *Host) Batch(dirs *Dirs) *Batch { return &Batch{host: h, dirs: dirs} }

// File returns the host for one more file of the batch: WriteFile (or WriteNewFile)
// makes the file, which gets its place only with Place. That is the only effect there
// is: any other fails, and [MayDoAlone] says so of its error.
//
// If the batch is Concurrent, the hosts of different files may be used at the same
// time. All of that must be over before Tell.
func (b *Batch) File() *Host {
	s := &slot{dirs: b.dirs}
	b.slots = append(b.slots, s)
	waiting.Add(1)
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
	n, most := waiting.Load(), int64(mostFiles())
	return n >= min(fewOpen, most) && (n >= most || !isRoomy())
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
// what a batch does, because there is more to do than to write a file, or because
// something else stands there by now.
func MayDoAlone(err error) bool {
	if _, ok := errors.AsType[*linkError](err); ok || errors.Is(err, errInBatch) || IsTaken(err) {
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
	free := *h
	free.slot = nil
	t, err := free.begin(name, func(t *Temp) error {
		return t.openNameless(s.dirs, attr.Mode)
	})
	if err != nil {
		return err
	}
	err = t.fill(content)
	if err == nil {
		err = t.settle(attr)
	}
	if err != nil {
		return errors.Join(err, t.Discard())
	}
	s.temp, s.isNew = t, isNew
	return nil
}

// manyFiles is from how many files on one syncfs(2) takes less time than an
// fsync(2) of each.
const manyFiles = 8

// Place makes durable what was written and gives all files their places. Errs has an
// error for each, in the order in which they were asked for; where there is one
// already, the file does not get its place. Placed is called with the number of each
// that has its place, before the next one gets its own.
//
// Where it fails, the old file is untouched and no temporary file is left, except if
// what fails is to make the new name of a file durable.
func (b *Batch) Place(errs []error, placed func(n int)) {
	began := b.host.Now()
	b.sync(errs)
	if b.isSlow = b.host.Now().Sub(began) > quickSync; b.isSlow {
		noteCrowd()
	}
	b.dirs.look(b.host.files)
	for i, s := range b.slots {
		waiting.Add(-1)
		if s.temp == nil {
			continue
		}
		if errs[i] == nil {
			errs[i] = s.place()
		}
		if errs[i] == nil {
			placed(i)
		} else if err := s.temp.Discard(); err != nil {
			errs[i] = errors.Join(errs[i], err)
		}
	}
	b.syncDirs(errs)
	b.slots = nil
}

// quickSync is how long it takes at most to make files durable where that is next to
// nothing, as in memory.
const quickSync = 100 * time.Microsecond

// IsSlow reports, once the files have their places, whether it took time to make them
// durable, so that it is better to do that for many at once.
func (b *Batch) IsSlow() bool { return b.isSlow }

// errTaken says that somebody has made or changed what stands where a file belongs, so
// that it has to be looked at again.
var errTaken = errors.New("something else stands there now")

// IsTaken reports whether an error of a batch says that something else stands by now
// where a file belongs than what was told of it: see [Host.Anew].
func IsTaken(err error) bool { return errors.Is(err, errTaken) }

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
	b.dirs.look(b.host.files)
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
		dir := filepath.Dir(s.temp.name)
		err, done := dirs[dir]
		if !done {
			var p location
			if p, err = s.temp.h.at(s.temp.name); err == nil {
				err = s.temp.h.syncDir(s.temp.name, p.dir)
				p.close()
			}
			dirs[dir] = err
		}
		return err
	})
}

// tell says what is about to be replaced. Where nothing was, it is not looked again
// whether something is: then the file does not get its place.
func (s *slot) tell(more bool) (err error) {
	t := s.temp
	dir := t.from
	if !s.isNew || t.temp != "" {
		if err := t.find(); err != nil {
			return err
		}
		dir = t.place.dir
		s.told, err = t.place.stat()
		t.forget()
		if err != nil {
			return pathError("lstat", t.name, err)
		}
	}
	return t.h.tell(Doomed{Path: t.name, Dir: dir.path, Info: s.told, Content: true, Next: &t.info, More: more})
}

// place gives a file that is durable its place. The directory is yet to be
// synced.
func (s *slot) place() error {
	t := s.temp
	if err := t.find(); err != nil {
		return err
	}
	if s.told.Kind == Missing && t.temp == "" {
		err := t.placeNew()
		if errors.Is(err, syscall.EEXIST) {
			return errTaken
		}
		return err
	}
	switch now, err := t.place.stat(); {
	case err != nil:
		return pathError("lstat", t.name, err)
	case now != s.told:
		return errTaken
	}
	if err := t.giveName(); err != nil {
		return err
	}
	return t.rename()
}
