//go:build linux

// Package measure runs a command once and says what that took.
package measure

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is the time and the memory that a command took.
type Usage struct {
	Wall   int64 // nanoseconds from before it was started until it had ended
	CPU    int64 // nanoseconds, of all processes that it waited for
	RSS    int64 // the most memory of the largest process, in bytes
	Read   int64 // bytes that the command itself asked the system for
	Status int
	Late   bool // it was killed, because it took too long
	Output string
}

// Run runs a command, with a pipe as its output. The caller has to be a small process: the kernel
// reports at least the memory of the process that it was forked from for a child.
func Run(limit time.Duration, argv []string) (u Usage, err error) {
	var said bytes.Buffer
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdout, c.Stderr = &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	if err := c.Start(); err != nil {
		return u, err
	}
	late := time.AfterFunc(limit, func() { _ = unix.Kill(-c.Process.Pid, unix.SIGKILL) })
	// WNOWAIT leaves the ended process a zombie, whose /proc/PID/io can still be read.
	for unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		continue
	}
	u.Wall = time.Since(began).Nanoseconds()
	u.Late = !late.Stop()
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", c.Process.Pid))
	if err != nil {
		return u, err
	}
	_, err = fmt.Sscanf(string(io), "rchar: %d", &u.Read)
	_ = c.Wait() // its error is in the status
	r := c.ProcessState.SysUsage().(*syscall.Rusage)
	u.CPU, u.RSS, u.Status, u.Output = r.Utime.Nano()+r.Stime.Nano(), r.Maxrss<<10, c.ProcessState.ExitCode(), said.String()
	return u, err
}
