package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/fleet/roster"
	"github.com/luaccm/ccm/fleet/signed"
	"github.com/luaccm/ccm/fleet/where"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site/bundles"
)

// CheckSite checks a site, as ccm lint and ccm test do. If it finds problems, it prints them and returns an error.
type CheckSite func(ctx context.Context, e *cli.Env, site string) error

// releaseFlags are the flags of fleet release.
type releaseFlags struct {
	*fleetdir.Flags
	sign                                                 signFlags
	otherKeys, plain                                     []string
	canary, stages, soak, failed, silent, spread, reason string
	again, noCheck                                       bool
	check                                                CheckSite
	output                                               *cli.Choice
}

func newReleaseCommand(e *cli.Env, fleet *fleetdir.Flags, check CheckSite) *cobra.Command {
	f := &releaseFlags{Flags: fleet, check: check, output: cli.NewChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "release ENVIRONMENT SITE",
		Short: "Release a site to an environment, in stages",
		Long: `Release a site to an environment, in stages. SITE is a directory, script, manifest or
bundle.

  ccm fleet release prod site/ --canary 'labels.role == "canary"' --stages 1%,10%,100% --soak 10m --max-failed 2%
  ccm fleet rollout prod --watch

The site is checked with ccm lint and ccm test, packed, signed and stored; then the first
stage of nodes starts. A stage passes when all its nodes have run the release, failed and
silent nodes are within their limits, and the soak time is over. ccm fleet rollout --watch
starts the next stage.

If newer nodes cannot read the secrets of their tag or environment yet, these secrets
and nodes are listed.

Nodes accept a release only if a trusted signer signed it. The signed documents and the
bundle are also saved in the fleet directory: --again uploads those of the last release
to servers that lost them.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.again {
				return cli.WantArguments(1, 1)(cmd, args)
			}
			return cli.WantArguments(2, 2)(cmd, args)
		},
		ValidArgsFunction: fleet.CompleteEnvironment(e, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			c, err := f.ConnectAs(e, identity.Operator)
			if err != nil {
				return err
			}
			defer c.Close()
			if f.again {
				return f.storeAgain(ctx, e, c, args[0])
			}
			return f.release(ctx, e, c, args[0], args[1])
		},
	}
	fs := cmd.Flags()
	f.sign.add(fs)
	alsoSign(fs, &f.otherKeys)
	fs.StringVar(&f.canary, "canary", "", "first stage: nodes that match `CONDITION`")
	fs.StringVar(&f.stages, "stages", "100%", "further `STAGES`, as percentages of all nodes: 1%,10%,100%")
	fs.StringVar(&f.soak, "soak", "0s", "wait `DURATION` between stages")
	fs.StringVar(&f.failed, "max-failed", "0", "maximum `NUMBER` or percentage of failed nodes, per stage and total")
	fs.StringVar(&f.silent, "max-silent", "5%", "maximum `NUMBER` or percentage of silent nodes in a stage")
	fs.StringVar(&f.spread, "spread", "0s", "spread the starts in a stage over `TIME`")
	fs.StringVar(&f.reason, "reason", "", "record `TEXT` as the reason")
	fs.StringArrayVar(&f.plain, "allow-plain", nil, "include files matching `PATTERN` that look like secrets (repeatable)")
	fs.Var(f.output, "output", "output format: text or json")
	fs.BoolVar(&f.again, "again", false, "upload the last release and its rollout again")
	fs.BoolVar(&f.noCheck, "no-check", false, "skip ccm lint and ccm test")
	return cmd
}

// document returns the release that the flags describe.
func (f *releaseFlags) document() (*signed.Release, error) {
	r := &signed.Release{Reason: f.reason}
	if f.canary != "" {
		if _, err := where.Parse(f.canary); err != nil {
			return nil, fmt.Errorf("--canary: %w", err)
		}
		r.Stages = append(r.Stages, f.canary)
	}
	for stage := range strings.SplitSeq(f.stages, ",") {
		stage = strings.TrimSpace(stage)
		if _, percent, err := signed.ParseStage(stage); err != nil || !percent {
			return nil, diag.Errorf(diag.Pos{}, "--stages: %w", diag.Expected("percentages").Got("%q", stage)).WithHint("--stages 1%%,10%%,100%%")
		}
		r.Stages = append(r.Stages, stage)
	}
	if r.Stages[len(r.Stages)-1] != "100%" {
		return nil, diag.Errorf(diag.Pos{}, "--stages: %w", signed.ErrLastStage).WithHint("to end a rollout early, use ccm fleet rollout pause or abort")
	}
	for _, x := range []struct {
		flag, text string
		into       interface{ UnmarshalText([]byte) error }
	}{{"soak", f.soak, &r.Soak}, {"spread", f.spread, &r.Spread}, {"max-failed", f.failed, &r.MaxFailed}, {"max-silent", f.silent, &r.MaxSilent}} {
		if err := x.into.UnmarshalText([]byte(x.text)); err != nil {
			return nil, fmt.Errorf("--%s: %w", x.flag, err)
		}
	}
	return r, nil
}

// checkCanary returns an error if no node meets the condition for canaries, as after a typing mistake or before any agent
// has begun: a first stage without nodes passes, and the others would get the release untried.
func (f *releaseFlags) checkCanary(ctx context.Context, e *cli.Env, c *cluster.Cluster, environment string) error {
	if f.canary == "" {
		return nil
	}
	condition, err := where.Parse(f.canary)
	if err != nil {
		return err
	}
	issued, err := (&enrol.Desk{Cluster: c, Now: e.Clock.Now}).Environments(ctx)
	if err != nil {
		return err
	}
	nodes, err := roster.Read(ctx, c.Conn, roster.Options{Environments: issued, Environment: environment, Facts: condition.Facts()})
	if err != nil {
		return err
	}
	chosen, err := roster.Where(nodes, condition, e.Clock.Now())
	sayLeftOut(e, err)
	if len(chosen) == 0 {
		return diag.At(diag.Pos{}, fmt.Errorf("--canary: %w", diag.None("node of %s matches the condition: nothing was released", environment))).WithHint("test the condition with: ccm fleet nodes --where CONDITION")
	}
	return nil
}

// controllerOf returns the controller of an environment's rollouts.
func controllerOf(e *cli.Env, c *cluster.Cluster, environment string, sign *signFlags) (*release.Controller, error) {
	if fleet := c.Directory.Fleet; !fleet.HasEnvironment(environment) {
		return nil, diag.At(diag.Pos{}, diag.NotFound("environment", environment, nil)).WithHint("create it with ccm fleet init DIR --apply --environment %s; existing: %s", environment, strings.Join(fleet.Environments, ", "))
	}
	archive := release.Archive{Directory: c.Directory.Path, Environment: environment}
	store, err := release.Open(c, environment, e.Clock.Now)
	if err != nil {
		return nil, err
	}
	return &release.Controller{
		Store: store, Key: sign.signer(e), By: c.Directory.Fleet.User, Clock: e.Clock.Now, Keep: archive.Keep,
		Environments: (&enrol.Desk{Cluster: c, Now: e.Clock.Now}).Environments,
	}, nil
}

// withController calls do with the controller of an environment's rollouts. The user must have at
// least the role.
func withController(e *cli.Env, f *fleetdir.Flags, environment string, least identity.Role, sign *signFlags, do func(*release.Controller) error) error {
	c, err := f.ConnectAs(e, least)
	if err != nil {
		return err
	}
	defer c.Close()
	controller, err := controllerOf(e, c, environment, sign)
	if err != nil {
		return err
	}
	return do(controller)
}

func (f *releaseFlags) release(ctx context.Context, e *cli.Env, c *cluster.Cluster, environment, name string) error {
	r, err := f.document()
	if err != nil {
		return err
	}
	controller, err := controllerOf(e, c, environment, &f.sign)
	if err != nil {
		return err
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return diag.At(diag.Pos{}, diag.Missing(fmt.Sprintf("site %s", name), ""))
	}
	if err := f.checkCanary(ctx, e, c, environment); err != nil {
		return err
	}
	isBundle := strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
	if !isBundle && !f.noCheck {
		if err := f.check(ctx, e, name); err != nil {
			return fmt.Errorf("nothing was released: %w", err)
		}
	}
	archive := release.Archive{Directory: c.Directory.Path, Environment: environment}
	file, digest, err := f.pack(ctx, e, archive, name, isBundle)
	if err != nil {
		return err
	}
	unreadable, err := cannotRead(ctx, e, c, file, name, environment)
	if err != nil {
		return err
	}
	sayUnreadable(e, unreadable)
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := controller.Store.PutBundle(ctx, digest, in); err != nil {
		return err
	}
	r.Bundle = "sha256:" + digest
	if err := sayTooFew(ctx, e, controller, f.otherKeys); err != nil {
		return err
	}
	before, err := controller.Store.Read(ctx)
	if err != nil {
		return err
	}
	if err := controller.BeginRollout(ctx, r, others(e, f.otherKeys)...); err != nil {
		return err
	}
	if err := printRelease(e, f.output.Value, environment, r, before.Release, unreadable); err != nil || f.output.Value == "json" {
		return err
	}
	cli.Say(e, "The first stage has started. Continue with: ccm fleet rollout %s --watch", environment)
	return nil
}

// printRelease prints a release that has begun.
func printRelease(e *cli.Env, form, environment string, r, before *signed.Release, unreadable []enrol.UnreadableSecret) error {
	previous := &signed.Release{}
	if before != nil {
		previous = before
	}
	if form == "json" {
		return e.Print().JSON(struct {
			Environment    string                   `json:"environment"`
			Release        int64                    `json:"release"`
			Bundle         string                   `json:"bundle"`
			Previous       int64                    `json:"previous,omitempty"`
			PreviousBundle string                   `json:"previous_bundle,omitempty"`
			RollbackTo     int64                    `json:"rollback_to,omitempty"`
			Reason         string                   `json:"reason,omitempty"`
			Unreadable     []enrol.UnreadableSecret `json:"unreadable_secrets,omitempty"`
		}{environment, r.Version, r.Bundle, previous.Version, previous.Bundle, r.Previous, r.Reason, unreadable})
	}
	was := ""
	if before != nil {
		was = fmt.Sprintf(" (was %d: %s)", before.Version, shortDigest(before.Bundle))
	}
	why := ""
	if r.Reason != "" {
		why = ", " + terminal.Line(r.Reason)
	}
	terminal.Fprintf(e.Stdout, "Release %d of %s: bundle %s%s%s\n", r.Version, environment, shortDigest(r.Bundle), was, why)
	return nil
}

func shortDigest(digest string) string {
	digest = signed.HexDigest(digest)
	if len(digest) < 12 {
		return digest
	}
	return digest[:4] + "..." + digest[len(digest)-2:]
}

// pack packs a site into the archive of the fleet and returns the path and the digest of the file.
func (f *releaseFlags) pack(ctx context.Context, e *cli.Env, archive release.Archive, name string, isBundle bool) (file, digest string, err error) {
	if isBundle {
		return archive.CopyBundle(name)
	}
	folder, err := bundles.Folder(e.Files, name, nil)
	if err != nil {
		return "", "", err
	}
	if err := bundles.RefusePlain(folder, f.plain); err != nil {
		return "", "", err
	}
	return archive.AddBundle(func(f *os.File) (string, error) { return bundles.Write(ctx, folder, f) })
}

// storeAgain stores what the servers have lost of the last release of an environment, from the
// directory of the fleet (release --again).
func (f *releaseFlags) storeAgain(ctx context.Context, e *cli.Env, c *cluster.Cluster, environment string) error {
	controller, err := controllerOf(e, c, environment, &f.sign)
	if err != nil {
		return err
	}
	stored, err := controller.StoreAgain(ctx, release.Archive{Directory: c.Directory.Path, Environment: environment})
	if err != nil {
		return err
	}
	if len(stored) == 0 {
		cli.Say(e, "The servers of %s are up to date.", environment)
	}
	for _, what := range slices.Sorted(slices.Values(stored)) {
		c := fleetChange{Change: created, Kind: "document", Name: what, Environment: environment}
		if err := (changePrinter{f.output}).print(e, c, what); err != nil {
			return err
		}
	}
	return nil
}
