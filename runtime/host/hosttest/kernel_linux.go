package hosttest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// kernelEnv names a kernel of lesserKernels for a test process.
const kernelEnv = "CCM_TEST_KERNEL"

// lesserKernels are kernels that lack something, with the missing system calls.
var lesserKernels = map[string][]uint32{
	"before 5.6":                   {unix.SYS_OPENAT2, unix.SYS_FCHMODAT2},
	"before 6.6":                   {unix.SYS_FCHMODAT2},
	"without /proc":                nil,
	"before 5.6 and without /proc": {unix.SYS_OPENAT2, unix.SYS_FCHMODAT2},
}

// OnLesserKernels runs the tests of the package again, each in a process on an older kernel or
// without /proc. OfProc are the tests of /proc itself. Where both are missing, modes cannot be
// set: there only the adversary's tests and TestNoModes run, and the adversary has to lose all
// the same.
func OnLesserKernels(t *testing.T, pattern, ofProc string) {
	if os.Getenv(kernelEnv) != "" {
		t.Skip("is on such a kernel")
	}
	for name := range lesserKernels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A test that hangs shows where: without the limit, all output of this process would be lost.
			words := []string{os.Args[0], "-test.run=" + pattern, "-test.v", "-test.timeout=8m"}
			if name == "before 5.6 and without /proc" {
				words[1] = "-test.run=Adversary|^TestNoModes$"
			}
			if strings.Contains(name, "without /proc") {
				words = append(words, "-test.skip="+ofProc)
				if os.Geteuid() != 0 {
					t.Skip("needs root")
				}
				words = append([]string{"unshare", "-m", "sh", "-ec", `mount -t tmpfs none /proc; exec "$@"`, "sh"}, words...)
			}
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Env = append(os.Environ(), kernelEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if bytes.Contains(out, []byte(kernelForbids)) || bytes.HasPrefix(out, []byte("unshare: unshare failed")) {
				t.Skipf("%s", out)
			}
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "--- PASS", "no test ran")
		})
	}
}

// HasModes reports whether this process can set modes safely.
func HasModes() bool { return os.Getenv(kernelEnv) != "before 5.6 and without /proc" }

// kernelForbids begins the message of a process that cannot disable the system calls.
const kernelForbids = "seccomp: "

// takeKernel disables the system calls that the environment names for this process.
func takeKernel() {
	if calls := lesserKernels[os.Getenv(kernelEnv)]; calls != nil {
		if err := RefuseCalls(calls...); err != nil {
			fmt.Println(kernelForbids, err)
			os.Exit(1)
		}
	}
}

// RefuseCalls disables system calls for all threads of this process, for good: each returns
// ENOSYS (seccomp(2)).
func RefuseCalls(calls ...uint32) error {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number of the call
	for _, call := range calls {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	if _, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH}); len(calls) == 2 && err != unix.ENOSYS {
		return errors.New("the filter does not work")
	}
	return nil
}
