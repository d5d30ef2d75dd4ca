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

// Commands are those that a process has started and that have not ended. A nil one
// knows of none. It is safe for use by several goroutines.
type Commands struct {
	mu     sync.Mutex
	groups map[int]bool
	run    string
	record func(Started) (ended func())
}

// A Started is a command that was started, in a process group that has its number.
type Started struct {
	PID int
	// Start is when, in ticks since the machine was booted (/proc/PID/stat).
	Start   uint64
	Command string
}

// Begin has commands from now on belong to a run. Record is told of each that was
// started, and the function that it returns that it has ended; it may be nil.
func (c *Commands) Begin(run string, record func(Started) (ended func())) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.record = run, record
}

// environ returns what commands have in their environment besides.
func (c *Commands) environ() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == "" {
		return nil
	}
	return []string{RunVariable + "=" + c.run}
}

// started tells of a command that was started. Ended must follow.
func (c *Commands) started(pid int, command string) (ended func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	if c.groups == nil {
		c.groups = make(map[int]bool)
	}
	c.groups[pid] = true
	record := c.record
	c.mu.Unlock()
	recorded := func() {}
	if record != nil {
		start, _ := StartOf(pid)
		recorded = record(Started{PID: pid, Start: start, Command: command})
	}
	return func() {
		c.mu.Lock()
		delete(c.groups, pid)
		c.mu.Unlock()
		recorded()
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
	pid, group int
	state      byte
	start      uint64
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
	if _, err = fmt.Sscan(string(fields[2]), &p.group); err == nil {
		_, err = fmt.Sscan(string(fields[19]), &p.start)
	}
	return p, err
}

// ended reports whether a process is no more than an entry in a table.
func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }
