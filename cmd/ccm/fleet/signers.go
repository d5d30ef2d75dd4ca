package fleet

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// signersFlags are the flags of fleet signers.
type signersFlags struct {
	*fleetdir.Flags
	sign      signFlags
	otherKeys []string
	threshold int
	output    *cli.Choice
}

// A signersOutput is the list of signers in JSON.
type signersOutput struct {
	Environment string `json:"environment"`
	Version     int64  `json:"version"`
	Threshold   int    `json:"threshold"`
	Signers     string `json:"signers"`
}

func newSignersCommand(e *cli.Env, fleet *fleetdir.Flags) *cobra.Command {
	f := &signersFlags{Flags: fleet, output: cli.NewChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "signers ENVIRONMENT [FILE]",
		Short: "Say whose signatures an environment believes, or change that",
		Long: `Say whose signatures the nodes of an environment believe. With FILE, one as
allowed_signers of ssh-keygen(1), those in it are believed from now on, and as many
of them as --threshold says must sign each release.

  ccm fleet signers prod allowed_signers --threshold 2 --also-sign ~/.ssh/bob

Nodes take it if those sign it who may sign now, as many as must now. Nodes that
are enrolled later begin with the file that they were given, and take it too if
one of that file has signed it: keep the file that you hand out up to date.`,
		Args:              cli.WantArguments(1, 2),
		ValidArgsFunction: fleet.CompleteEnvironment(e, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.UntilStopped(cmd.Context())
			defer cancel()
			if len(args) == 1 {
				return f.show(ctx, e, args[0])
			}
			return f.change(ctx, e, args[0], args[1])
		},
	}
	f.sign.add(cmd.Flags())
	alsoSign(cmd.Flags(), &f.otherKeys)
	cmd.Flags().IntVar(&f.threshold, "threshold", 1, "how many of FILE must sign a release: `NUMBER`")
	cmd.Flags().Var(f.output, "output", "form of the output: text or json")
	return cmd
}

func (f *signersFlags) show(ctx context.Context, e *cli.Env, environment string) error {
	return withController(e, f.Flags, environment, identity.Viewer, &f.sign, func(c *release.Controller) error {
		control, err := c.Store.Read(ctx)
		if err != nil {
			return err
		}
		s := control.Signers
		for _, p := range control.Problems {
			cli.Say(e, "! %s", terminal.Line(p))
		}
		switch {
		case s == nil && f.output.Value == "json":
			return e.Print().Line(signersOutput{Environment: environment})
		case s == nil:
			cli.Say(e, "Nodes of %s believe those in the file that they were enrolled with.", environment)
			return nil
		case f.output.Value == "json":
			return e.Print().Line(signersOutput{environment, s.Version, s.Threshold, s.Signers})
		}
		terminal.Fprintf(e.Stdout, "%s", terminal.LinesText(s.Signers))
		cli.Say(e, "Signers %d of %s: %d must sign a release.", s.Version, environment, s.Threshold)
		return nil
	})
}

func (f *signersFlags) change(ctx context.Context, e *cli.Env, environment, file string) error {
	text, err := e.Files.ReadFile(file)
	if err != nil {
		return err
	}
	if f.threshold < 1 {
		return diag.Errorf(diag.Pos{}, "--threshold: %w", diag.Expected("a number from 1 on").Got("%d", f.threshold))
	}
	return withController(e, f.Flags, environment, identity.Operator, &f.sign, func(c *release.Controller) error {
		if err := sayTooFew(ctx, e, c, f.otherKeys); err != nil {
			return err
		}
		s, err := c.SetSigners(ctx, file, string(text), f.threshold, others(e, f.otherKeys)...)
		if err != nil {
			return err
		}
		if f.output.Value == "json" {
			return e.Print().Line(signersOutput{environment, s.Version, s.Threshold, s.Signers})
		}
		terminal.Fprintf(e.Stdout, "Signers %d of %s: %d must sign a release\n", s.Version, environment, s.Threshold)
		cli.Say(e, "Who refuses it says so: ccm fleet check")
		return nil
	})
}
