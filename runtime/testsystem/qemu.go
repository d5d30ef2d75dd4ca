package testsystem

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/luaccm/ccm/runtime/diag"
)

// Names of the driver of qemu:IMAGE, and of its programs.
const (
	qemuName    = "qemu"
	qemuProgram = "qemu-system-x86_64"
	qemuImage   = "qemu-img"
)

// qemuBootTime is how long a virtual machine may take to boot: without KVM it takes minutes.
const qemuBootTime = 10 * time.Minute

// qemu makes virtual machines from a disk image. Each has a disk of its own over that image, and is entered by ssh with
// a key that cloud-init or systemd installs at boot.
type qemu struct{}

func (qemu) Name() string { return qemuName }

func (qemu) Check() error {
	for _, program := range []string{qemuProgram, qemuImage, "ssh"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w (install qemu-system-x86, qemu-utils and openssh-client)", diag.ProgramNotFound("%s", program))
		}
	}
	return nil
}

func (d qemu) Make(ctx context.Context, r *Record) (System, error) {
	base, err := filepath.Abs(r.Target.Arg)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(base); err != nil || !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Pos{}, "%s: %w", r.Target.Name, diag.Expected("a disk image at %s", r.Target.Arg))
	}
	text, err := run(ctx, "", qemuImage, "info", "--output=json", base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Target.Name, err)
	}
	var image struct{ Format string }
	if err := json.Unmarshal([]byte(text), &image); err != nil {
		return nil, fmt.Errorf("%s: %w", qemuImage, err)
	}
	s := newQemuSystem(r)
	if _, err := run(ctx, "", qemuImage, "create", "-q", "-f", "qcow2", "-F", image.Format, "-b", base, s.disk()); err != nil {
		return nil, err
	}
	if err := s.writeKey(); err != nil {
		return nil, err
	}
	if err := s.saveDisk(ctx); err != nil {
		return nil, err
	}
	return s, s.boot(ctx)
}

func (qemu) Attach(ctx context.Context, r *Record) (System, error) {
	s := newQemuSystem(r)
	if s.livingPID(ctx) == 0 {
		return nil, diag.Not("the system", "running")
	}
	return s, nil
}

func (qemu) Reclaim(r *Record) error {
	newQemuSystem(r).kill(context.Background())
	return nil
}

// qemuSystem is a virtual machine, which is entered as a machine that is there.
type qemuSystem struct {
	sshSystem
	ended chan struct{} // closed when the process has ended; nil in a process that did not start it
}

func newQemuSystem(r *Record) *qemuSystem {
	key := filepath.Join(r.dir(), "key")
	return &qemuSystem{sshSystem: sshSystem{record: r, host: "root@127.0.0.1", options: []string{
		"-F", "none", "-i", key, "-p", r.Data["port"], "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR",
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
	}}}
}

func (s *qemuSystem) disk() string { return filepath.Join(s.record.dir(), "disk.qcow2") }
func (s *qemuSystem) seed() string { return filepath.Join(s.record.dir(), "seed") }

// writeKey makes a key pair, and the files by which cloud-init installs it.
func (s *qemuSystem) writeKey() error {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return err
	}
	authorized, err := ssh.NewPublicKey(public)
	if err != nil {
		return err
	}
	line := string(ssh.MarshalAuthorizedKey(authorized))
	user, err := json.Marshal(map[string]any{ // JSON is YAML
		"disable_root": false, "users": []any{map[string]any{"name": "root", "ssh_authorized_keys": []string{strings.TrimSpace(line)}}},
	})
	if err != nil {
		return err
	}
	meta := fmt.Sprintf("instance-id: %s\nlocal-hostname: %s\n", s.record.Name, s.record.hostName())
	return errors.Join(
		os.Mkdir(s.seed(), 0o700),
		os.WriteFile(filepath.Join(s.record.dir(), "key"), pem.EncodeToMemory(block), 0o600),
		os.WriteFile(filepath.Join(s.record.dir(), "key.pub"), []byte(line), 0o600),
		os.WriteFile(filepath.Join(s.seed(), "user-data"), append([]byte("#cloud-config\n"), user...), 0o600),
		os.WriteFile(filepath.Join(s.seed(), "meta-data"), []byte(meta), 0o600),
	)
}

// diskSnapshot is the name of the state in the disk that Restore brings back.
const diskSnapshot = "ccm"

// saveDisk stores the state of a disk that no machine uses.
func (s *qemuSystem) saveDisk(ctx context.Context) error {
	_, err := run(ctx, "", qemuImage, "snapshot", "-c", diskSnapshot, s.disk())
	return err
}

// boot starts the machine, and waits until it has booted.
func (s *qemuSystem) boot(ctx context.Context) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := errors.Join(free.Close(), s.record.set("port", port)); err != nil {
		return err
	}
	s.options = newQemuSystem(s.record).options
	key, err := os.ReadFile(filepath.Join(s.record.dir(), "key.pub"))
	if err != nil {
		return err
	}
	console, err := os.Create(filepath.Join(s.record.dir(), "console.log"))
	if err != nil {
		return err
	}
	defer console.Close()
	// In the folder of the system: options of qemu separate parts with commas, which a path may have.
	cmd := exec.Command(qemuProgram, "-name", s.record.Name, "-accel", "kvm", "-accel", "tcg", "-cpu", "max", "-m", "2G", "-smp", "2",
		"-display", "none", "-monitor", "none", "-serial", "stdio",
		"-nic", "user,model=virtio-net-pci,hostfwd=tcp:"+address+"-:22",
		"-drive", "file=disk.qcow2,format=qcow2,if=virtio",
		"-drive", "driver=vvfat,dir=seed,label=cidata,if=virtio,readonly=on",
		"-smbios", "type=11,value=io.systemd.credential.binary:ssh.authorized_keys.root="+base64.StdEncoding.EncodeToString(key))
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.record.dir(), console, console
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for ccm
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	if err := s.record.set("pid", strconv.Itoa(cmd.Process.Pid)); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	err = waitBooted(ctx, s, qemuBootTime, func() (bool, error) {
		select {
		case <-ended:
			return false, diag.SubjectCannot(qemuProgram, "run")
		default:
		}
		return answersSSH(address), nil
	})
	if err != nil && ctx.Err() == nil {
		text, _ := os.ReadFile(console.Name())
		err = fmt.Errorf("%s: %w%s", s.record.Target.Name, err, lastLine(string(text)))
	}
	return err
}

// answersSSH reports whether a server for ssh listens at an address: qemu itself accepts connections before the machine
// has booted.
func answersSSH(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	var banner [4]byte
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	n, _ := c.Read(banner[:])
	return string(banner[:n]) == "SSH-"
}

// livingPID returns the process of the machine, 0 if it has ended. Its arguments have the name of the system, which no
// other process of the same number has.
func (s *qemuSystem) livingPID(ctx context.Context) int {
	pid, err := strconv.Atoi(s.record.Data["pid"])
	if err != nil {
		return 0
	}
	args, err := run(ctx, "", "ps", "-o", "args=", "-p", strconv.Itoa(pid))
	if err != nil || !strings.Contains(args, "-name "+s.record.Name+" ") {
		return 0
	}
	return pid
}

// kill ends the machine at once.
func (s *qemuSystem) kill(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for pid := s.livingPID(ctx); pid != 0; pid = s.livingPID(ctx) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if s.ended != nil {
		<-s.ended // the disk is locked until then
	}
}

// shutDown ends the machine as an operator does it, or else at once.
func (s *qemuSystem) shutDown(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	_, _ = s.Exec(within, Cmd{Argv: []string{"systemctl", "poweroff"}})
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for within.Err() == nil && s.livingPID(within) != 0 {
		select {
		case <-within.Done():
		case <-ticks.C:
		}
	}
	s.kill(ctx)
}

func (s *qemuSystem) Snapshot(ctx context.Context) error {
	s.shutDown(ctx)
	if _, err := run(ctx, "", qemuImage, "snapshot", "-d", diskSnapshot, s.disk()); err != nil {
		return err
	}
	if err := s.saveDisk(ctx); err != nil {
		return err
	}
	return s.boot(ctx)
}

func (s *qemuSystem) Restore(ctx context.Context) error {
	s.kill(ctx)
	if _, err := run(ctx, "", qemuImage, "snapshot", "-a", diskSnapshot, s.disk()); err != nil {
		return err
	}
	return s.boot(ctx)
}

func (s *qemuSystem) Remove(ctx context.Context) error {
	s.kill(ctx)
	return nil
}
