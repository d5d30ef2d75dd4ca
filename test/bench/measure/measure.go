//go:build linux

// Package measure runs a command once and says what that took.
package measure

import (
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

// Usage is the time and the memory that a command took.
type Usage struct {
	Wall   int64 // nanoseconds from before it was started until it had ended
	CPU    int64 // nanoseconds, of all processes that it waited for
	RSS    int64 // the most memory of the largest process, in bytes
	Read   int64 // bytes that the command itself asked the system for, -1 if that is not told
	Status int
	Late   bool // it was killed, because it took too long
}

// Run runs a command with a pipe for what it says, which goes to the file log.
// The caller had better be a small process: the memory of a child never seems
// less than that of the process that it was forked from.
func Run(log string, limit time.Duration, argv []string) (t Usage, err error) {
	out, err := os.Create(log)
	if err != nil {
		return t, err
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return t, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return t, err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return t, err
	}
	copied := make(chan struct{})
	go func() {
		_, _ = io.Copy(out, r)
		close(copied)
	}()

	began := time.Now()
	p, err := os.StartProcess(path, argv, &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{null, w, w}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return t, err
	}
	_ = w.Close()
	late := time.AfterFunc(limit, func() { _ = unix.Kill(-p.Pid, unix.SIGKILL) })
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		continue
	}
	t.Wall = time.Since(began).Nanoseconds()
	t.Late = !late.Stop()
	t.Read = read(p.Pid)
	state, err := p.Wait()
	if err != nil {
		return t, err
	}
	<-copied
	u := state.SysUsage().(*syscall.Rusage)
	t.CPU, t.RSS, t.Status = u.Utime.Nano()+u.Stime.Nano(), u.Maxrss<<10, state.ExitCode()
	return t, nil
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
			if n, err := strconv.ParseInt(strings.TrimSpace(num), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
