package command

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// RunVariable tells commands of which run they are. By it, and by their process
// group, they are known if ccm dies before them.
const RunVariable = "CCM_RUN_ID"

// IDVariable tells a command, and what it starts, its [Record.ID].
const IDVariable = "CCM_COMMAND_ID"

// Commands are those that a process has started and that have not ended. A nil one
// knows of none. It is safe for use by several goroutines.
type Commands struct {
	mu     sync.Mutex
	groups map[int]bool
	run    string
	record func(command string, apart bool) Record
}

// A Record is kept of a command from before it is started until it has ended.
type Record interface {
	// ID names the command; no other ever has the same. If it is empty nothing is kept.
	ID() string
	// Started is called with its process ID, which is also that of its process group, and when it
	// was started, in ticks since the machine was booted (/proc/PID/stat).
	Started(pid int, start uint64)
	// Ended is called when it has ended, or could not be started.
	Ended()
}

// Begin has commands from now on belong to a run. Record is called before each is
// started, and told whether it gets a session of its own; it may be nil.
func (c *Commands) Begin(run string, record func(command string, apart bool) Record) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.record = run, record
}

// A runningCommand is one of the commands, from before it is started.
type runningCommand struct {
	owner  *Commands
	pid    int    // 0 until it is started
	record Record // may be nil
}

// begin tells of a command that is about to be started, and returns what it has in its
// environment besides. Ended must follow.
func (c *Commands) begin(command string, apart bool) (r *runningCommand, environ []string) {
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

// started tells that the command was started.
func (r *runningCommand) started(pid int) {
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

// ended tells that the command has ended, or could not be started.
func (r *runningCommand) ended() {
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

// Kill ends all of them at once, with what they have started.
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

// StartOf returns when a process was started, in ticks since the machine was booted.
func StartOf(pid int) (uint64, error) {
	p, err := processAt(pid)
	return p.start, err
}

// A process is what /proc/PID/stat says of one.
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
	// The name of the command, in brackets, may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return p, fmt.Errorf("/proc/%d/stat cannot be understood", pid)
	}
	p.state = fields[0][0]
	if _, err = fmt.Sscan(string(bytes.Join(fields[1:4], []byte(" "))), &p.parent, &p.group, &p.session); err == nil {
		_, err = fmt.Sscan(string(fields[19]), &p.start)
	}
	return p, err
}

// IsAncestor reports whether a process has started this one, or one that did.
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

// ended reports whether a process is no more than an entry in a table.
func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }
