package dnf

import (
	"context"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// simulate asks dnf what it would do to install or remove packages, and answers no to its
// question.
func simulate(ctx context.Context, v *host.View, verb string, want resources.Package, specs []string) (pkgtool.Simulation, error) {
	res, err := tool.Query(ctx, v, slices.Concat([]string{"dnf", verb, "--assumeno"}, optionsOf(want), specs)...)
	if err != nil {
		return pkgtool.Simulation{}, err
	}
	if res.Code == 0 || strings.Contains(string(res.Stdout)+string(res.Stderr), "Operation aborted") {
		return parseSimulation(string(res.Stdout)), nil
	}
	return pkgtool.Simulation{},
		tool.CouldNot("dnf", verb, res)
}

// parseSimulation reads the table of a transaction. A line that ends with a colon tells the
// action for the packages in the following lines, which begin with one space. After a long name,
// the rest of its line comes in the next, further to the right.
func parseSimulation(out string) (t pkgtool.Simulation) {
	list := new([]string)
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || !strings.HasPrefix(line, " "):
			list = new([]string)
			switch head := strings.TrimSpace(line); {
			case strings.HasPrefix(head, "Installing") && strings.HasSuffix(head, ":"):
				list = &t.Installs
			case strings.HasPrefix(head, "Removing") && strings.HasSuffix(head, ":"):
				list = &t.Removes
			}
		case !strings.HasPrefix(line, "  "):
			*list = append(*list, words[0])
		}
	}
	return t
}
