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

// errOurs says that the process that asks was started by the command.
var errOurs = errors.New("it has started this process")

// An Orphan is a command whose run has died.
type Orphan struct {
	Run string
	// PID and Start are what [Record.Started] was told; 0 if the run died before that.
	PID   int
	Start uint64
	// ID is that of its record, and Session the session of the run: 0 in a container into
	// which the session was brought from outside (credentials(7), PID namespaces).
	ID      string
	Session int
	// Apart says that the command began a session of its own, as one that runs as another
	// user does.
	Apart bool
}

// End ends the command with all that is in its process group, and reports whether there
// was anything to end. It is told to end first, and killed if it does not in a moment.
//
// Nothing is done to a process that has the number of the command and was started at
// another time. Where the command itself has ended, what is left of its group is
// known by the run that its environment names. Where the number is not known, the command
// is known by the ID in its environment. What has left the group, such as a daemon in a
// session of its own, is not ours.
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

// groups returns the process groups, of the run's session or of one apart, in which a
// process has the ID in its environment: the leader or, if that has ended, one of them.
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

// processes returns those of the process group of the command that are its.
func (s Orphan) processes() (pids []int) {
	leader, err := processAt(s.PID)
	if err == nil && leader.start != s.Start {
		return nil // another process has the number, and with it the group
	}
	known := err == nil && leader.group == s.PID
	for _, p := range processes() {
		if p.group == s.PID && p.start >= s.Start && !p.ended() && (known || hasVariable(p.pid, RunVariable, s.Run)) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// hasVariable reports whether a process has a value in its environment.
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

// processes lists all that run on the machine.
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
