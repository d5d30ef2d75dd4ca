package command

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
)

// RunVariable has the ID of the run in the environment of its commands. With it and their process
// groups, a later run finds commands of a dead one.
const RunVariable = "CCM_RUN_ID"

// IDVariable has the [Record.ID] in the environment of a command and its children.
const IDVariable = "CCM_COMMAND_ID"

// Commands are the running commands of a process. A nil Commands keeps account of none. It is
// safe for use by several goroutines.
type Commands struct {
	mu     sync.Mutex
	groups map[int]bool
	run    string
	record func(command string, apart bool) Record
}

// A Record is kept of a command from before its start until its end.
type Record interface {
	// ID identifies the command uniquely. If it is empty, no record is kept.
	ID() string
	// Started is called with the process ID, which is also that of the process group, and the
	// start time in ticks since boot (/proc/PID/stat).
	Started(pid int, start uint64)
	// Ended is called when the command has ended or could not be started.
	Ended()
}

// SetRun assigns the following commands to a run. Record is called before the start of each; apart
// means that the command gets a session of its own. Record may be nil.
func (c *Commands) SetRun(run string, record func(command string, apart bool) Record) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.record = run, record
}

// A runningCommand is one of the commands, from before its start.
type runningCommand struct {
	owner  *Commands
	pid    int    // 0 until it is started
	record Record // may be nil
}

// add adds a command that is about to be started, and returns additional environment for
// it. Ended must follow.
func (c *Commands) add(command string, apart bool) (r *runningCommand, environ []string) {
	r = &runningCommand{owner: c}
	if c == nil {
		return r, nil
	}
	c.mu.Lock()
	run, record := c.run, c.record
	c.mu.Unlock()
	if run != "" {
		environ = []string{RunVariable + "=" + run}
	}
	if record != nil {
		r.record = record(command, apart)
		environ = append(environ, IDVariable+"="+r.record.ID())
	}
	return r, environ
}

// setProcess registers the process ID of the command.
func (r *runningCommand) setProcess(pid int) {
	if r.owner == nil {
		return
	}
	r.pid = pid
	r.owner.mu.Lock()
	if r.owner.groups == nil {
		r.owner.groups = make(map[int]bool)
	}
	r.owner.groups[pid] = true
	r.owner.mu.Unlock()
	if r.record != nil {
		start, _ := StartOf(pid)
		r.record.Started(pid, start)
	}
}

// remove removes a command that has ended or could not be started.
func (r *runningCommand) remove() {
	if r.owner == nil {
		return
	}
	r.owner.mu.Lock()
	delete(r.owner.groups, r.pid)
	r.owner.mu.Unlock()
	if r.record != nil {
		r.record.Ended()
	}
}

// Kill kills all commands at once, with everything that they started.
func (c *Commands) Kill() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for pid := range c.groups {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// StartOf returns the start time of a process, in ticks since boot.
func StartOf(pid int) (uint64, error) {
	p, err := processAt(pid)
	return p.start, err
}

// A process is the content of /proc/PID/stat.
type process struct {
	pid, parent, group, session int
	state                       byte
	start                       uint64
}

func processAt(pid int) (p process, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	p.pid = pid
	// The name of the command, in brackets, may have any bytes.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return p, diag.Cannot("parse", fmt.Sprintf("/proc/%d/stat", pid), nil)
	}
	p.state = fields[0][0]
	if _, err = fmt.Sscan(string(bytes.Join(fields[1:4], []byte(" "))), &p.parent, &p.group, &p.session); err == nil {
		_, err = fmt.Sscan(string(fields[19]), &p.start)
	}
	return p, err
}

// IsAncestor reports whether a process is an ancestor of this one.
func IsAncestor(pid int) bool {
	for at := os.Getppid(); at > 1; {
		if at == pid {
			return true
		}
		p, err := processAt(at)
		if err != nil {
			return false
		}
		at = p.parent
	}
	return false
}

// ended reports whether a process is dead and waits only to be reaped.
func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }
