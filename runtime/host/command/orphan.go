package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// errOurs says that the command is an ancestor of this process.
var errOurs = errors.New("it is an ancestor of this process")

// An Orphan is a command of a dead run.
type Orphan struct {
	Run string
	// PID and Start are the values of [Record.Started]; 0 if the run died before the start.
	PID   int
	Start uint64
	// ID is the ID of the command's record. Session is the session of the run: 0 in a container
	// into which the session was brought from outside (credentials(7), PID namespaces).
	ID      string
	Session int
	// Apart is set if the command has a session of its own, as commands of another user have.
	Apart bool
}

// End ends the command and its process group, and reports whether anything was running. It
// terminates the processes first, and kills those that do not end in a moment.
//
// A process with the same number but another start time is left alone. If the command itself has
// ended, the rest of its group is recognized by the run in the environment. If the number is
// unknown, the command is recognized by its ID in the environment. Processes that left the group,
// such as a daemon with a session of its own, are not ended.
func (s Orphan) End() (ended bool, err error) {
	if s.PID != 0 || s.ID == "" {
		return s.end()
	}
	for _, group := range s.groups() {
		s.PID, s.Start = group.pid, group.start
		e, err2 := s.end()
		ended, err = ended || e, errors.Join(err, err2)
	}
	return ended, err
}

// groups returns the process groups with the ID in their environment, each as its leader or, if
// that has ended, another process. They are in the session of the run or, with Apart, in their
// own.
func (s Orphan) groups() (list []process) {
	for _, p := range processes() {
		ours := p.session == s.Session
		if s.Apart {
			ours = p.session == p.group
		}
		if !ours || p.ended() || !hasVariable(p.pid, IDVariable, s.ID) {
			continue
		}
		if leader, err := processAt(p.group); err == nil {
			p.start = leader.start
		}
		p.pid = p.group
		if !slices.ContainsFunc(list, func(o process) bool { return o.pid == p.pid }) {
			list = append(list, p)
		}
	}
	return list
}

// end ends the process group of the command.
func (s Orphan) end() (ended bool, err error) {
	if s.PID <= 1 || s.Start == 0 || syscall.Getpgrp() == s.PID {
		return false, nil
	}
	if IsAncestor(s.PID) {
		return false, errOurs
	}
	left := s.processes()
	if len(left) == 0 {
		return false, nil
	}
	for _, step := range []struct {
		signal  syscall.Signal
		patient time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, grace}} {
		for _, pid := range left {
			if e := syscall.Kill(pid, step.signal); e != nil && e != syscall.ESRCH {
				err = e
			}
		}
		for until := time.Now().Add(step.patient); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if left = s.processes(); len(left) == 0 {
				return true, nil
			}
		}
	}
	if err == nil {
		err = errors.New("it does not end")
	}
	return false, err
}

// processes returns the processes of the command's group that belong to the command.
func (s Orphan) processes() (pids []int) {
	leader, err := processAt(s.PID)
	if err == nil && leader.start != s.Start {
		return nil // another process has the number, and so the group is another one
	}
	known := err == nil && leader.group == s.PID
	for _, p := range processes() {
		if p.group == s.PID && p.start >= s.Start && !p.ended() && (known || hasVariable(p.pid, RunVariable, s.Run)) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// hasVariable reports whether a process has a variable with that value in its environment.
func hasVariable(pid int, name, value string) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || value == "" {
		return false
	}
	want := []byte(name + "=" + value)
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(v, want) {
			return true
		}
	}
	return false
}

// processes lists all processes of the machine.
func processes() (list []process) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, err := processAt(pid); err == nil {
				list = append(list, p)
			}
		}
	}
	return list
}
