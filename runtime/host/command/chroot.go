package command

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
)

// A command with [Cmd.Chroot] is started by a helper: this program, called [chrootName], as process 1 of new mount,
// process, host name and IPC namespaces, and of a user namespace if this is not root. The helper mounts what a system
// needs, starts the command, and passes its exit status on. When it ends, the kernel ends all that is left of the
// command and takes the mounts away. It ends when the command does, and when this process does, which closes the pipe
// through which it got its order.

// chrootName is argument 0 of the helper.
const chrootName = "ccm-chroot"

// chrootOrder is what the helper should run.
type chrootOrder struct {
	Root, Dir, Umask string
	Argv, Env        []string
	Path             string
	As               *syscall.Credential
	Binds            map[string]string
	NoDaemons        bool
	User             bool // the helper is in a user namespace of its own
}

// chrootReport is what the helper sends when the command has ended or was not started.
type chrootReport struct {
	Err      string // why the command was not started
	NotFound bool   // there is no such command
	Code     int
	Signal   syscall.Signal
}

// chroot is a started helper. A nil chroot does nothing.
type chroot struct {
	order       chrootOrder
	orders      *os.File // our end of the pipe with the order: the helper ends when it is closed
	reports     *os.File // our end of the pipe with the report
	ofHelper    []*os.File
	cannotEnter error
}

// enter makes cmd start a helper that runs c. It returns nil if c has no Chroot. With other, the command
// runs as c.As.
func (c Cmd) enter(cmd *exec.Cmd, other bool) (*chroot, error) {
	if c.Chroot == "" {
		return nil, nil
	}
	in := &chroot{order: chrootOrder{
		Root: c.Chroot, Dir: path.Join("/", c.Dir), Umask: c.Umask, Argv: c.Argv, Env: cmd.Env, Path: c.Path, Binds: c.Binds,
		NoDaemons: c.NoDaemons, User: os.Geteuid() != 0,
	}}
	if in.order.Path == "" {
		in.order.Path = DefaultPath
	}
	if other {
		in.order.As = cmd.SysProcAttr.Credential
	}
	theirOrders, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reports, theirReports, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirOrders.Close(), orders.Close())
	}
	in.orders, in.reports, in.ofHelper = orders, reports, []*os.File{theirOrders, theirReports}
	cmd.Path, cmd.Err, cmd.Args, cmd.Dir, cmd.ExtraFiles = "/proc/self/exe", nil, []string{chrootName}, "/", in.ofHelper
	cmd.SysProcAttr = chrootAttr(in.order.User)
	return in, nil
}

// begin sends the order to the started helper.
func (in *chroot) begin() {
	if in == nil {
		return
	}
	for _, f := range in.ofHelper {
		_ = f.Close()
	}
	in.ofHelper = nil
	_ = json.NewEncoder(in.orders).Encode(in.order) // if the helper has ended, its report says why
}

// explain returns the error for a helper that could not be started.
func (in *chroot) explain(err error) error {
	if in == nil || err == nil {
		return err
	}
	hint := "run ccm as root"
	if in.order.User {
		hint = "run ccm as root, or enable user namespaces"
	}
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	return diag.SubjectCannot("", "run %s in %s: no namespaces: %w (%s)", in.order.Argv[0], in.order.Root, err, hint)
}

// result returns the result of the command instead of that of the helper. It is called after the end of the helper.
func (in *chroot) result(res Result) (Result, error) {
	text, err := io.ReadAll(in.reports)
	if err != nil {
		return res, err
	}
	if len(text) == 0 { // the helper was killed
		return res, nil
	}
	var r chrootReport
	if err := json.Unmarshal(text, &r); err != nil {
		return res, diag.Cannot("run", fmt.Sprintf("%s in %s", in.order.Argv[0], in.order.Root), err)
	}
	switch {
	case r.NotFound && strings.Contains(in.order.Argv[0], "/"):
		return res, &NotFoundError{in.order.Argv[0], []string{in.order.Root}}
	case r.NotFound:
		return res, &NotFoundError{in.order.Argv[0], strings.Split(in.order.Path, ":")}
	case r.Err != "":
		return res, diag.SubjectCannot("", "run %s in %s: %s", in.order.Argv[0], in.order.Root, r.Err)
	}
	res.Code, res.Signal = r.Code, r.Signal
	return res, nil
}

// Close ends the helper, if it still runs.
func (in *chroot) Close() {
	if in == nil {
		return
	}
	for _, f := range append(in.ofHelper, in.orders, in.reports) {
		_ = f.Close()
	}
}

// chrootEnviron is the environment of commands below another root: that of this process without what names places and
// languages of this machine. Systemctl changes links and reaches no manager (SYSTEMD_OFFLINE).
func chrootEnviron() []string {
	own := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "LANG", "LANGUAGE", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "DISPLAY"}
	env := slices.DeleteFunc(os.Environ(), func(x string) bool {
		name, _, _ := strings.Cut(x, "=")
		return slices.Contains(own, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
	})
	return append(env, "PATH="+DefaultPath, "HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/sh", "LANG=C.UTF-8", "SYSTEMD_OFFLINE=1")
}

// elfMachines are the names that Go has for architectures, and mostly Debian.
var elfMachines = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_386: "386", elf.EM_AARCH64: "arm64", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64",
	elf.EM_PPC64: "ppc64", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64", elf.EM_MIPS: "mips",
}

// ELFArch returns the architecture of a program, as in runtime.GOARCH. It is "" if the architecture is
// unknown, and for other files.
func ELFArch(r io.ReaderAt) string {
	f, err := elf.NewFile(r)
	if err != nil {
		return ""
	}
	name := elfMachines[f.Machine]
	if name == "ppc64" && f.Data == elf.ELFDATA2LSB {
		name = "ppc64le"
	}
	return name
}

// foreignArch returns an error text if a program is for another architecture, else "".
func foreignArch(file, root string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	arch := ELFArch(f)
	if arch == "" || arch == runtime.GOARCH {
		return ""
	}
	return fmt.Sprintf("%s is %s, this machine is %s (register an emulator with binfmt: package qemu-user-static)", root, arch, runtime.GOARCH)
}
