package command

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
)

// CanChroot means that [Exec] runs commands with [Cmd.Chroot] on this operating system.
const CanChroot = true

// chrootAttr gives the helper its namespaces. In a user namespace the present user is root, and nobody else exists.
func chrootAttr(user bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC}
	if user {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	return a
}

func init() {
	if len(os.Args) == 1 && os.Args[0] == chrootName {
		runtime.LockOSThread() // capabilities are those of a thread
		os.Exit(helpChroot())
	}
}

// helpChroot is the helper.
func helpChroot() int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	orders, reports := os.NewFile(3, "orders"), os.NewFile(4, "reports")
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	x := new(chrootHelper)
	decoder := json.NewDecoder(orders)
	if err := decoder.Decode(&x.order); err != nil {
		return 125 // its parent has ended, or it was started by hand
	}
	go func() {
		_, _ = io.Copy(io.Discard, orders)
		x.tidy()
		os.Exit(125)
	}()
	r := x.run(signals)
	x.tidy()
	_ = json.NewEncoder(reports).Encode(r)
	return 0
}

// A chrootHelper enters a root, and runs a command there.
type chrootHelper struct {
	order  chrootOrder
	mu     sync.Mutex
	policy os.FileInfo // of the policyFile that it has made, or nil
}

// run runs the command, and returns how it ended.
func (x *chrootHelper) run(signals <-chan os.Signal) (r chrootReport) {
	mask := unix.Umask(0)
	err := x.enter()
	unix.Umask(mask)
	if err != nil {
		return chrootReport{Err: err.Error()}
	}
	file, err := LookPath(x.order.Argv[0], x.order.Path)
	if err != nil {
		return chrootReport{NotFound: true}
	}
	if err := os.Chdir(x.order.Dir); err != nil {
		return chrootReport{Err: "working directory " + x.order.Dir + " does not exist"}
	}
	if x.order.NoDaemons {
		x.forbidDaemons()
	}
	if !x.order.User {
		dropCapabilities()
	}
	if m, err := strconv.ParseUint(x.order.Umask, 8, 32); err == nil {
		unix.Umask(int(m))
	}
	pid, err := syscall.ForkExec(file, x.order.Argv, &syscall.ProcAttr{
		Env: x.order.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true, Credential: x.order.As},
	})
	if err != nil {
		return x.explain(file, err)
	}
	go func() {
		for s := range signals {
			_ = syscall.Kill(-pid, s.(syscall.Signal))
		}
	}()
	// Process 1 takes over what loses its parent.
	for {
		var status syscall.WaitStatus
		switch ended, err := syscall.Wait4(-1, &status, 0, nil); {
		case err != nil && err != syscall.EINTR:
			return chrootReport{Err: err.Error()}
		case ended == pid && status.Signaled():
			return chrootReport{Code: 128 + int(status.Signal()), Signal: status.Signal()}
		case ended == pid && status.Exited():
			return chrootReport{Code: status.ExitStatus()}
		}
	}
}

// explain returns the reason why an existing program was not started.
func (x *chrootHelper) explain(file string, err error) chrootReport {
	if err == unix.ENOENT && !fileExists(file) {
		return chrootReport{NotFound: true}
	}
	if err == unix.ENOEXEC || err == unix.ENOENT {
		for _, f := range []string{file, "/bin/sh"} {
			if why := foreignArch(f, x.order.Root); why != "" {
				return chrootReport{Err: why}
			}
		}
	}
	if err == unix.ENOENT {
		return chrootReport{Err: "its interpreter or loader does not exist there"}
	}
	return chrootReport{Err: err.Error()}
}

func fileExists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// A mountPoint is a file system of a root.
type mountPoint struct {
	at, kind, options string
	flags             uintptr
}

const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// systemMounts are mounted where the root has a directory for them. What of the kernel can be set is read-only.
var systemMounts = []mountPoint{
	{"/proc", "proc", "", quiet},
	{"/sys", "sysfs", "", quiet | unix.MS_RDONLY},
	{"/dev", "tmpfs", "mode=755", unix.MS_NOSUID | unix.MS_NODEV},
	{"/run", "tmpfs", "mode=755", unix.MS_NOSUID | unix.MS_NODEV},
	{"/tmp", "tmpfs", "mode=1777", unix.MS_NOSUID | unix.MS_NODEV},
}

// enter makes the root of the order the root of this process, whose mounts nobody else sees. What it mounts it mounts
// after that, so that no link in the root leads out of it.
func (x *chrootHelper) enter() error {
	resolver, _ := os.ReadFile("/etc/resolv.conf")
	old, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(old)
	for _, step := range []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount(x.order.Root, x.order.Root, "", unix.MS_BIND|unix.MS_REC, "") },
		func() error { return os.Chdir(x.order.Root) },
	} {
		if err := step(); err != nil {
			return diag.Cannot("make", "mounts private", err)
		}
	}
	// Device files that the image brings cannot be opened in it. Kernels before 5.12 cannot do this.
	_ = unix.MountSetattr(unix.AT_FDCWD, ".", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NODEV})
	pivoted := unix.PivotRoot(".", ".") == nil // not possible where / is not a mount, as in an initramfs
	if !pivoted {
		if err := unix.Chroot("."); err != nil {
			return err
		}
	}
	for _, m := range systemMounts {
		if fi, err := os.Stat(m.at); err != nil || !fi.IsDir() {
			continue
		}
		err := unix.Mount(m.kind, m.at, m.kind, m.flags, m.options)
		if err != nil && m.at == "/sys" { // the network is that of another user namespace
			err = x.bindOld(old, "sys", m.at, unix.MS_REC)
		}
		if err != nil {
			return diag.Cannot("mount", m.at, err)
		}
	}
	if !x.order.User {
		for _, p := range []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"} {
			if unix.Mount(p, p, "", unix.MS_BIND|unix.MS_REC, "") == nil {
				if err := unix.Mount("", p, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|quiet, ""); err != nil {
					return diag.Cannot("protect", p, err)
				}
			}
		}
	}
	if err := x.makeDevices(old); err != nil {
		return diag.Cannot("make", "/dev", err)
	}
	_ = os.Mkdir("/run/lock", 0o1777)
	x.makeResolver(resolver)
	for from, to := range x.order.Binds {
		err := os.Mkdir(to, 0o755)
		if err == nil {
			err = x.bindOld(old, strings.TrimPrefix(from, "/"), to, 0)
		}
		if err != nil {
			return diag.Cannot("mount", from, err)
		}
	}
	_ = unix.Sethostname([]byte(hostName()))
	if pivoted {
		if err := unix.Fchdir(old); err != nil {
			return err
		}
		if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
			return err
		}
	}
	return os.Chdir("/")
}

// bindOld shows a path of the old root, which is relative to it, at a path of the new one.
func (x *chrootHelper) bindOld(old int, from, to string, flags uintptr) error {
	if err := unix.Fchdir(old); err != nil {
		return err
	}
	return errors.Join(unix.Mount(from, to, "", unix.MS_BIND|flags, ""), os.Chdir("/"))
}

// makeDevices fills /dev with what every program may use.
func (x *chrootHelper) makeDevices(old int) error {
	if fi, err := os.Stat("/dev"); err != nil || !fi.IsDir() {
		return nil
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		at := "/dev/" + name
		f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		_ = f.Close()
		if err := x.bindOld(old, "dev/"+name, at, 0); errors.Is(err, unix.ENOENT) {
			_ = os.Remove(at)
		} else if err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return err
		}
	}
	for _, m := range []mountPoint{
		{"/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620", unix.MS_NOSUID | unix.MS_NOEXEC},
		{"/dev/shm", "tmpfs", "mode=1777", unix.MS_NOSUID | unix.MS_NODEV},
	} {
		if err := os.Mkdir(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, m.flags, m.options); err != nil && m.kind != "devpts" {
			return err
		}
	}
	return nil
}

// makeResolver has names resolved as on this machine. The file of the root stays as it is: another one is shown in its
// place or, where it is a link into /run, made there.
func (x *chrootHelper) makeResolver(text []byte) {
	const at, ours = "/etc/resolv.conf", "/run/ccm-resolv.conf"
	if len(text) == 0 {
		return
	}
	if target, err := os.Readlink(at); err == nil {
		if !path.IsAbs(target) {
			target = path.Join("/etc", target)
		}
		if target = path.Clean(target); strings.HasPrefix(target, "/run/") && os.MkdirAll(path.Dir(target), 0o755) == nil {
			_ = os.WriteFile(target, text, 0o644)
			return
		}
	}
	if os.WriteFile(ours, text, 0o644) == nil {
		_ = unix.Mount(ours, at, "", unix.MS_BIND, "") // fails where the root has no such file
		_ = os.Remove(ours)
	}
}

// hostName is the name in /etc/hostname.
func hostName() string {
	text, _ := os.ReadFile("/etc/hostname")
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line[:min(len(line), 64)]
		}
	}
	return "localhost"
}

// Policy-rc.d is asked by invoke-rc.d of Debian before a service is started; 101 forbids it. Who is killed leaves the
// file behind; the comment in it says that it may be replaced.
const (
	policyFile = "/usr/sbin/policy-rc.d"
	policyText = "#!/bin/sh\n# Made by ccm while a command runs in this image.\nexit 101\n"
)

// forbidDaemons keeps packages from starting services. A policy that the root has itself stays.
func (x *chrootHelper) forbidDaemons() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if fi, err := os.Stat("/usr/sbin/invoke-rc.d"); err != nil || !fi.Mode().IsRegular() {
		return
	}
	if text, err := os.ReadFile(policyFile); err == nil && string(text) == policyText {
		_ = os.Remove(policyFile)
	}
	f, err := os.OpenFile(policyFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return
	}
	_, _ = f.WriteString(policyText)
	_ = f.Chmod(0o755)
	x.policy, _ = f.Stat()
	_ = f.Close()
}

// tidy removes what the helper has put into the root.
func (x *chrootHelper) tidy() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.policy == nil {
		return
	}
	if fi, err := os.Lstat(policyFile); err == nil && os.SameFile(fi, x.policy) {
		_ = os.Remove(policyFile)
	}
	x.policy = nil
}

// dropCapabilities takes away what would act on the kernel of this machine, on its network, or on files outside of the
// root by open_by_handle_at(2): a command in an image loads no modules, makes no rules of a firewall and sets no clock.
func dropCapabilities() {
	for _, c := range []uintptr{
		unix.CAP_SYS_MODULE, unix.CAP_SYS_TIME, unix.CAP_SYS_BOOT, unix.CAP_SYS_RAWIO, unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN,
		unix.CAP_SYSLOG, unix.CAP_WAKE_ALARM, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE, unix.CAP_AUDIT_CONTROL, unix.CAP_BPF, unix.CAP_PERFMON,
		unix.CAP_DAC_READ_SEARCH,
	} {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
}
