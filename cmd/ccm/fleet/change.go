package fleet

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/enrol"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A fleetChange is one change that a command of a fleet made.
type fleetChange struct {
	Change      string   `json:"change"` // created, changed or removed
	Kind        string   `json:"what"`   // account, document, file, node, request, stream, token or user
	Name        string   `json:"name"`
	Environment string   `json:"environment,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	Role        string   `json:"role,omitempty"`
	Path        string   `json:"path,omitempty"`  // of the written file
	Token       string   `json:"token,omitempty"` // that was made
	Detail      []string `json:"detail,omitempty"`
	// Servers are the servers on which the account changed.
	Servers []string `json:"servers,omitempty"`
}

const (
	created = "created"
	changed = "changed"
	removed = "removed"
)

// nodeChange returns the change of a node.
func nodeChange(change string, n *enrol.Node) fleetChange {
	return fleetChange{Change: change, Kind: "node", Name: n.Name, Environment: n.Environment, Fingerprint: enrol.Fingerprint(n.Key, n.Recipient)}
}

// nodeText says which node a change is about.
func nodeText(c fleetChange) string { return "node " + c.Name + " of " + c.Environment }

// A changePrinter prints the changes of a fleet's command: a line each for people, or an object a
// line for programs.
type changePrinter struct{ output *cli.Choice }

// addChangePrinter adds --output to a command.
func addChangePrinter(cmd *cobra.Command) changePrinter {
	p := changePrinter{cli.NewChoice("text", "text", "json")}
	cmd.Flags().Var(p.output, "output", "output format: text or json (one object per line)")
	return p
}

// print prints a change. Text is the line for people without its sign.
func (p changePrinter) print(e *cli.Env, c fleetChange, text string) error {
	if p.output.Value == "json" {
		return e.Print().Line(c)
	}
	sign := map[string]string{created: "+ ", changed: "~ ", removed: "- "}[c.Change]
	terminal.Fprintf(e.Stdout, "%s\n", strings.TrimRight(sign+text, " "))
	return nil
}
