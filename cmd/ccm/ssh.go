package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	xterm "golang.org/x/term"

	"github.com/luaccm/ccm/fleet/ssh"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/terminal"
)

// exitUnreachable is the exit status of ssh if a host was not reached.
const exitUnreachable = 5

// sshFlags are the flags of ssh.
type sshFlags struct {
	hosts, command, become, remoteDir, siteName string
	serial, maxFailed                           string
	binaries                                    []string
	parallel                                    int
	timeout                                     time.Duration
	sudo, askPassword                           bool
	output                                      choice
}

// remoteCommands are the commands that can be run on other machines.
var remoteCommands = []string{"run", "apply", "plan", "facts", "drift", "status", "ensure", "history", "undo", "doctor", "version"}

func newSSHCommand(e *env) *cobra.Command {
	f := &sshFlags{output: *newChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "ssh HOST... -- COMMAND [ARG...]",
		Short: "Run ccm on other machines, by way of your own ssh",
		Long: `Run a command of ccm on other machines, by way of your own ssh:

  ccm ssh web1 web2 -- run site/
  ccm ssh --hosts hosts.txt --sudo -- plan site/
  ccm ssh web1 -- facts os.name

It calls ssh, so that ~/.ssh/config, agents, jump hosts and known_hosts are as
you have set them up. The first time it stores ccm in ~/.cache/ccm on the host.
After run and plan, the folder of a site or its script is taken there as a
bundle; all other paths are those of the host.

These commands may follow: ` + strings.Join(remoteCommands, ", ") + `.

Exit status: the worst of all hosts, 5 if one could not be reached.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 || dash == len(args) {
				return diag.Errorf(diag.Pos{}, "want -- and a command of ccm behind the hosts").WithHint("%s web1 -- run site/", cmd.CommandPath())
			}
			return runSSH(cmd.Context(), e, f, args[:dash], args[dash:])
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.hosts, "hosts", "", "further hosts from `FILE`: one a line, with facts as name=value behind it; - is standard input")
	fs.BoolVar(&f.sudo, "sudo", false, "run as root there, by way of sudo")
	fs.BoolVar(&f.askPassword, "ask-sudo-pass", false, "ask once for the password of sudo")
	fs.StringVar(&f.become, "become", "", "run as root there, by way of `COMMAND`, such as doas")
	fs.IntVarP(&f.parallel, "parallel", "j", 32, "work on `N` hosts at a time")
	fs.StringVar(&f.serial, "serial", "0", "work on `N` hosts, or N%, and begin the next when all of them have ended")
	fs.StringVar(&f.maxFailed, "max-failed", "", "begin no other host when more than `N`, or N%, have failed")
	fs.DurationVar(&f.timeout, "timeout", 0, "end what takes longer than `DURATION` on one host")
	fs.Var(&f.output, "output", "how to report: text or json")
	fs.StringVar(&f.command, "ssh-command", "", "call `COMMAND` instead of ssh (default CCM_SSH)")
	fs.StringArrayVar(&f.binaries, "binaries", nil, "look in `DIR` for ccm-linux-arm64 and the like, for hosts of another system (may be given again)")
	fs.StringVar(&f.remoteDir, "remote-dir", "", "store ccm in `DIR` on the hosts")
	fs.StringVar(&f.siteName, "site-name", "", "know the site by `NAME` on the hosts, wherever it lies here")
	return cmd
}

// runSSH is ssh.
func runSSH(ctx context.Context, e *env, f *sshFlags, names, args []string) error {
	hosts, err := f.hostList(e, names)
	if err != nil {
		return err
	}
	c, err := f.client(e, len(hosts))
	if err != nil {
		return err
	}
	within, cancel := e.UntilStopped(ctx)
	c.Request, c.Bundle, err = f.request(within, e, args, slices.ContainsFunc(hosts, func(h ssh.Host) bool { return len(h.Facts) > 0 }))
	cancel()
	if err != nil {
		return err
	}
	many := ssh.Many{Parallel: f.parallel, MaxFailed: -1, Stop: e.Stop}
	if f.parallel < 1 {
		return diag.Errorf(diag.Pos{}, "-j: want at least 1, got %d", f.parallel)
	}
	serial, err := ssh.ParseShare(f.serial)
	if err != nil {
		return fmt.Errorf("--serial: %w", err)
	}
	many.Serial = serial.Of(len(hosts))
	if f.serial != "0" {
		many.Serial = max(many.Serial, 1)
	}
	if f.maxFailed != "" {
		most, err := ssh.ParseShare(f.maxFailed)
		if err != nil {
			return fmt.Errorf("--max-failed: %w", err)
		}
		many.MaxFailed = most.Of(len(hosts))
	}
	var report ssh.Report = ssh.NewTextReport(e.stdout, e.stderr, hosts)
	if f.output.value == "json" {
		report = &ssh.JSONReport{Out: &ssh.LineWriter{W: e.stdout.Unwrap()}}
	}
	worst := exitOK
	left := many.Run(hosts, ssh.Failed, func(h ssh.Host) ssh.Result {
		return c.Run(ctx, e.Stop, h, func(l ssh.Line) { report.Line(h, l) })
	}, func(r ssh.Result) {
		worst = worse(worst, exitOfHost(r))
		report.Ended(r)
	})
	report.End(left)
	select {
	case <-e.Stop:
		return status(exitInterrupted)
	default:
	}
	if worst == exitOK && len(left) > 0 {
		worst = exitUsage
	}
	if worst != exitOK {
		return status(worst)
	}
	return nil
}

// exitOfHost returns the exit status that a host stands for.
func exitOfHost(r ssh.Result) int {
	switch {
	case r.Unreachable:
		return exitUnreachable
	case r.Err != nil && r.Exit == exitOK:
		return exitUsage
	}
	return r.Exit
}

// badness is the exit statuses from good to bad.
var badness = []int{exitOK, exitChanges, exitUsage, exitFailed, exitChanges | exitFailed, exitInterrupted, exitUnreachable}

// worse returns the worse of two exit statuses. One that nobody knows is as bad as a failure.
func worse(a, b int) int {
	rank := func(code int) int {
		if i := slices.Index(badness, code); i >= 0 {
			return i
		}
		return slices.Index(badness, exitFailed)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// hostList returns the hosts of the arguments and of --hosts.
func (f *sshFlags) hostList(e *env, names []string) (hosts []ssh.Host, err error) {
	for _, name := range names {
		if err := ssh.CheckName(name); err != nil {
			return nil, diag.Errorf(diag.Pos{}, "%v", err)
		}
		hosts = append(hosts, ssh.Host{Name: name})
	}
	if f.hosts != "" {
		in, name := io.NopCloser(e.Stdin), "standard input"
		if f.hosts != "-" {
			name = f.hosts
			if in, err = os.Open(f.hosts); err != nil {
				return nil, err
			}
		}
		defer in.Close()
		list, err := ssh.ReadHosts(in, name)
		if err != nil {
			return nil, err
		}
		hosts = append(list, hosts...) // of one that is in both, what the file says counts
	}
	if hosts = ssh.Distinct(hosts); len(hosts) == 0 {
		return nil, diag.Errorf(diag.Pos{}, "want at least one host").WithHint("ccm ssh web1 -- facts")
	}
	return hosts, nil
}

// client returns what reaches the hosts.
func (f *sshFlags) client(e *env, hosts int) (*ssh.Client, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "ccm")
	folders := append(slices.Clone(f.binaries), filepath.Dir(own), filepath.Join(cache, "bin", readBuildInfo().Version))
	c := &ssh.Client{
		Command: []string{"ssh"}, ControlDir: ssh.ControlDirectory(cache), RemoteDir: f.remoteDir, Timeout: f.timeout,
		// Many that ask at the same time would be answered in the wrong order.
		Interactive: hosts == 1 && terminal.IsTerminal(e.Stdin),
		Programs:    &ssh.Programs{Own: own, System: ssh.System{OS: runtime.GOOS, Arch: runtime.GOARCH}, Folders: folders},
	}
	command := f.command
	if command == "" {
		command = os.Getenv("CCM_SSH")
	}
	if command != "" {
		if c.Command, err = shellquote.Split(command); err != nil || len(c.Command) == 0 {
			return nil, diag.Errorf(diag.Pos{}, "--ssh-command: want a command, got %q", command)
		}
	}
	if _, err := exec.LookPath(c.Command[0]); err != nil {
		return nil, diag.Errorf(diag.Pos{}, "%s is not there, and ccm has no SSH of its own", c.Command[0]).WithHint("install OpenSSH's client, or name another with --ssh-command")
	}
	if f.remoteDir != "" {
		if err := ssh.CheckRemoteDir(f.remoteDir); err != nil {
			return nil, fmt.Errorf("--remote-dir: %w", err)
		}
	}
	return c, f.setBecome(e, c)
}

// setBecome sets how ccm becomes root on the hosts.
func (f *sshFlags) setBecome(e *env, c *ssh.Client) error {
	switch {
	case f.become != "" && (f.sudo || f.askPassword):
		return diag.Errorf(diag.Pos{}, "--become and --sudo exclude each other")
	case f.become != "":
		words, err := shellquote.Split(f.become)
		if err == nil {
			err = ssh.CheckBecome(words)
		}
		if err != nil {
			return fmt.Errorf("--become: %w", err)
		}
		c.Become = words
	case f.askPassword:
		w, err := e.openTerminal("--ask-sudo-pass", "sudo that asks for no password needs only --sudo")
		if err != nil {
			return err
		}
		tty, ok := e.Stdin.(*os.File)
		if !ok {
			return errors.New("--ask-sudo-pass: standard input is no terminal")
		}
		terminal.Fprintf(w, "Password of sudo on the hosts: ")
		password, err := xterm.ReadPassword(int(tty.Fd()))
		terminal.Fprintf(w, "\n")
		if err != nil {
			return err
		}
		if c.Password = string(password); c.Password != "" {
			_ = e.Secrets.Add(c.Password) // one that is too short to be masked is none the less sent
		}
		c.Become = ssh.SudoWithPassword()
	case f.sudo:
		c.Become = []string{"sudo", "-n"}
	}
	return nil
}

// request returns what is run on the hosts, with the bundle of the site.
func (f *sshFlags) request(ctx context.Context, e *env, args []string, hasFacts bool) (req ssh.Request, content []byte, err error) {
	name := args[0]
	if !slices.Contains(remoteCommands, name) {
		return req, nil, diag.Errorf(diag.Pos{}, "%s is no command that ccm runs on other machines", name).WithHint("these are: %s", strings.Join(remoteCommands, ", "))
	}
	fs, rest, err := parseRemote(args)
	if err != nil {
		return req, nil, err
	}
	req.Args = slices.Clone(args)
	if hasFacts {
		switch flag := fs.Lookup("facts"); {
		case flag == nil:
			return req, nil, diag.Errorf(diag.Pos{}, "%s takes no facts, and the list of hosts has some", name)
		case flag.Changed:
			return req, nil, diag.Errorf(diag.Pos{}, "--facts does not go with facts in the list of hosts")
		}
	}
	if (name == "run" || name == "apply" || name == "plan") && len(rest) > 0 {
		if req.Bundle, content, err = f.pack(ctx, e, args, rest[0]); err != nil {
			return req, nil, err
		}
		req.Args = slices.Insert(req.Args, 1, "--sha256", req.Bundle.SHA256)
		req.Bundle.Arg += 2
	}
	if f.output.value == "json" && fs.Lookup("output") != nil && !fs.Lookup("output").Changed {
		req.Args = slices.Insert(req.Args, 1, "--output", "json")
		if req.Bundle != nil {
			req.Bundle.Arg += 2
		}
	}
	return req, content, nil
}

// parseRemote reads a command line of ccm, and returns its flags and its other arguments.
func parseRemote(args []string) (*pflag.FlagSet, []string, error) {
	root := newRootCommand(newEnv(strings.NewReader(""), io.Discard, io.Discard, clock))
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return nil, nil, err
	}
	return cmd.Flags(), cmd.Flags().Args(), nil
}

// pack packs the site that an argument names.
func (f *sshFlags) pack(ctx context.Context, e *env, args []string, site string) (*ssh.BundleRef, []byte, error) {
	folder, err := e.BundleFolder(site, nil)
	if err != nil {
		return nil, nil, err
	}
	arg, err := argumentOf(args, site)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	sum, err := bundle.Write(ctx, &b, folder)
	if err != nil {
		return nil, nil, err
	}
	name := f.siteName
	if name == "" {
		if name, err = nameOfSite(folder); err != nil {
			return nil, nil, err
		}
	}
	if err := ssh.CheckSiteName(name); err != nil {
		return nil, nil, fmt.Errorf("--site-name: %w", err)
	}
	return &ssh.BundleRef{Site: name, SHA256: sum.SHA256, Size: int64(b.Len()), Arg: arg}, b.Bytes(), nil
}

// argumentOf returns which argument is the site: another may read the same, as the value of a flag.
func argumentOf(args []string, site string) (int, error) {
	const token = "\x00site"
	for i, arg := range args {
		if i == 0 || arg != site {
			continue
		}
		tried := slices.Clone(args)
		tried[i] = token
		if _, rest, err := parseRemote(tried); err == nil && len(rest) > 0 && rest[0] == token {
			return i, nil
		}
	}
	return 0, diag.Errorf(diag.Pos{}, "want the site as an argument by itself, got %q", site)
}

// notInName is what a folder may be called and a site on the hosts not.
var notInName = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// nameOfSite returns by which name the hosts know a site: that of its folder, and of the path to
// it. Another folder of the same name is another site, and so is another script in the folder.
func nameOfSite(folder bundle.Folder) (string, error) {
	abs, err := filepath.Abs(folder.Dir)
	if err != nil {
		return "", err
	}
	if usual, err := bundle.FindEntry(os.DirFS(folder.Dir)); folder.Entry != "" && (err != nil || usual != folder.Entry) {
		abs = filepath.Join(abs, folder.Entry)
	}
	sum := sha256.Sum256([]byte(abs))
	base := strings.Trim(notInName().ReplaceAllString(filepath.Base(abs), "_"), ".-")
	return base[:min(len(base), 60)] + "_" + hex.EncodeToString(sum[:4]), nil
}

// newServeCommand returns serve-stdio, the other side of ssh.
func newServeCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "serve-stdio", Hidden: true, Args: cobra.NoArgs,
		Short: "Answer ccm ssh, which calls this",
		RunE: func(cmd *cobra.Command, _ []string) error {
			own, err := os.Executable()
			if err != nil {
				return err
			}
			cache, err := os.UserCacheDir()
			if err != nil {
				return err
			}
			s := &ssh.Server{Executable: own, Version: readBuildInfo().Version, Cache: filepath.Join(cache, "ccm"), In: e.Stdin, Out: e.stdout.Unwrap()}
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			return s.Serve(ctx)
		},
	}
}
