// Package ssh is ccm ssh: it runs ccm on other machines through the ssh command of the user.
package ssh

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/ssh"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// exitUnreachable is the exit status of ssh if a host was not reached, or did not finish in time.
const exitUnreachable = 5

// sshFlags are the flags of ssh.
type sshFlags struct {
	hosts, command, become, remoteDir, siteName string
	serial, maxFailed                           string
	binaries, inventories                       []string
	parallel                                    int
	timeout, connectTimeout                     time.Duration
	sudo, askPassword, listHosts                bool
	output                                      cli.Choice
	newRoot                                     func(args []string) *cobra.Command // that knows the command of args
}

// remoteCommands are the commands that can be run on other machines.
var remoteCommands = []string{"run", "apply", "plan", "facts", "drift", "status", "ensure", "history", "diff", "undo", "restore", "prune", "test", "import", "doctor", "version"}

// Command returns ccm ssh. newRoot makes a root command that reads the command lines for other
// machines.
func Command(e *cli.Env, newRoot func(args []string) *cobra.Command) *cobra.Command {
	f := &sshFlags{newRoot: newRoot, output: *cli.NewChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "ssh HOST... -- COMMAND [ARG...]",
		Short: "Run ccm on other machines over your own ssh",
		Long: `Run ccm on other machines over your own ssh.

  ccm ssh web1 web2 -- run site/
  ccm ssh --hosts hosts.txt --sudo -- plan site/
  ccm ssh -i inventory.ini 'web:!old' --list-hosts
  ccm ssh -i inventory.ini 'web:!old' -- run site/
  ccm ssh web1 -- facts os.name

It calls ssh, so ~/.ssh/config, agents, jump hosts and known_hosts work as configured.
The first time, it copies ccm to ~/.cache/ccm on the host. After run, plan, prune and
test, the site directory or script is copied as a bundle; FILE - is a script on
standard input. The paths --out, --like and --against of import machine are local,
with one directory below --out for each host. All other paths are on the hosts.

Supported commands: ` + strings.Join(remoteCommands, ", ") + `

Exit status: the worst of all hosts; 5 if a host could not be reached or exceeded
--timeout.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if f.listHosts {
				if dash >= 0 {
					args = args[:dash]
				}
				return f.printHosts(cmd.Context(), e, args)
			}
			if dash < 0 || dash == len(args) {
				return diag.At(diag.Pos{}, diag.Expected("-- and a ccm command after the hosts")).WithHint("%s web1 -- run site/", cmd.CommandPath())
			}
			if helped, err := f.help(cmd, e, args[dash:]); helped || err != nil {
				return err
			}
			return runSSH(cmd.Context(), e, f, args[:dash], args[dash:])
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.hosts, "hosts", "", "read hosts from `FILE` (- is standard input), with name=value facts")
	fs.StringArrayVarP(&f.inventories, "inventory", "i", nil, "Ansible inventory `FILE` or directory; HOSTs are patterns (repeatable)")
	fs.BoolVar(&f.listHosts, "list-hosts", false, "list the selected hosts with address and user, then exit")
	fs.BoolVar(&f.sudo, "sudo", false, "run as root on the hosts with sudo")
	fs.BoolVar(&f.askPassword, "ask-sudo-pass", false, "ask once for the sudo password")
	fs.StringVar(&f.become, "become", "", "run as root on the hosts with `COMMAND`, such as doas")
	fs.IntVarP(&f.parallel, "parallel", "j", 32, "run on at most `N` hosts at a time")
	fs.StringVar(&f.serial, "serial", "0", "batches of `N` hosts, or N%")
	fs.StringVar(&f.maxFailed, "max-failed", "", "begin with no further host once more than `N`, or N%, failed")
	cli.DurationVar(fs, &f.timeout, "timeout", 0, "time limit `DURATION` for each host")
	cli.DurationVar(fs, &f.connectTimeout, "connect-timeout", time.Minute, "connection timeout `DURATION` (0 for none)")
	fs.Var(&f.output, "output", "output format: text or json")
	fs.StringVar(&f.command, "ssh-command", "", "use `COMMAND` instead of ssh (default CCM_SSH)")
	fs.StringArrayVar(&f.binaries, "binaries", nil, "find ccm for other systems, as ccm-linux-arm64, in `DIR` (repeatable)")
	fs.StringVar(&f.remoteDir, "remote-dir", "", "install ccm to `DIR` on the hosts")
	fs.StringVar(&f.siteName, "site-name", "", "`NAME` of the site in the history of the hosts")
	return cmd
}

// runSSH runs a command of ccm on hosts, and prints their results.
func runSSH(ctx context.Context, e *cli.Env, f *sshFlags, names, args []string) error {
	hosts, err := f.hostList(ctx, e, names)
	if err != nil {
		return err
	}
	c, err := f.client(e, len(hosts))
	if err != nil {
		return err
	}
	within, cancel := e.Stop.Context(ctx)
	i, args, err := f.importer(e, hosts, args)
	if err != nil {
		return err
	}
	c.Request, c.Bundle, err = f.request(within, e, args, slices.ContainsFunc(hosts, func(h ssh.Host) bool { return len(h.Facts) > 0 }))
	cancel()
	if err != nil {
		return err
	}
	many := ssh.Schedule{Parallel: f.parallel, MaxFailed: -1, Stop: e.Stop}
	if f.parallel < 1 {
		return diag.Errorf(diag.Pos{}, "-j: %w", diag.MustBe("at least 1").Got("%d", f.parallel))
	}
	serial, err := signed.ParseShare(f.serial)
	if err != nil {
		return fmt.Errorf("--serial: %w", err)
	}
	many.Serial = serial.Of(len(hosts))
	if f.serial != "0" {
		many.Serial = max(many.Serial, 1)
	}
	if f.maxFailed != "" {
		most, err := signed.ParseShare(f.maxFailed)
		if err != nil {
			return fmt.Errorf("--max-failed: %w", err)
		}
		many.MaxFailed = most.Of(len(hosts))
	}
	text := ssh.NewTextReport(e.Stdout, e.Stderr, hosts)
	text.Digest = digestOf(args[0])
	var report ssh.Report = text
	if f.output.Value == "json" {
		report = &ssh.JSONReport{Out: &ssh.LineWriter{W: e.Stdout.Unwrap()}}
	}
	progress := newSSHProgress(e, len(hosts))
	worst := cli.ExitOK
	left := many.Run(hosts, ssh.Failed, func(h ssh.Host) ssh.Result {
		progress.begin(h.Name)
		return i.run(ctx, e.Stop, c, h, func(l ssh.Line) { report.Line(h, l) })
	}, func(r ssh.Result) {
		worst = worse(worst, exitOfHost(r))
		progress.end(r.Host.Name)
		report.Ended(r)
	})
	progress.close()
	report.End(left)
	select {
	case <-e.Stop:
		return cli.Status(cli.ExitInterrupted)
	default:
	}
	if worst == cli.ExitOK && len(left) > 0 {
		worst = cli.ExitUsage
	}
	if worst != cli.ExitOK {
		return cli.Status(worst)
	}
	return nil
}

// exitOfHost returns the exit status that a host stands for.
func exitOfHost(r ssh.Result) int {
	switch {
	case r.Unreachable, r.Late:
		return exitUnreachable
	case r.Err != nil && r.Exit == cli.ExitOK:
		return cli.ExitUsage
	}
	return r.Exit
}

// exitsBySeverity lists the exit statuses, the least severe first.
var exitsBySeverity = []int{cli.ExitOK, cli.ExitChanges, cli.ExitUsage, cli.ExitFailed, cli.ExitChanges | cli.ExitFailed, cli.ExitInterrupted, exitUnreachable}

// worse returns the worse of two exit statuses. An unknown status is as bad as a failure.
func worse(a, b int) int {
	rank := func(code int) int {
		if i := slices.Index(exitsBySeverity, code); i >= 0 {
			return i
		}
		return slices.Index(exitsBySeverity, cli.ExitFailed)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// client returns the client that connects to the hosts.
func (f *sshFlags) client(e *cli.Env, hosts int) (*ssh.Client, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "ccm")
	folders := append(slices.Clone(f.binaries), filepath.Dir(own), filepath.Join(cache, "bin", e.Build.Version))
	c := &ssh.Client{
		Command: []string{"ssh"}, ControlDir: ssh.ControlDirectory(cache), RemoteDir: f.remoteDir, Timeout: f.timeout,
		// Many that ask at the same time would be answered in the wrong order.
		Interactive: hosts == 1 && terminal.IsTerminal(e.Stdin),
		Programs:    &ssh.Programs{Own: own, System: ssh.System{OS: runtime.GOOS, Arch: runtime.GOARCH}, Folders: folders, Cache: cache},
	}
	for flag, d := range map[string]time.Duration{"timeout": f.timeout, "connect-timeout": f.connectTimeout} {
		if d < 0 {
			return nil, diag.Errorf(diag.Pos{}, "--%s: %w", flag, diag.Expected("0 or more").Got("%s", d))
		}
	}
	if c.ConnectTimeout = f.connectTimeout; c.Interactive {
		c.ConnectTimeout = 0 // a person who is asked needs time
	}
	command := f.command
	if command == "" {
		command = os.Getenv("CCM_SSH")
	}
	if command != "" {
		if c.Command, err = shellquote.Split(command); err != nil || len(c.Command) == 0 {
			return nil, diag.Errorf(diag.Pos{}, "--ssh-command: %w", diag.Expected("a command").Got("%q", command))
		}
	}
	if _, err := exec.LookPath(c.Command[0]); err != nil {
		return nil, diag.At(diag.Pos{}, diag.ProgramNotFound("SSH client %s", c.Command[0])).WithHint("install the OpenSSH client, or set another with --ssh-command")
	}
	if f.remoteDir != "" {
		if err := ssh.CheckRemoteDir(f.remoteDir); err != nil {
			return nil, fmt.Errorf("--remote-dir: %w", err)
		}
	}
	return c, f.setBecome(e, c)
}

// setBecome sets the way in which ccm becomes root on the hosts.
func (f *sshFlags) setBecome(e *cli.Env, c *ssh.Client) error {
	switch {
	case f.become != "" && (f.sudo || f.askPassword):
		return diag.Conflicting("--become", "--sudo")
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
		password, err := e.ReadHidden("sudo password on the hosts: ", "use only --sudo if sudo does not ask for a password")
		if err != nil {
			return fmt.Errorf("--ask-sudo-pass: %w", err)
		}
		if c.Password = string(password); c.Password == "" {
			return diag.Errorf(diag.Pos{}, "--ask-sudo-pass: %w", diag.Expected("a password").Found("none")).WithHint("use only --sudo if sudo does not ask for a password")
		}
		_ = e.Secrets.Add(c.Password) // a password too short for masking is sent all the same
		c.Become = ssh.SudoWithPassword()
	case f.sudo:
		c.Become = []string{"sudo", "-n"}
	}
	return nil
}

// ServeCommand returns serve-stdio, the other side of ssh.
func ServeCommand(e *cli.Env) *cobra.Command {
	digest := false
	cmd := &cobra.Command{
		Use: "serve-stdio", Hidden: true, Args: cobra.NoArgs,
		Short: "Serve ccm ssh (internal)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			own, err := os.Executable()
			if err != nil {
				return err
			}
			if digest {
				sum, err := ssh.DigestOfFile(own)
				if err == nil {
					terminal.Fprintf(e.Stdout, "%s\n", sum)
				}
				return err
			}
			cache, err := os.UserCacheDir()
			if err != nil {
				return err
			}
			s := &ssh.Server{Executable: own, Version: e.Build.Version, Cache: filepath.Join(cache, "ccm"), In: e.Stdin, Out: e.Stdout.Unwrap()}
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			return s.Serve(ctx)
		},
	}
	cmd.Flags().BoolVar(&digest, "digest", false, "print the SHA-256 of this program instead")
	return cmd
}
