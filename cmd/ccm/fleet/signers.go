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
		Short: "Show or change the trusted signers of an environment",
		Long: `Show or change the trusted signers of an environment. FILE is an allowed_signers file
of ssh-keygen(1).

  ccm fleet signers prod
  ccm fleet signers prod allowed_signers --threshold 2 --also-sign ~/.ssh/bob

From then on, nodes trust the signers in FILE, and --threshold of them must sign each
release. The change itself must be signed by the present signers, as many as required
now. Nodes that enrol later start with the file given to them, and accept the change if
a signer in that file signed it: keep the file that you distribute up to date.`,
		Args:              cli.WantArguments(1, 2),
		ValidArgsFunction: fleet.CompleteEnvironment(e, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			if len(args) == 1 {
				return f.show(ctx, e, args[0])
			}
			return f.change(ctx, e, args[0], args[1])
		},
	}
	f.sign.add(cmd.Flags())
	alsoSign(cmd.Flags(), &f.otherKeys)
	cmd.Flags().IntVar(&f.threshold, "threshold", 1, "`NUMBER` of signatures that a release requires")
	cmd.Flags().Var(f.output, "output", "output format: text or json")
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
			cli.Say(e, "Nodes of %s trust the signers in the file that they were enrolled with.", environment)
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
		cli.Say(e, "Run ccm fleet check to see which nodes refuse it")
		return nil
	})
}
