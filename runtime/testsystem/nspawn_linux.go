package testsystem

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
)

// nspawn makes systems that systemd-nspawn boots. A process, the holder, has their mounts, so that nothing is mounted
// on the host, and the kernel takes the mounts away with it. The holder ends the system when this process ends.
type nspawn struct{}

//go:embed holder.sh
var holderScript string

//go:embed reap.sh
var reapScript string

// writable is the most that a system may write, in memory.
const writable = "4g"

func (nspawn) Name() string { return nspawnName }

func (nspawn) Check() error {
	if os.Geteuid() != 0 {
		return diag.Requires("", "root")
	}
	for _, program := range []string{"systemd-nspawn", "mount", "nsenter", "find"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w (install systemd-container and util-linux)", diag.ProgramNotFound("%s", program))
		}
	}
	return nil
}

// private starts a shell with a mount namespace of its own, which the signals of a terminal do not reach.
func private(script string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Unshareflags: unix.CLONE_NEWNS}
	return cmd
}

func (n nspawn) Make(ctx context.Context, r *Record) (System, error) {
	layers, err := imageLayers(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(r.dir(), "mnt"), 0o700); err != nil {
		return nil, err
	}
	if err := r.set("cgroup", "ccm-test."+r.Name); err != nil {
		return nil, err
	}
	s := &nspawnSystem{record: r, cgroup: r.Data["cgroup"]}
	s.holder = private(holderScript, s.cgroup, r.hostName(), writable, strings.Join(layers, ":"), "--private-network")
	s.holder.Dir, s.holder.Stderr = r.dir(), &s.problem
	if s.in, err = s.holder.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.holder.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.holder.Start(); err != nil {
		return nil, diag.Cannot("make", "a mount namespace", err)
	}
	s.pid = s.holder.Process.Pid
	err = r.set("holder", strconv.Itoa(s.pid)+" "+startTime(s.pid))
	if err == nil {
		err = s.answer()
	}
	if err == nil {
		err = s.booted(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Remove(ctx))
	}
	return s, nil
}

func (n nspawn) Attach(ctx context.Context, r *Record) (System, error) {
	s := &nspawnSystem{record: r, cgroup: r.Data["cgroup"], pid: livingPID(r.Data["holder"])}
	if s.pid == 0 {
		return nil, diag.Not("the system", "running")
	}
	if err := s.booted(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (nspawn) Reclaim(r *Record) error {
	if pid := livingPID(r.Data["holder"]); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	group := r.Data["cgroup"]
	if !strings.HasPrefix(group, "ccm-test.") {
		return nil // it had not been made
	}
	if out, err := private(reapScript, group).CombinedOutput(); err != nil {
		return diag.SubjectCannot("", "end the processes of %s: %w%s", r.Name, err, lastLine(string(out)))
	}
	return nil
}

// startTime returns when a process started, in clock ticks: no process of the same number has the same time. It is ""
// if there is no such process.
func startTime(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// livingPID returns the number of a process that is given as number and start time, 0 if it has ended.
func livingPID(text string) int {
	number, started, _ := strings.Cut(text, " ")
	pid, err := strconv.Atoi(number)
	if err != nil || started == "" || startTime(pid) != started {
		return 0
	}
	return pid
}

type nspawnSystem struct {
	record *Record
	cgroup string
	pid    int // of the holder
	init   int // the number of the system's process 1 on the host
	caps   string
	proxy  *proxy

	// Of the process that made the system.
	holder  *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	problem bytes.Buffer
}

// answer waits until the holder has done what it was asked for.
func (s *nspawnSystem) answer() error {
	if line, err := s.out.ReadString('\n'); err != nil || line != "ok\n" {
		_ = s.holder.Wait()
		s.holder = nil
		return diag.Cannot("mount", "what a system needs (overlayfs, cgroup2)"+lastLine(s.problem.String()), nil)
	}
	return nil
}

func (s *nspawnSystem) ask(word string) error {
	if s.holder == nil {
		return diag.SubjectCannot("another process", "reboot a system or restore its files")
	}
	if _, err := io.WriteString(s.in, word+"\n"); err != nil {
		return err
	}
	return s.answer()
}

// group returns the path of a control group of the system on the host.
func (s *nspawnSystem) group(name string) string {
	return fmt.Sprintf("/proc/%d/root/sys/fs/cgroup/%s/payload/%s", s.pid, s.cgroup, name)
}

// booted waits until the system has booted.
func (s *nspawnSystem) booted(ctx context.Context) error {
	s.init = 0
	err := waitBooted(ctx, s, bootTime, func() (bool, error) {
		if s.init == 0 {
			s.init = initOf(s.group("init.scope/cgroup.procs"))
			s.caps = missingCapabilities(s.init)
			_ = os.Mkdir(s.group("exec"), 0o755)
		}
		if text, err := os.ReadFile(s.groupOfSystem("cgroup.events")); err != nil || strings.Contains(string(text), "populated 0") {
			return false, diag.SubjectCannot("the system", "boot")
		}
		return s.init != 0, nil
	})
	if err != nil {
		return s.errNoBoot(ctx, err)
	}
	return s.startProxy()
}

// groupOfSystem returns the path of a file in the control group that has all processes of the system.
func (s *nspawnSystem) groupOfSystem(name string) string {
	return fmt.Sprintf("/proc/%d/root/sys/fs/cgroup/%s/%s", s.pid, s.cgroup, name)
}

// errNoBoot returns why a system did not boot, from its console.
func (s *nspawnSystem) errNoBoot(ctx context.Context, problem error) error {
	if ctx.Err() != nil {
		return problem // of the user, not of the system
	}
	text, _ := os.ReadFile(filepath.Join(s.record.dir(), "console.log"))
	err := fmt.Errorf("%w%s", problem, bootProblem(string(text)))
	if strings.Contains(string(text), "Too many open files") {
		return diag.At(diag.Pos{}, err).WithHint("raise the limit: sysctl fs.inotify.max_user_instances=1024")
	}
	return err
}

// bootProblem returns the line of a console that has the reason of a failure, as lastLine: systemd ends with one that has
// none.
func bootProblem(console string) string {
	found := ""
	for line := range strings.Lines(console) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line == "Exiting PID 1..." || strings.HasPrefix(line, "[!!!!!!]"):
		case !strings.HasPrefix(found, "Failed to") || strings.HasPrefix(line, "Failed to"):
			found = line
		}
	}
	return lastLine(found)
}

// initOf returns the process in a control group that is process 1 of a container, 0 if there is none.
func initOf(group string) int {
	text, _ := os.ReadFile(group)
	for number := range strings.FieldsSeq(string(text)) {
		status, _ := os.ReadFile("/proc/" + number + "/status")
		for line := range strings.Lines(string(status)) {
			numbers := strings.Fields(line)
			if len(numbers) > 2 && numbers[0] == "NSpid:" && numbers[len(numbers)-1] == "1" {
				pid, _ := strconv.Atoi(number)
				return pid
			}
		}
	}
	return 0
}

// missingCapabilities returns the capabilities that a process cannot have, as setpriv takes them. A command must not
// have them either: it could set the clock of the host.
func missingCapabilities(pid int) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	last, _ := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	highest, _ := strconv.Atoi(strings.TrimSpace(string(last)))
	list := "+all"
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "CapBnd:"); ok {
			set, _ := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
			for n := 0; n <= highest; n++ {
				if set>>n&1 == 0 {
					list += ",-cap_" + strconv.Itoa(n)
				}
			}
		}
	}
	return list
}

func (s *nspawnSystem) Exec(ctx context.Context, c Cmd) (int, error) {
	env := environ(c, os.Getenv("TERM"))
	if s.proxy != nil {
		env = append(s.proxy.environ(), env...)
	}
	argv := []string{
		"-c", `echo $$ > "$0" || exit 125; exec "$@"`, s.group("exec/cgroup.procs"),
		"nsenter", "-t", strconv.Itoa(s.init), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "--",
		"/usr/bin/setpriv", "--pdeathsig", "KILL", "--inh-caps=-all", "--bounding-set=" + s.caps, "/usr/bin/env", "-i",
	}
	argv = append(argv, env...)
	if c.Terminal {
		// script makes a terminal in the system: that of the host is not known there.
		argv = append(argv, "sh", "-c", `if command -v script > /dev/null; then exec script -qec "$1" /dev/null; else shift; exec "$@"; fi`, "sh", shellWords(c.Argv))
	}
	return runCommand(ctx, exec.CommandContext(ctx, "sh", append(argv, c.Argv...)...), c)
}

// shutDown ends the system as an operator does it. One that does not end is ended by the holder.
func (s *nspawnSystem) shutDown(ctx context.Context) {
	s.stopProxy()
	within, cancel := context.WithTimeout(ctx, bootTime/2)
	defer cancel()
	_, _ = s.Exec(within, Cmd{Argv: []string{"systemctl", "poweroff"}})
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for within.Err() == nil {
		text, err := os.ReadFile(s.groupOfSystem("cgroup.events"))
		if err != nil || strings.Contains(string(text), "populated 0") {
			return
		}
		select {
		case <-within.Done():
		case <-ticks.C:
		}
	}
}

func (s *nspawnSystem) Reboot(ctx context.Context) error {
	s.shutDown(ctx)
	if err := s.ask("reboot"); err != nil {
		return err
	}
	return s.booted(ctx)
}

func (s *nspawnSystem) Snapshot(ctx context.Context) error {
	s.shutDown(ctx)
	if err := s.ask("snapshot"); err != nil {
		return err
	}
	return s.booted(ctx)
}

func (s *nspawnSystem) Restore(ctx context.Context) error {
	s.stopProxy()
	if err := s.ask("restore"); err != nil {
		return err
	}
	return s.booted(ctx)
}

func (s *nspawnSystem) Keep(context.Context) error {
	s.stopProxy()
	if s.holder == nil {
		return nil
	}
	return s.ask("keep")
}

func (s *nspawnSystem) Remove(context.Context) error {
	s.stopProxy()
	if s.holder == nil {
		return nspawn{}.Reclaim(s.record)
	}
	_ = s.in.Close()
	if err := s.holder.Wait(); err != nil {
		return nspawn{}.Reclaim(s.record)
	}
	return nil
}
