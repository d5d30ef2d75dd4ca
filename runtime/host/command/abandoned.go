package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// errOurs says that the process that asks was started by the command.
var errOurs = errors.New("it has started this process")

// EndAbandoned ends a command that a run has left behind when it died, with all that
// is in its process group, and reports whether there was anything to end. It is told
// to end first, and killed if it does not in a moment.
//
// Nothing is done to a process that has the number of the command and was started at
// another time. Where the command itself has ended, what is left of its group is
// known by the run that its environment names. What has left the group, such as a
// daemon in a session of its own, is not ours.
func EndAbandoned(s Started, run string) (ended bool, err error) {
	if s.PID <= 1 || s.Start == 0 || syscall.Getpgrp() == s.PID {
		return false, nil
	}
	if isAncestor(s.PID) {
		return false, errOurs
	}
	left := abandoned(s, run)
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
			if left = abandoned(s, run); len(left) == 0 {
				return true, nil
			}
		}
	}
	if err == nil {
		err = errors.New("it does not end")
	}
	return false, err
}

// abandoned returns the processes of the group of a command that are its.
func abandoned(s Started, run string) (pids []int) {
	leader, err := processAt(s.PID)
	if err == nil && leader.start != s.Start {
		return nil // another process has the number, and with it the group
	}
	known := err == nil && leader.group == s.PID
	for _, p := range processes() {
		if p.group == s.PID && p.start >= s.Start && !p.ended() && (known || isOfRun(p.pid, run)) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// isOfRun reports whether the environment of a process names a run.
func isOfRun(pid int, run string) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || run == "" {
		return false
	}
	want := []byte(RunVariable + "=" + run)
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

// isAncestor reports whether a process has started this one, or one that did.
func isAncestor(pid int) bool {
	for at := os.Getppid(); at > 1; {
		if at == pid {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", at))
		if err != nil {
			return false
		}
		var state string
		if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &at); err != nil {
			return false
		}
	}
	return false
}
