package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

const unfinishedFile = "unfinished.ndjson"

// An OpenWork is something that a dying run leaves behind: a running command, or the directory of
// an extraction.
type OpenWork struct {
	Number int    `json:"number"`
	Run    string `json:"run"`
	// Boot identifies the boot of the machine, for commands: a reboot ends them. PID and Start are
	// 0 until the command is started.
	Boot    string `json:"boot,omitempty"`
	ID      string `json:"id,omitempty"`
	Session int    `json:"session,omitempty"`
	Apart   bool   `json:"apart,omitempty"` // in a session of its own
	PID     int    `json:"pid,omitempty"`
	Start   uint64 `json:"start,omitempty"`
	Command string `json:"command,omitempty"`
	// Path is the directory's path for the operating system. Dev and Ino are 0 until it is made.
	Path Name   `json:"path,omitempty"`
	Dev  uint64 `json:"dev,omitempty"`
	Ino  uint64 `json:"ino,omitempty"`
}

// openWorkLine is a line of the file: an OpenWork that begins, or the number of one that has
// ended. When all have ended, the file is overwritten from its beginning, which costs less than
// to truncate it, and Round is increased. Lines with another Round than the first line are void.
type openWorkLine struct {
	Round int64     `json:"round"`
	Start *OpenWork `json:"begun,omitempty"`
	Done  int       `json:"done,omitempty"`
}

// A Work records the open work of a run. The lock of the directory must be held. A command that
// cannot be recorded is started all the same: runs rarely die. Work is safe for use by several
// goroutines.
type Work struct {
	s       *Store
	run     string
	boot    string
	session int

	mu       sync.Mutex
	f        *os.File // nil until something is recorded
	last     int
	commands int // number of commands begun
	held     int // number of files written in place
	open     map[int]bool
	round    int64
	size     int64 // of the lines of this round, in bytes
}

// Work returns the Work of a run.
func (s *Store) Work(run string) *Work {
	session, _ := unix.Getsid(0)
	return &Work{s: s, run: run, boot: bootID(), session: session, open: make(map[int]bool)}
}

// bootID identifies the boot of the machine.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// RecordCommand records a command that is about to be started; apart means that it gets a session of its
// own. The record is not made durable: no command survives a loss of power.
func (w *Work) RecordCommand(text string, apart bool) command.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commands++
	x := &OpenWork{ID: fmt.Sprint(w.run, ".", w.commands), Boot: w.boot, Session: w.session, Apart: apart, Command: w.s.secrets.Redact(text)}
	if err := w.record(x); err != nil {
		return unrecordedCommand{}
	}
	return &commandRecord{w, x}
}

// A commandRecord is a command on record.
type commandRecord struct {
	w *Work
	x *OpenWork
}

// ID implements command.Record.
func (r *commandRecord) ID() string { return r.x.ID }

// Started implements command.Record.
func (r *commandRecord) Started(pid int, start uint64) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.x.PID, r.x.Start = pid, start
	_ = r.w.write(openWorkLine{Start: r.x})
}

// Ended implements command.Record.
func (r *commandRecord) Ended() { r.w.end(r.x.Number) }

// An unrecordedCommand is a command that could not be recorded.
type unrecordedCommand struct{}

// ID implements command.Record.
func (unrecordedCommand) ID() string { return "" }

// Started implements command.Record.
func (unrecordedCommand) Started(int, uint64) {}

// Ended implements command.Record.
func (unrecordedCommand) Ended() {}

// RecordDirectory records a directory that is about to be made, durably.
func (w *Work) RecordDirectory(path string) (host.Temporary, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := &OpenWork{Path: Name(path)}
	err := w.record(x)
	if err == nil {
		err = w.s.dir.Do("sync", w.s.dir.Path(unfinishedFile), w.f.Sync)
	}
	if err != nil {
		return nil, diag.Cannot("record", "unpacked files", err)
	}
	return &unpackRecord{w, x}, nil
}

// An unpackRecord records the directory into which an archive is unpacked.
type unpackRecord struct {
	w *Work
	x *OpenWork
}

// Made implements host.Temporary.
func (d *unpackRecord) Made(dev, ino uint64) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	d.x.Dev, d.x.Ino = dev, ino
	_ = d.w.write(openWorkLine{Start: d.x})
}

// Gone implements host.Temporary.
func (d *unpackRecord) Gone() { d.w.end(d.x.Number) }

// record records x under a new number.
func (w *Work) record(x *OpenWork) error {
	if w.f == nil {
		f, err := w.s.dir.Open(unfinishedFile, os.O_WRONLY|os.O_CREATE)
		if err != nil {
			return err
		}
		w.f, w.round = f, w.s.clock.Now().UnixNano()
		for _, old := range w.s.orphans {
			if err := w.add(&old); err != nil {
				return err
			}
		}
	}
	x.Run = w.run
	return w.add(x)
}

func (w *Work) add(x *OpenWork) error {
	w.last++
	x.Number = w.last
	if err := w.write(openWorkLine{Start: x}); err != nil {
		return err
	}
	w.open[x.Number] = true
	return nil
}

func (w *Work) write(l openWorkLine) error {
	l.Round = w.round
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	n, err := w.f.WriteAt(append(line, '\n'), w.size)
	if err == nil {
		w.size += int64(n)
	}
	return err
}

// end records the end of an OpenWork.
func (w *Work) end(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, number)
	_ = w.write(openWorkLine{Done: number})
	if len(w.open) == 0 {
		w.round, w.size = w.round+1, 0
	}
}

// Close ends the record.
func (w *Work) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return nil
	}
	return w.f.Close()
}

// OpenWork returns the open work of dead runs.
func (s *Store) OpenWork() (list []OpenWork, err error) {
	number := make(map[int]int) // the place in the list
	var round int64
	over := false
	_, err = s.readLines(unfinishedFile, func(line []byte) error {
		var l openWorkLine
		if err := json.Unmarshal(line, &l); over || err != nil || round != 0 && l.Round != round {
			over = true
			return err
		}
		round = l.Round
		switch at, known := number[l.number()]; {
		case l.Start == nil && known:
			list[at] = OpenWork{}
		case l.Start != nil && known:
			list[at] = *l.Start
		case l.Start != nil:
			number[l.Start.Number] = len(list)
			list = append(list, *l.Start)
		}
		return nil
	})
	left := list[:0]
	for _, x := range list {
		if x.Number != 0 {
			left = append(left, x)
		}
	}
	return left, err
}

func (l openWorkLine) number() int {
	if l.Start != nil {
		return l.Start.Number
	}
	return l.Done
}

// CleanUp ends the commands, removes the directories and completes the files that dead runs of any site left behind,
// and warns of each. The lock of the directory must be held, so that none of these runs is alive.
// The next run tries again what could not be ended or removed.
func (s *Store) CleanUp() {
	completeWrites(s.dir, s.image)
	list, err := s.OpenWork()
	if err != nil || len(list) == 0 {
		if err != nil {
			s.dir.Warn(fmt.Sprintf("%s: cannot read leftovers of runs: %v", s.dir.Path(unfinishedFile), err))
		}
		return
	}
	s.orphans = nil
	var left []byte
	for _, x := range list {
		if err := s.finishOff(x); err != nil {
			s.dir.Warn(fmt.Sprintf("run %s left behind %s: %v", x.Run, x, err))
			s.orphans = append(s.orphans, x)
			if line, err := json.Marshal(openWorkLine{Round: 1, Start: &x}); err == nil {
				left = append(append(left, line...), '\n')
			}
		}
	}
	if err := s.dir.Replace(unfinishedFile, false, statedir.Writing(left)); err != nil {
		s.dir.Warn(fmt.Sprintf("%s: %v", s.dir.Path(unfinishedFile), err))
	}
}

// String describes the work.
func (x OpenWork) String() string {
	if x.Path != "" {
		return string(x.Path)
	}
	if x.PID == 0 {
		return "the command " + x.Command
	}
	return fmt.Sprintf("the command %s (pid %d)", x.Command, x.PID)
}

func (s *Store) finishOff(x OpenWork) (err error) {
	var found bool
	what := "ended"
	switch {
	case s.image != "" && !strings.HasPrefix(string(x.Path), s.image+"/"):
		// In an image, commands end with the ccm that began them.
	case x.Path != "":
		what = "removed"
		err = s.dir.Do("remove", string(x.Path), func() (err error) { found, err = unpack.RemoveLeftover(string(x.Path), x.Dev, x.Ino); return err })
	case x.PID < 0 || x.PID == 0 && x.ID == "":
		err = errors.New("unknown kind")
	case x.Boot == bootID() && x.Boot != "":
		found, err = command.Orphan{Run: x.Run, PID: x.PID, Start: x.Start, ID: x.ID, Session: x.Session, Apart: x.Apart}.End()
	}
	if err == nil && found {
		s.dir.Warn(fmt.Sprintf("%s %s, which run %s left behind when it was killed", what, x, x.Run))
	}
	return err
}
