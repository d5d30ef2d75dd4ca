package hosttest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Secret is the content of root's files that nobody else may read or change.
const Secret = "only root knows this\n"

// An Adversary is an unprivileged process that owns a directory and swaps its entries for links,
// files and directories as fast as it can, to lead root to the files of a victim.
type Adversary struct {
	UID, GID uint32
	Home     string // the directory that it owns
	Victim   string // the directory of root beside it
	before   string // a snapshot of the victim

	t        *testing.T
	cmd      *exec.Cmd
	end      io.Closer
	out      *bufio.Reader
	count    *uint64 // number of swaps, in memory shared with the adversary
	observed uint64
}

const (
	adversaryUID = 54321
	adversaryEnv = "CCM_TEST_ADVERSARY"
)

// AttackIfAsked is for TestMain. In the process of an adversary it does not return. In a process
// of OnLesserKernels it disables system calls.
func AttackIfAsked() {
	takeKernel()
	if home := os.Getenv(adversaryEnv); home != "" {
		attack(home)
		os.Exit(0)
	}
}

// isDirectory reports whether a name that root works on stands for a directory.
func isDirectory(name string) bool { return name == "dir" || name == ".ssh" }

// NewAdversary starts an adversary. Names are the paths in its home on which root is going to
// work; dir and .ssh are directories, and all others are below them. If the home is moved, the
// adversary goes on there. If it is removed, it goes on in the next one, or where a link named
// moved beside it leads. The test is skipped unless root runs it.
func NewAdversary(t *testing.T, names ...string) *Adversary {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	base, err := os.MkdirTemp(sharedMemory(), "ccm-adversary-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	a := &Adversary{t: t, UID: adversaryUID, GID: adversaryUID, Home: filepath.Join(base, "home"), Victim: filepath.Join(base, "victim")}
	require.NoError(t, os.Chmod(base, 0o755))
	require.NoError(t, os.Mkdir(a.Home, 0o755))
	require.NoError(t, os.Chown(a.Home, adversaryUID, adversaryUID))
	a.fillVictim(t, names)
	a.before = a.snapshot(t)
	count := filepath.Join(a.Home, counter)
	require.NoError(t, os.WriteFile(count, make([]byte, 8), 0o600))
	require.NoError(t, os.Chown(count, adversaryUID, adversaryUID))
	a.count, err = sharedCounter(count)
	require.NoError(t, err)
	a.start(t, names)
	return a
}

// counter is the file with the number of the adversary's swaps.
const counter = "swaps"

// sharedCounter returns a number in memory that processes share.
func sharedCounter(name string) (*uint64, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 8, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*uint64)(unsafe.Pointer(&m[0])), nil
}

// Wait waits until the adversary has swapped again: this process may have used all processors.
func (a *Adversary) Wait() {
	for since := time.Now(); atomic.LoadUint64(a.count) < a.observed+20; runtime.Gosched() {
		if time.Since(since) > 5*time.Minute {
			a.t.Fatal("the adversary stopped swapping")
		}
	}
	a.observed = atomic.LoadUint64(a.count)
}

// sharedMemory returns the directory in which swaps are fastest.
func sharedMemory() string {
	if fi, err := os.Stat("/dev/shm"); err == nil && fi.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// fillVictim makes the names on which root works in the directory of the victim.
func (a *Adversary) fillVictim(t *testing.T, names []string) {
	require.NoError(t, os.Mkdir(a.Victim, 0o755))
	for _, dir := range append([]string{"", "dir", "dir/dir"}, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isDirectory(name) })...) {
		require.NoError(t, os.MkdirAll(filepath.Join(a.Victim, dir), 0o755))
		for _, name := range append(slices.Clone(names), "secret") {
			if isDirectory(name) {
				continue
			}
			require.NoError(t, os.WriteFile(filepath.Join(a.Victim, dir, name), []byte(Secret), 0o600))
		}
	}
	require.NoError(t, os.Symlink("secret", filepath.Join(a.Victim, "link")))
}

func (a *Adversary) start(t *testing.T, names []string) {
	// The directory of the test binary may be closed to other users.
	text, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	copied := filepath.Join(filepath.Dir(a.Home), "adversary")
	// A program that another test starts meanwhile would inherit the copy open for writing until
	// its own exec, and a file open for writing cannot be executed (ETXTBSY).
	syscall.ForkLock.RLock()
	err = os.WriteFile(copied, text, 0o755)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	a.cmd = exec.Command(copied, names...)
	a.cmd.Dir = "/"
	a.cmd.Env = []string{adversaryEnv + "=" + a.Home}
	a.cmd.Stderr = os.Stderr
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: adversaryUID, Gid: adversaryUID}}
	endWithParent(a.cmd.SysProcAttr)
	in, err := a.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := a.cmd.StdoutPipe()
	require.NoError(t, err)
	a.end, a.out = in, bufio.NewReader(out)
	require.NoError(t, a.cmd.Start())
	t.Cleanup(func() { _ = a.cmd.Process.Kill(); _ = a.cmd.Wait() }) // if the test has failed
	line, err := a.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "begun\n", line)
}

// Lost ends the adversary and checks that it has lost: the victim is unchanged, and the adversary
// has read nothing of it. It returns the number of swaps.
func (a *Adversary) Lost(t *testing.T) int {
	t.Helper()
	require.NoError(t, a.end.Close())
	rest, err := io.ReadAll(a.out)
	require.NoError(t, err)
	require.NoError(t, a.cmd.Wait())
	require.NotContains(t, string(rest), "leak", "it has read what only root may read")
	require.Equal(t, a.before, a.snapshot(t), "the victim was changed")
	require.False(t, HoldsSecret(a.Home), "a file in its home holds what only root may read")
	swaps, err := strconv.Atoi(strings.TrimSpace(string(rest)))
	require.NoError(t, err)
	require.Positive(t, swaps)
	return swaps
}

// snapshot describes everything of the victim.
func (a *Adversary) snapshot(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(a.Victim, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s %o %d:%d links %d", path, st.Mode, st.Uid, st.Gid, st.Nlink)
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, " %q", text)
		}
		all.WriteByte('\n')
		return nil
	})
	require.NoError(t, err)
	return all.String()
}

// HoldsSecret reports whether a file below a directory that this process can read has the secret.
func HoldsSecret(dir string) (found bool) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		found = found || fileHoldsSecret(path)
		return nil
	})
	return found
}

func fileHoldsSecret(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var buf [4096]byte
	n, err := unix.Read(fd, buf[:])
	return err == nil && n > 0 && bytes.Contains(buf[:n], []byte(strings.TrimSpace(Secret)))
}
