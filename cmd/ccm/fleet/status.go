package fleet

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/cmd/ccm/cli/fleetdir"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/fleet/overview"
	"github.com/luaccm/ccm/fleet/release"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/words"
)

func newStatusCommand(e *cli.Env, f *fleetdir.Flags) *cobra.Command {
	environment, every, once := "", 2*time.Second, false
	output := cli.NewChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the status of a fleet, updated every two seconds",
		Long: `Show the status of a fleet: nodes by outcome and release, rollouts, and failures.
Read-only.

  ccm fleet status
  ccm fleet status --once --output json

On a terminal it is updated every two seconds until Ctrl-C, otherwise shown once.`,
		Args: cli.WantArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := e.Stop.Context(cmd.Context())
			defer cancel()
			d, err := f.Desk(e)
			if err != nil {
				return err
			}
			defer d.Cluster.Close()
			if environment != "" {
				if _, err := environmentOf(d.Cluster, environment); err != nil {
					return err
				}
			}
			o := overview.Options{Environment: environment}
			if output.Value == "json" || once || !terminal.IsTerminal(e.Stdout) {
				return showStatus(ctx, e, d, o, output.Value)
			}
			return watchStatus(ctx, e, d, o, max(every, 100*time.Millisecond))
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&environment, "environment", "", "only environment `NAME`")
	cli.DurationVar(fs, &every, "every", every, "update after `DURATION`")
	fs.BoolVar(&once, "once", false, "show the status once")
	fs.Var(output, "output", "output format: text or json")
	cli.CompleteFlag(e, cmd, "environment", f.CompleteEnvironments(e))
	return cmd
}

func showStatus(ctx context.Context, e *cli.Env, d *enrol.Desk, o overview.Options, form string) error {
	fleet, err := overview.Read(ctx, d, o)
	if err != nil {
		return err
	}
	if form == "json" {
		return e.Print().JSON(fleet)
	}
	for _, line := range statusLines(fleet, e.Clock.Now(), 0, 0) {
		terminal.Fprintf(e.Stdout, "%s\n", line)
	}
	return nil
}

// watchStatus shows the status until an interrupt. While the servers do not answer, the page says
// so and since when it is old.
func watchStatus(ctx context.Context, e *cli.Env, d *enrol.Desk, o overview.Options, every time.Duration) error {
	terminal.Fprintf(e.Stdout, "%s", terminal.OtherScreen)
	defer terminal.Fprintf(e.Stdout, "%s", terminal.OwnScreen)
	var last *overview.Fleet
	for {
		fleet, err := overview.Read(ctx, d, o)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			last = fleet
		}
		columns, rows := terminal.Size(e.Stdout)
		var lines []string
		if last != nil {
			lines = statusLines(last, e.Clock.Now(), columns, rows-1)
		}
		if err != nil {
			lines = append([]string{fit("! "+err.Error(), columns)}, lines...)
		}
		terminal.Fprintf(e.Stdout, "%s", terminal.Home)
		for _, line := range lines[:min(len(lines), max(rows-1, 1))] {
			terminal.Fprintf(e.Stdout, "%s%s\r\n", line, terminal.EraseRest)
		}
		terminal.Fprintf(e.Stdout, "%s", terminal.EraseBelow)
		if err := e.Stdout.Flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// barWidth is the width of a rollout's bar in characters.
const barWidth = 30

// statusLines lays out the page for a terminal of that size, 0 for no limit. If the page does not
// fit, environments get fewer words, because readers look for failures.
func statusLines(f *overview.Fleet, now time.Time, columns, rows int) []string {
	var lines []string
	for _, detail := range []statusDetail{allStages, presentStage, oneLine} {
		lines = []string{fmt.Sprintf("%s, %s", words.Count(f.Nodes, "node"), f.Time.Local().Format("15:04:05"))}
		if len(f.Foreign) > 0 {
			lines = append(lines, foreignText(f.Foreign), "  "+fleetdir.ForeignHint)
		}
		for _, env := range f.Environments {
			lines = append(lines, environmentLines(env, detail)...)
		}
		if rows <= 0 || len(lines)+causeRows(f) <= rows {
			break
		}
	}
	if f.Nodes == 0 && len(f.Foreign) == 0 {
		lines = append(lines, "", "Enrol machines with ccm agent enrol, and list their requests with ccm fleet enrol.")
	}
	if rows > 0 {
		if room := max(rows-causeRows(f), 2); len(lines) > room {
			lines = append(lines[:room-1], "and "+words.Count(len(lines)-room+1, "more environment"))
		}
	}
	lines = append(lines, causeLines(f, rows-len(lines), rows > 0)...)
	for i := range lines {
		lines[i] = fit(lines[i], columns)
	}
	return lines
}

// A statusDetail is the level of detail of an environment.
type statusDetail int

const (
	allStages statusDetail = iota
	presentStage
	oneLine
)

// environmentLines tells of an environment.
func environmentLines(env overview.Environment, detail statusDetail) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	var parts []string
	for _, c := range env.Outcomes {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Name))
	}
	if detail == allStages {
		add("")
	}
	first := env.Name + "  " + words.Count(env.Nodes, "node")
	if len(parts) > 0 {
		first += ": " + strings.Join(parts, ", ")
	}
	if detail == oneLine {
		if a := env.Rollout; a != nil {
			first += fmt.Sprintf("; release %d %s", a.Release, a.State)
		}
		return []string{first}
	}
	add("%s", first)
	if text := releasesOf(env); text != "" && detail == allStages {
		add("  %s", text)
	}
	if env.Problem != "" {
		add("  ! %s", env.Problem)
	}
	if a := env.Rollout; a != nil {
		done, all := 0, 0
		for _, s := range a.Stages {
			done, all = done+s.Done, all+s.Nodes
		}
		add("  rollout of %d  [%s] %d of %d  %s%s", a.Release, bar(done, all), done, all, a.State, unheard(len(a.Unheard()), ", "))
		if a.Reason != "" {
			add("    %s", a.Reason)
		}
		lines = append(lines, stageLines(a, detail)...)
	}
	return lines
}

// stageName is the maximum width of a stage's name.
const stageName = 20

// stageLines describes the stages of a rollout, the most important words first, because lines are
// cut at the end.
func stageLines(a *release.Assessment, detail statusDetail) (lines []string) {
	name, digits := 0, 1
	for _, s := range a.Stages {
		name = max(name, min(utf8.RuneCountInString(s.Name), stageName))
		digits = max(digits, len(strconv.Itoa(s.Nodes)))
	}
	for i, s := range a.Stages {
		mark := "  "
		if i == a.Stage {
			mark = "> "
		} else if detail == presentStage {
			continue
		}
		lines = append(lines, fmt.Sprintf("  %s%-*s  %*d nodes  %*d done  %*d failed  %*d silent  %*d changed%s", mark, name, fit(s.Name, stageName),
			digits, s.Nodes, digits, s.Done, digits, s.Failed, digits, s.Silent, digits, s.Changed, unheard(s.Unheard, "  ")))
	}
	return lines
}

// unheard counts nodes that were never heard of, after a separator; "" for none.
func unheard(n int, separator string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s%d %s", separator, n, overview.Unheard)
}

// releasesOf returns the number of nodes of each release.
func releasesOf(env overview.Environment) string {
	var parts []string
	for i, r := range env.Releases {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("and %d older ones", len(env.Releases)-5))
			break
		}
		name := "no release"
		if r.Version > 0 {
			name = fmt.Sprintf("release %d", r.Version)
		}
		parts = append(parts, fmt.Sprintf("%s on %d", name, r.N))
	}
	return strings.Join(parts, ", ")
}

// leastCauses is the number of failures for which the page always has rows, even if environments are
// cut for that.
const leastCauses = 3

// causeRows is the least number of rows for failures, with their title and the row about further
// ones.
func causeRows(f *overview.Fleet) int {
	switch n := len(f.Causes); {
	case n == 0:
		return 0
	case n <= leastCauses:
		return 1 + n
	}
	return 1 + leastCauses + 1
}

// causeLines lists the last failures, in at most that many rows if limited.
func causeLines(f *overview.Fleet, rows int, limited bool) (lines []string) {
	if len(f.Causes) == 0 {
		return nil
	}
	if !limited || rows > causeRows(f) {
		lines = append(lines, "")
	}
	lines = append(lines, "last failures")
	shown := len(f.Causes)
	if room := rows - len(lines); limited && shown > room {
		shown = max(room-1, 0) // the last row has the number of the others
	}
	for _, c := range f.Causes[:shown] {
		lines = append(lines, fmt.Sprintf("  %5d  %s (%s): %s", len(c.Nodes), c.Resource, firstNodes(c.Nodes), c.Message))
	}
	if shown < len(f.Causes) {
		lines = append(lines, fmt.Sprintf("  and %d more", len(f.Causes)-shown))
	}
	return lines
}

// firstNodes lists the first of the failed nodes.
func firstNodes(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], " ") + " ..."
	}
	return strings.Join(names, " ")
}

// bar draws a bar of progress.
func bar(done, all int) string {
	filled := 0
	if all > 0 {
		filled = barWidth * done / all
	}
	return strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled)
}

// fit cuts a line to the width of a terminal, and makes control characters visible.
func fit(s string, columns int) string {
	s = terminal.Line(s)
	if columns <= 0 {
		return s
	}
	if runes := []rune(s); len(runes) > columns {
		return string(runes[:columns-1]) + "…"
	}
	return s
}
