package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Took is what once says of a command, as one line of JSON.
type Took struct {
	Wall   int64 // nanoseconds from before it was started until it had ended
	CPU    int64 // nanoseconds, of all processes that it waited for
	RSS    int64 // the most memory of the largest process, in bytes
	Read   int64 // bytes that the command itself asked the system for
	Status int
	Late   bool // it was killed, because it took too long
}

// once runs a command with a pipe for what it says, which goes to LOG, and says
// what it took. It is a process as small as this one because the memory of a
// child never seems less than that of the process that it was forked from.
func once(log string, seconds int, argv []string) {
	if len(argv) == 0 {
		fail("once: want a command")
	}
	out, err := os.Create(log)
	check(err)
	r, w, err := os.Pipe()
	check(err)
	null, err := os.Open(os.DevNull)
	check(err)
	path, err := exec.LookPath(argv[0])
	check(err)
	copied := make(chan struct{})
	go func() {
		_, _ = io.Copy(out, r)
		close(copied)
	}()

	var t Took
	began := time.Now()
	p, err := os.StartProcess(path, argv, &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{null, w, w}, Sys: &unix.SysProcAttr{Setpgid: true},
	})
	check(err)
	_ = w.Close()
	late := time.AfterFunc(time.Duration(seconds)*time.Second, func() {
		t.Late = true
		_ = unix.Kill(-p.Pid, unix.SIGKILL)
	})
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		continue
	}
	t.Wall = time.Since(began).Nanoseconds()
	late.Stop()
	t.Read = read(p.Pid)
	state, err := p.Wait()
	check(err)
	<-copied
	u := state.SysUsage().(*syscall.Rusage)
	t.CPU, t.RSS, t.Status = u.Utime.Nano()+u.Stime.Nano(), u.Maxrss<<10, state.ExitCode()
	check(json.NewEncoder(os.Stdout).Encode(t))
}

// read returns how much a process has read: one that has ended and was not yet
// waited for can still be asked.
func read(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if num, ok := strings.CutPrefix(line, "rchar: "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(num), 10, 64)
			check(err)
			return n
		}
	}
	return -1
}
