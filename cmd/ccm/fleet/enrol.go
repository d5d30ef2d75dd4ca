package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

func newEnrolCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "enrol",
		Short: "List, approve and reject enrolment requests",
		Long: `List, approve and reject enrolment requests.

  ccm fleet enrol
  ccm fleet enrol approve web1 --fingerprint SHA256:mVPw...
  ccm fleet enrol token --name 'web*' --environment prod --uses 20 --expires 24h

A machine requests enrolment with ccm agent enrol, which prints the fingerprint of its
key. Compare the fingerprint before you approve: anybody can request any name.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return listRequests(cmd.Context(), e, f, output.Value) },
	}
	cmd.Flags().Var(output, "output", "output format: text or json")
	cmd.AddCommand(newApproveCommand(e, f), newDenyCommand(e, f), newTokenCommand(e, f))
	return cmd
}

// enrolmentLine is a request in JSON.
type enrolmentLine struct {
	enrol.Request
	Fingerprint string    `json:"fingerprint"`
	StoredAt    time.Time `json:"asked"`
	Twice       bool      `json:"asked_twice"`
	Taken       bool      `json:"taken"`
	Old         bool      `json:"asked_long_ago"`
}

func listRequests(ctx context.Context, e *cli.Env, f *fleetdir.Flags, form string) error {
	d, err := f.DeskOf(e, identity.Admin)
	if err != nil {
		return err
	}
	defer d.Cluster.Close()
	list, dropped, err := d.Pending(ctx)
	if err != nil {
		return err
	}
	if dropped > 0 {
		cli.Say(e, "Skipped %d requests that are not signed by their keys.", dropped)
	}
	rows := [][]string{{"NAME", "ENVIRONMENT", "FINGERPRINT", "ADDRESS", "ASKED", ""}}
	for _, p := range list {
		if form == "json" {
			if err := e.Print().Line(enrolmentLine{p.Request, p.Fingerprint(), p.StoredAt, p.Twice, p.Taken, p.IsOld(e.Clock.Now())}); err != nil {
				return err
			}
			continue
		}
		note := ""
		switch {
		case p.Twice:
			note = "name requested twice"
		case p.Taken:
			note = "a node with this name exists"
		}
		if p.IsOld(e.Clock.Now()) {
			note = strings.TrimPrefix(note+", old request: remove it with ccm fleet enrol deny", ", ")
		}
		rows = append(rows, []string{p.Name, p.Environment, p.Fingerprint(), p.Address, ago(e.Clock.Now().Sub(p.StoredAt)) + " ago", note})
	}
	switch {
	case form == "json":
	case len(list) == 0:
		cli.Say(e, "No pending enrolment requests.")
	default:
		e.Print().Table(rows)
	}
	return nil
}

func newApproveCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	a := enrol.Approval{}
	watch, tokenFile := false, ""
	var out changePrinter
	cmd := &cobra.Command{
		Use:   "approve NAME",
		Short: "Approve an enrolment request",
		Long: `Approve an enrolment request: sign a JWT for the machine's key, and store it for the
machine to fetch.

  ccm fleet enrol approve web1 --fingerprint SHA256:mVPw...

With --watch --token-file FILE, all machines with one of the tokens in FILE are
approved until you stop the command. Several can run at once.`,
		Args: cli.WantArguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case watch && (tokenFile == "" || len(args) > 0):
				return diag.Errorf(diag.Pos{}, "--watch: %w", diag.Expected("--token-file FILE without a name")).WithHint("%s --watch --token-file FILE", cmd.CommandPath())
			case watch:
				return watchRequests(cmd.Context(), e, f, out, tokenFile)
			case len(args) == 0:
				return diag.At(diag.Pos{}, diag.Expected("the name of a requesting machine")).WithHint("list requests with: ccm fleet enrol")
			}
			return approve(cmd.Context(), e, f, out, args[0], a)
		},
	}
	out = addChangePrinter(cmd)
	fs := cmd.Flags()
	fs.StringVar(&a.Fingerprint, "fingerprint", "", "`FINGERPRINT` printed on the machine, or a prefix of it")
	fs.StringVar(&a.Name, "as", "", "override the requested node `NAME`")
	fs.StringVar(&a.Environment, "environment", "", "override the requested environment `NAME`")
	fs.StringArrayVar(&a.Tags, "tag", nil, "tag `NAME=VALUE` for recipients of secrets (repeatable)")
	fs.BoolVar(&a.Replace, "replace", false, "revoke an existing node with this name")
	fs.BoolVar(&watch, "watch", false, "keep approving requests with a token")
	fs.StringVar(&tokenFile, "token-file", "", "`FILE` of tokens written by ccm fleet enrol token")
	cli.CompleteFlag(e, cmd, "environment", f.CompleteEnvironments(e))
	cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return pendingNames(cmd.Context(), e, f), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// pendingNames returns the names that machines ask for.
func pendingNames(ctx context.Context, e *cli.Env, f *fleetdir.Flags) (names []string) {
	d, err := f.DeskOf(e, identity.Admin)
	if err != nil {
		return nil
	}
	defer d.Cluster.Close()
	list, _, err := d.Pending(ctx)
	if err != nil {
		return nil
	}
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

func approve(ctx context.Context, e *cli.Env, f *fleetdir.Flags, out changePrinter, name string, a enrol.Approval) error {
	d, err := f.DeskOf(e, identity.Admin)
	if err != nil {
		return err
	}
	defer d.Cluster.Close()
	p, err := find(ctx, d, name, a.Fingerprint)
	if err != nil {
		return err
	}
	node, replaced, err := d.Approve(ctx, p, a)
	if err != nil {
		return err
	}
	if replaced != nil {
		c := nodeChange(removed, replaced)
		if err := out.print(e, c, fmt.Sprintf("node %s with the fingerprint %s", c.Name, c.Fingerprint)); err != nil {
			return err
		}
	}
	c := fleetChange{Change: created, Kind: "node", Name: node.Name, Environment: node.Environment, Fingerprint: p.Fingerprint()}
	if err := out.print(e, c, nodeText(c)); err != nil {
		return err
	}
	if a.Fingerprint == "" {
		cli.Say(e, "Its fingerprint is %s: compare it with the one printed on the machine.", p.Fingerprint())
	}
	return nil
}

// find returns the request for a name.
func find(ctx context.Context, d *enrol.Desk, name, fingerprint string) (*enrol.OpenRequest, error) {
	list, _, err := d.Pending(ctx)
	if err != nil {
		return nil, err
	}
	p, err := enrol.Find(list, name, fingerprint)
	if err != nil {
		var names []string
		for _, p := range list {
			names = append(names, p.Name)
		}
		out := &diag.Error{Err: fmt.Errorf("%s: %w", name, err)}
		if errors.Is(err, enrol.ErrNoRequest) {
			out.Hint = diag.DidYouMean(name, names)
		}
		return nil, out
	}
	return p, nil
}

// watchPause is the time between two looks for new requests.
const watchPause = 2 * time.Second

func watchRequests(ctx context.Context, e *cli.Env, f *fleetdir.Flags, out changePrinter, tokenFile string) error {
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	d, err := f.DeskOf(e, identity.Admin)
	if err != nil {
		return err
	}
	defer d.Cluster.Close()
	reported := map[string]bool{} // refused requests, to report each once
	trouble := ""                 // the last error, to report it once while it stays the same
	for {
		text, err := e.Files.ReadFile(tokenFile) // again: tokens are added
		if err != nil {
			return err
		}
		tokens, err := enrol.ReadTokens(text)
		if err != nil {
			return fmt.Errorf("%s: %w", tokenFile, err)
		}
		err = d.ApproveByToken(ctx, tokens, func(p enrol.OpenRequest, err error) {
			switch {
			case err == nil:
				c := fleetChange{Change: created, Kind: "node", Name: p.Name, Environment: p.Environment, Fingerprint: p.Fingerprint()}
				_ = out.print(e, c, nodeText(c)) // the machine is a node all the same
				_ = e.Stdout.Flush()
			case !reported[p.Key]:
				reported[p.Key] = true
				cli.Say(e, "%s was not approved: %s", p.Name, err)
			}
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			trouble = ""
		case trouble != err.Error():
			trouble = err.Error()
			cli.Say(e, "%s; retrying", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchPause):
		}
	}
}

func newDenyCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	fingerprint, why := "", ""
	var out changePrinter
	cmd := &cobra.Command{
		Use:   "deny NAME",
		Short: "Reject an enrolment request",
		Args:  cli.WantArguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := f.DeskOf(e, identity.Admin)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			p, err := find(cmd.Context(), d, args[0], fingerprint)
			if err != nil {
				return err
			}
			if err := d.Deny(cmd.Context(), p, why); err != nil {
				return err
			}
			c := fleetChange{Change: removed, Kind: "request", Name: p.Name, Environment: p.Environment, Fingerprint: p.Fingerprint()}
			return out.print(e, c, fmt.Sprintf("request of %s, %s", c.Name, c.Fingerprint))
		},
	}
	out = addChangePrinter(cmd)
	cmd.Flags().StringVar(&fingerprint, "fingerprint", "", "`FINGERPRINT` of the machine, or a prefix of it")
	cmd.Flags().StringVar(&why, "reason", "no reason given", "reason shown on the machine, as `TEXT`")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return pendingNames(cmd.Context(), e, f), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func newTokenCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	t := enrol.Token{}
	file, life := "", 24*time.Hour
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create a token for automatic approval",
		Long: `Create a token for automatic approval, for images and cloud-init. It is printed, and
added to the file that ccm fleet enrol approve --watch --token-file reads.

  ccm fleet enrol token --name 'web*' --environment prod --uses 20 --expires 24h

Machines use it with ccm agent enrol --token-file. Keep both files as secret as a
private key.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			dir, err := f.OpenAs(e, identity.Admin)
			if err != nil {
				return err
			}
			if t.Environment, err = environmentIn(dir, t.Environment); err != nil {
				return err
			}
			if life < time.Second {
				return diag.Errorf(diag.Pos{}, "--expires: %w", diag.Expected("a duration such as 24h").Got("%s", life))
			}
			t.Expires = e.Clock.Now().Add(life).UTC().Truncate(time.Second)
			token, err := enrol.NewToken(t)
			if err != nil {
				return err
			}
			if file == "" {
				file = dir.TokenFile()
			}
			if err := addToken(e, file, token); err != nil {
				return err
			}
			if output.Value == "json" {
				return e.Print().JSON(fleetChange{Change: created, Kind: "token", Name: t.Name, Environment: t.Environment, Token: token.String(), Path: file})
			}
			terminal.Fprintf(e.Stdout, "%s\n", token)
			cli.Say(e, "For %s named %s, of %s, until %s; saved in %s.", words.Count(t.Uses, "machine"), t.Name, t.Environment, t.Expires.Format(time.RFC3339), file)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&t.Name, "name", "", "names of machines, as a `PATTERN` such as 'web*'")
	fs.StringVar(&t.Environment, "environment", "", "environment `NAME` (default: the only one)")
	fs.IntVar(&t.Uses, "uses", 1, "number `N` of machines")
	cli.DurationVar(fs, &life, "expires", life, "validity `DURATION`")
	fs.StringArrayVar(&t.Tags, "tag", nil, "tag `NAME=VALUE` of these nodes (repeatable)")
	fs.StringVar(&file, "token-file", "", "add it to `FILE` (default tokens in the fleet directory)")
	fs.Var(output, "output", "output format: text or json")
	cli.CompleteFlag(e, cmd, "environment", f.CompleteEnvironments(e))
	return cmd
}

// addToken adds a token to a file that only its owner can read.
func addToken(e *cli.Env, file string, t enrol.Token) error {
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: %w", file, diag.OthersCanRead("this file of tokens", info.Mode()))
	}
	return cli.Machine(e).Save(file, append(append(have, line...), '\n'), 0o600)
}

// restoreNodes gives the servers the nodes that only the directory has, and the directory the nodes
// that only the servers have. It returns the number of nodes that the servers got.
func restoreNodes(ctx context.Context, e *cli.Env, out changePrinter, c *cluster.Cluster, noop bool) (int, error) {
	d := &enrol.Desk{Cluster: c, Now: e.Clock.Now}
	restored, err := d.Restore(ctx, noop)
	for _, n := range restored {
		c := fleetChange{Change: created, Kind: "node", Name: n.Name, Environment: n.Environment}
		if err := out.print(e, c, nodeText(c)+", from its copy"); err != nil {
			return len(restored), err
		}
	}
	return len(restored), err
}
