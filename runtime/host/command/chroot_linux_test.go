package command_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// chrootVariable has a command for a process of a test that runs it below a root.
const chrootVariable = "CCM_TEST_CHROOT"

type otherCommand struct {
	Root      string
	Argv      []string
	NoDaemons bool
}

func TestMain(m *testing.M) {
	if text := os.Getenv(chrootVariable); text != "" {
		var c otherCommand
		if json.Unmarshal([]byte(text), &c) != nil {
			os.Exit(3)
		}
		res, err := command.Exec{}.Run(context.Background(), command.Cmd{Chroot: c.Root, NoDaemons: c.NoDaemons, Argv: c.Argv})
		if err != nil {
			res.Stderr = []byte(err.Error())
		}
		_, _ = os.Stdout.Write(append(res.Stdout, res.Stderr...))
		os.Exit(res.Code)
	}
	os.Exit(m.Run())
}

// inOther prepares another process that runs the command.
func inOther(t *testing.T, c otherCommand) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), chrootVariable+"="+string(text))
	return cmd
}

// needChroot skips the test where commands cannot enter a root.
func needChroot(t *testing.T, root string) {
	t.Helper()
	_, err := command.Exec{}.Run(t.Context(), command.Cmd{Argv: []string{"sh", "-c", ":"}, Chroot: root})
	if err != nil && strings.Contains(err.Error(), "not permitted") {
		t.Skip(err)
	}
	require.NoError(t, err)
}

// script runs a script of sh below a root.
func script(t *testing.T, c command.Cmd, text string) command.Result {
	t.Helper()
	c.Argv = []string{"sh", "-c", text}
	res, err := command.Exec{}.Run(t.Context(), c)
	require.NoError(t, err)
	require.Empty(t, string(res.Stderr))
	return res
}

// TestChroot: a command has the directory as its root, with file systems of its own that nobody else sees, and that are
// gone afterwards.
func TestChroot(t *testing.T) {
	root := hosttest.Image(t, "sh", "cat", "id", "ls")
	needChroot(t, root)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	write("etc/hostname", "# a name\nimage1\n")
	write("etc/resolv.conf", "nameserver 192.0.2.1\n")
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/0")
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	c := command.Cmd{Chroot: root}

	out := script(t, c, `
		read name < /proc/sys/kernel/hostname; echo "name $name"
		echo "tmp $TMPDIR, home $HOME, runtime $XDG_RUNTIME_DIR, path $PATH, in $PWD"
		echo x > /dev/null; echo x > /tmp/left; echo x > /run/left; echo x > /dev/shm/left
		set -- /proc/[0-9]*; echo "$# processes"
		echo made > /root/made
		test -e /sys/kernel && echo sys
		test "$(cat /proc/mounts)" = "" || echo mounts`)
	require.Equal(t, "name image1\ntmp , home /root, runtime , path "+command.DefaultPath+", in /\n2 processes\nsys\nmounts\n", string(out.Stdout))
	made, err := os.ReadFile(filepath.Join(root, "root/made"))
	require.NoError(t, err)
	require.Equal(t, "made\n", string(made))
	for _, dir := range []string{"tmp", "run", "dev", "proc", "sys", "usr/sbin"} {
		names, err := os.ReadDir(filepath.Join(root, dir))
		require.NoError(t, err)
		require.Empty(t, names, dir)
	}
	after, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	require.Equal(t, string(mounts), string(after))

	resolver, _ := os.ReadFile("/etc/resolv.conf")
	if len(resolver) > 0 {
		require.Equal(t, string(resolver), string(script(t, c, "cat /etc/resolv.conf").Stdout))
		require.NoError(t, os.Remove(filepath.Join(root, "etc/resolv.conf")))
		require.NoError(t, os.Symlink("../run/systemd/resolve/stub-resolv.conf", filepath.Join(root, "etc/resolv.conf")))
		require.Equal(t, string(resolver), string(script(t, c, "cat /etc/resolv.conf").Stdout))
	}
	require.Equal(t, command.Result{Code: 3}, result(t, c, "exit 3"))
	require.Equal(t, command.Result{Code: 137, Signal: syscall.SIGKILL}, result(t, c, "kill -9 $$"))
	require.Equal(t, "in", string(script(t, command.Cmd{Chroot: root, Stdin: []byte("in")}, "cat").Stdout))
	require.Equal(t, "0027\n", string(script(t, command.Cmd{Chroot: root, Umask: "0027"}, "umask").Stdout))
	require.Equal(t, "/etc\n", string(script(t, command.Cmd{Chroot: root, Dir: "/etc"}, "pwd").Stdout))
	scratch := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(scratch, "f"), []byte("shown\n"), 0o644))
	require.Equal(t, "shown\n", string(script(t, command.Cmd{Chroot: root, Binds: map[string]string{scratch: "/tmp/x"}}, "cat /tmp/x/f").Stdout))
	if os.Geteuid() == 0 {
		as := &command.Login{UID: 4711, GID: 4712, Groups: []uint32{4713}, Home: "/var"}
		require.Equal(t, "4711 4712 4712 4713 /var\n", string(script(t, command.Cmd{Chroot: root, As: as}, "echo $(id -u) $(id -g) $(id -G) $HOME").Stdout))
		refused, err := command.Exec{}.Run(t.Context(), command.Cmd{Chroot: root, Argv: []string{"sh", "-c", "echo 1 > /proc/sys/vm/drop_caches"}})
		require.NoError(t, err)
		require.NotZero(t, refused.Code, "a command may change settings of the kernel of this machine")
	}
}

func result(t *testing.T, c command.Cmd, text string) command.Result {
	t.Helper()
	res := script(t, c, text)
	require.Empty(t, res.Stdout)
	return command.Result{Code: res.Code, Signal: res.Signal}
}

// TestChrootErrors: a command that does not exist in the root is not looked for elsewhere.
func TestChrootErrors(t *testing.T) {
	root := hosttest.Image(t, "sh")
	needChroot(t, root)
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	binary.LittleEndian.PutUint16(elf[16:], 2)   // an executable file
	binary.LittleEndian.PutUint16(elf[18:], 258) // EM_LOONGARCH
	binary.LittleEndian.PutUint32(elf[20:], 1)
	binary.LittleEndian.PutUint16(elf[52:], 64)
	for name, text := range map[string]string{"foreign": string(elf), "unmet": "#!/no/such\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "bin", name), []byte(text), 0o755))
	}
	for want, c := range map[string]command.Cmd{
		`command "cat" not found in /usr/local/sbin, /usr/local/bin, /usr/sbin and 3 more directories`: {Argv: []string{"cat"}},
		`command "cat" not found in /bin`:                                                           {Argv: []string{"cat"}, Path: "/bin"},
		`command "/bin/cat" not found in ` + root:                                                   {Argv: []string{"/bin/cat"}},
		"cannot run sh in " + root + ": working directory /no does not exist":                       {Argv: []string{"sh"}, Dir: "/no"},
		"cannot run unmet in " + root + ": its interpreter or loader does not exist there":          {Argv: []string{"unmet"}},
		"cannot run sh in " + root + "/none: cannot make mounts private: no such file or directory": {Argv: []string{"sh"}, Chroot: root + "/none"},
	} {
		if c.Chroot == "" {
			c.Chroot = root
		}
		_, err := command.Exec{}.Run(t.Context(), c)
		require.EqualError(t, err, want)
	}
	if registered, _ := filepath.Glob("/proc/sys/fs/binfmt_misc/*loong*"); runtime.GOARCH != "loong64" && len(registered) == 0 {
		_, err := command.Exec{}.Run(t.Context(), command.Cmd{Chroot: root, Argv: []string{"foreign"}})
		require.EqualError(t, err, "cannot run foreign in "+root+": "+root+" is loong64, this machine is "+runtime.GOARCH+" (register an emulator with binfmt: package qemu-user-static)")
	}
	_, err := command.Exec{}.Run(t.Context(), command.Cmd{Chroot: root, Argv: []string{"sh", "-c", "while :; do :; done"}, Timeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, command.ErrTimeout)
}

// TestChrootLinks: what is mounted is mounted in the root, wherever links in it lead.
func TestChrootLinks(t *testing.T) {
	root := hosttest.Image(t, "sh", "cat")
	needChroot(t, root)
	outside, err := os.MkdirTemp("/var/tmp", "ccm-outside-") // t.TempDir may be in /dev/shm
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(outside)) })
	for _, name := range []string{"proc", "run", "dev"} {
		require.NoError(t, os.Remove(filepath.Join(root, name)))
		require.NoError(t, os.Symlink(outside, filepath.Join(root, name)))
	}
	require.NoError(t, os.Symlink(filepath.Join(outside, "resolv.conf"), filepath.Join(root, "etc/resolv.conf")))
	script(t, command.Cmd{Chroot: root}, "echo x > /var/f; test ! -e "+outside)
	names, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, names)
	require.NoError(t, os.MkdirAll(filepath.Join(root, outside), 0o755))
	script(t, command.Cmd{Chroot: root}, "echo x > /tmp/f")
	names, err = os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, names)
}

// TestChrootEndsWithItsParent: when the process that runs a command is killed, the command and its daemons end, and what
// was put into the root for it is gone. So it is when the command ends.
func TestChrootEndsWithItsParent(t *testing.T) {
	root := hosttest.Image(t, "sh", "cat")
	needChroot(t, root)
	require.NoError(t, os.WriteFile(filepath.Join(root, "usr/sbin/invoke-rc.d"), nil, 0o755))
	fifo, policy := filepath.Join(root, "fifo"), filepath.Join(root, "usr/sbin/policy-rc.d")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	// The daemon has the fifo open as long as it lives.
	const daemon = "(read forever < /block) > /fifo 2>&1 & "
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "block"), 0o600))

	cmd := inOther(t, otherCommand{Root: root, NoDaemons: true, Argv: []string{"sh", "-c", "exec > /fifo; cat /usr/sbin/policy-rc.d; echo ready; read forever < /block"}})
	require.NoError(t, cmd.Start())
	f, err := os.Open(fifo)
	require.NoError(t, err)
	defer f.Close()
	buf := make([]byte, 4096)
	said := ""
	for !strings.Contains(said, "ready\n") {
		n, err := f.Read(buf)
		require.NoError(t, err)
		said += string(buf[:n])
	}
	require.Contains(t, said, "exit 101\n")
	require.NoError(t, cmd.Process.Kill())
	_, err = io.Copy(io.Discard, f) // until the command has ended
	require.NoError(t, err)
	require.NoFileExists(t, policy)
	_ = cmd.Wait()

	// A file that somebody killed has left behind is replaced and removed; one of the image stays.
	script(t, command.Cmd{Chroot: root, NoDaemons: true}, "cat /usr/sbin/policy-rc.d > /var/policy")
	text, err := os.ReadFile(filepath.Join(root, "var/policy"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(policy, text, 0o755))
	script(t, command.Cmd{Chroot: root, NoDaemons: true}, "test -x /usr/sbin/policy-rc.d || echo none")
	require.NoFileExists(t, policy)
	require.NoError(t, os.WriteFile(policy, []byte("#!/bin/sh\n"), 0o755))
	script(t, command.Cmd{Chroot: root, NoDaemons: true}, daemon)
	require.FileExists(t, policy)
	require.NoError(t, os.Remove(policy))
	script(t, command.Cmd{Chroot: root}, "test ! -e /usr/sbin/policy-rc.d || echo there") // a query
}

// TestChrootOfAnOrdinaryUser: where user namespaces are allowed, no root is needed.
func TestChrootOfAnOrdinaryUser(t *testing.T) {
	root := hosttest.Image(t, "sh", "cat", "id")
	c := otherCommand{Root: root, Argv: []string{"sh", "-c", "id -u; echo x > /var/made; echo x > /dev/null; test -e /sys/kernel; read name < /proc/1/comm"}}
	cmd := inOther(t, c)
	if os.Geteuid() == 0 {
		const nobody = 65534
		require.NoError(t, os.Chown(filepath.Join(root, "var"), nobody, nobody))
		program := filepath.Join(hosttest.PublicDir(t), "program")
		text, err := os.ReadFile("/proc/self/exe")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(program, text, 0o755))
		cmd.Path, cmd.Dir = program, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "not permitted") || strings.Contains(string(out), "no space left") {
		t.Skipf("no user namespaces: %s", out)
	}
	require.NoError(t, err, string(out))
	require.Equal(t, "0\n", string(out))
	require.FileExists(t, filepath.Join(root, "var/made"))
}
