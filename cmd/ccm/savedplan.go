package main

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
)

// readPlan reads the named file if it is a saved plan, and returns the arguments of the command
// line that made the plan. Flags about reading the site come from the plan.
func (f *runFlags) readPlan(cmd *cobra.Command, e *cli.Env, args []string) ([]string, error) {
	plan, err := site.ReadPlan(cmd.Context(), e.Process, args[0], f.StateDir)
	if plan == nil || err != nil {
		return args, err
	}
	if len(args) > 1 {
		return nil, diag.At(diag.Pos{}, diag.OfKind(args[0], "a saved plan, which includes its arguments: %w", diag.Expected("no further arguments")))
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(cli.SiteFlags).Add(own)
	for _, name := range []string{"render", "interactive", "monitor-only", "out"} {
		own.Bool(name, false, "")
	}
	own.VisitAll(func(flag *pflag.Flag) {
		if cmd.Flags().Changed(flag.Name) && err == nil {
			err = diag.At(diag.Pos{}, diag.Conflicting("--"+flag.Name, "a saved plan")).WithHint("a plan contains the flags it was made with; make another one")
		}
	})
	f.plan = plan
	f.SiteFlags.Set(plan.Options)
	return append([]string{plan.File}, plan.Args...), err
}

// checkOut reports a plan file that cannot be written before the plan is made.
func (f *runFlags) checkOut(e *cli.Env, file string) error {
	switch {
	case f.out == "":
		return nil
	case file == "-":
		return diag.At(diag.Pos{}, fmt.Errorf("--out: %w", diag.Cannot("save", "a plan of standard input, which cannot be read again", nil))).WithHint("use a file")
	}
	for _, name := range []string{file, f.Data.File} {
		if u, err := url.Parse(name); err == nil && u.User != nil && fetch.IsURL(name) {
			return diag.Errorf(diag.Pos{}, "--out: %w", diag.Cannot("save", "the plan", diag.Contains("it", "the user and password of %s", fetch.RedactURL(u)))).
				WithHint("download it, then plan the file")
		}
	}
	return site.CheckPlanFile(f.out, e.Files.Trust())
}

// savePlan saves a plan as the flags say.
func (f *runFlags) savePlan(e *cli.Env, run *site.Run, plan *site.SavedPlan, sum event.Summary) error {
	if f.out == "" || sum.Interrupted || run.TimedOut() {
		return nil
	}
	if err := plan.Save(f.out, e.Files.Trust()); err != nil {
		return err
	}
	later := ""
	if n := plan.Undecided(); n > 0 {
		later = fmt.Sprintf("; %d uncertain resources are decided during the run", n)
	}
	terminal.Fprintf(e.Stderr, "ccm: plan saved, apply it with: ccm run %s%s\n", f.out, later)
	return nil
}
