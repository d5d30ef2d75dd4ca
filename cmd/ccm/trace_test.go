package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A syscallMade is a system call of ccm or its children.
type syscallMade struct {
	name, args string
	result     int // -1 if it failed
}

// A trace is the system calls of a run, except those of the Go runtime, whose number depends on time instead of work.
type trace []syscallMade

// ownOfRuntime are system calls of the Go runtime: scheduling, waiting, memory.
const ownOfRuntime = "futex,nanosleep,clock_nanosleep,epoll_create1,epoll_ctl,epoll_pwait,epoll_pwait2,sched_yield,sched_getaffinity," +
	"madvise,mmap,munmap,brk,mprotect,clone,clone3,rt_sigaction,rt_sigprocmask,rt_sigreturn,sigaltstack,tgkill,getpid,gettid," +
	"set_robust_list,rseq,exit,timer_create,timer_settime,timer_delete,eventfd2"

// canTrace returns why system calls cannot be counted here, "" if they can.
var canTrace = sync.OnceValue(func() string {
	if _, err := exec.LookPath("strace"); err != nil {
		return "strace is not installed, which counts system calls"
	}
	if out, err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		return "strace may not trace here: " + string(bytes.TrimSpace(out))
	}
	return ""
})

// ran runs ccm, which must succeed.
func ran(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("ccm", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// traced runs ccm, which must succeed, and returns its system calls. It skips the test if they cannot be counted.
func traced(t *testing.T, args ...string) trace {
	t.Helper()
	return tracedProgram(t, 0, "ccm", args...)
}

// tracedProgram is traced for a program with an expected exit status.
func tracedProgram(t *testing.T, status int, program string, args ...string) trace {
	t.Helper()
	if why := canTrace(); why != "" {
		t.Skip(why)
	}
	log := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", append([]string{
		"-f", "-y", "-qq", "-s", "0", "-o", log, "-e", "signal=none", "-e", "trace=!" + ownOfRuntime, program,
	}, args...)...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		require.NoError(t, err, "%s", out)
		require.Equal(t, status, cmd.ProcessState.ExitCode(), "%s", out)
	}
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	return parseTrace(t, string(text))
}

var (
	whole      = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\w+)`)
	unfinished = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\w+)`)
)

// parseTrace parses the output of strace(1).
func parseTrace(t *testing.T, text string) (calls trace) {
	begun := make(map[string]string) // arguments by process
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		line := sc.Text()
		if m := unfinished.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[3]
			continue
		}
		m := whole.FindStringSubmatch(line)
		if m == nil {
			if m = resumed.FindStringSubmatch(line); m == nil {
				continue // the end of a process
			}
			m[3] = begun[m[1]] + m[3]
		}
		result, err := strconv.ParseInt(m[4], 0, 64)
		if err != nil {
			result = 0 // unknown, because the process ended in the call
		}
		calls = append(calls, syscallMade{m[2], m[3], int(result)})
	}
	require.NotEmpty(t, calls)
	return calls
}

// on returns the calls with one of the names and with text in their arguments; "" is in all of them.
func (tr trace) on(text string, names ...string) (found trace) {
	for _, c := range tr {
		for _, name := range names {
			if c.name == name && strings.Contains(c.args, text) {
				found = append(found, c)
			}
		}
	}
	return found
}

// read returns the bytes read from files whose path contains text.
func (tr trace) read(text string) (bytes int) {
	for _, c := range tr.on(text, "read", "pread64", "readv", "preadv2", "sendfile", "copy_file_range", "splice") {
		bytes += max(0, c.result)
	}
	return bytes
}

// opened returns how often files were opened whose path contains text.
func (tr trace) opened(text string) int { return len(tr.on(text, "open", "openat", "openat2")) }
