package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/encryption"
)

func newEnrolCommand(e *cli.Env) *cobra.Command {
	m := &enrol.Machine{}
	name, environment, tokenFile := "", "", ""
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "enrol",
		Short: "Request enrolment in a fleet, and wait for approval",
		Long: `Request enrolment in a fleet, and wait until an operator approves it.

  ccm agent enrol --servers tls://nats1.example.net --ca ca.pem \
    --credentials enrol.creds --signers allowed_signers --environment prod

The node's key is created here and never leaves the machine. The operator compares
the printed fingerprint with the one that ccm fleet enrol shows.

If the command is interrupted, run it again: it continues with the same key.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m.Request.Name, m.Request.Environment = name, environment
			if tokenFile != "" {
				text, err := e.Files.ReadFile(tokenFile)
				if err != nil {
					return err
				}
				if m.Token, err = enrol.ParseToken(string(text)); err != nil {
					return err
				}
			}
			return enrolMachine(cmd.Context(), e, m, wait)
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&m.Servers, "servers", nil, "comma-separated `URLS` of the servers: tls://HOST")
	fs.StringVar(&m.CA, "ca", "", "`FILE` ca.pem of the fleet")
	fs.StringVar(&m.Credentials, "credentials", "", "`FILE` enrol.creds of the fleet")
	fs.StringVar(&m.Signers, "signers", "", "`FILE` allowed_signers: trusted signers of releases and jobs")
	fs.StringVar(&environment, "environment", "", "request environment `NAME`")
	fs.StringVar(&name, "name", "", "request node `NAME` (default: host name, with - for dots)")
	fs.StringVar(&tokenFile, "token-file", "", "`FILE` with a token for automatic approval")
	fs.StringVar(&m.Directory, "directory", enrol.Directory, "directory `DIR` for the node's credentials")
	cli.DurationVar(fs, &wait, "wait", 0, "give up after `DURATION` (default never)")
	for _, flag := range []string{"servers", "ca", "credentials", "environment"} {
		_ = cmd.MarkFlagRequired(flag)
	}
	return cmd
}

func enrolMachine(ctx context.Context, e *cli.Env, m *enrol.Machine, wait time.Duration) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	r := &m.Request
	if r.Name == "" {
		r.Name = subject.NodeName(host)
	}
	for what, name := range map[string]string{"node": r.Name, "environment": r.Environment} {
		if err := subject.CheckName(what, name); err != nil {
			return err
		}
	}
	for i, s := range m.Servers {
		if !strings.Contains(s, "://") {
			m.Servers[i] = "tls://" + s
		} else if !strings.HasPrefix(s, "tls://") {
			return diag.Errorf(diag.Pos{}, "--servers: %w", diag.Expected("tls://HOST").Got("%q", s))
		}
	}
	r.Host, r.Version = host, e.Version
	r.Machine, r.HostKey = firstLine("/etc/machine-id"), firstLine(encryption.HostKey+".pub")
	m.Identity = filepath.Join(m.Directory, encryption.IdentityFile)
	if filepath.Clean(m.Directory) == enrol.Directory {
		m.Identity = filepath.Join(encryption.SystemDir, encryption.IdentityFile) // the identity of the machine
	}
	m.Host, m.Clock = cli.Machine(e), e.Clock
	m.Tell = func(format string, args ...any) { cli.Say(e, format, args...); _ = e.Stderr.Flush() }
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	if wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, wait)
		defer stop()
	}
	n, err := m.Ask(ctx)
	if errors.Is(err, enrol.ErrNoAnswer) && errors.Is(ctx.Err(), context.Canceled) {
		cli.Say(e, "%s.", err)
		return cli.Status(cli.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	cli.Say(e, "Enrolled as node %s of %s. Credentials in %s", n.Name, n.Environment, filepath.Join(m.Directory, enrol.CredentialsFile))
	return nil
}

// firstLine returns the first line of a file of this machine, "" if there is none.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
