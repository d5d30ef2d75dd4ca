package dnf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// foreseeInstalls has dnf say whether it could install packages: all together and, if
// that fails, each by itself.
func foreseeInstalls(ctx context.Context, v *host.View, wants []resources.Package, absent []int, list []resource.Prospect) {
	if len(absent) == 0 {
		return
	}
	var specs, names []string
	for _, i := range absent {
		spec, err := specOf(wants[i].Name, string(wants[i].Ensure))
		if err != nil {
			list[i].Err = err
			return
		}
		specs, names = append(specs, spec), append(names, wants[i].Name)
	}
	if t, err := simulate(ctx, v, specs...); err == nil {
		last := &list[absent[len(absent)-1]]
		others := slices.DeleteFunc(t.installs, func(pkg string) bool { return slices.Contains(names, pkg) })
		if len(absent) == 1 { // else it is not known which of them brings what
			last.Installs = others
		}
		last.Caveat = resources.PackagesBesides(last.Caveat, len(absent), others, t.removes)
		return
	}
	for n, i := range absent {
		if _, err := simulate(ctx, v, specs[n]); err != nil {
			list[i] = wants[i].Prospect("", repositories, err) // another repository may mend it
		}
	}
}

// A transaction names the packages that dnf says it would install and remove.
type transaction struct{ installs, removes []string }

// simulate has dnf say what it would do to install packages. To the question whether it
// should it is told no.
func simulate(ctx context.Context, v *host.View, specs ...string) (transaction, error) {
	res, err := tool.Query(ctx, v, append([]string{"dnf", "install", "--assumeno"}, specs...)...)
	if err != nil {
		return transaction{}, err
	}
	if res.Code == 0 || strings.Contains(string(res.Stdout)+string(res.Stderr), "Operation aborted") {
		return parseTransaction(string(res.Stdout)), nil
	}
	return transaction{}, fmt.Errorf("dnf could not install it: exit status %d%s", res.Code, tool.LastWords(res))
}

// parseTransaction reads the table of a transaction: a line that ends with a colon says
// what is done with the packages of the lines that follow, which begin with one space.
// Where a name is long, the rest of its line stands in the next, further to the right.
func parseTransaction(out string) (t transaction) {
	list := new([]string)
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || !strings.HasPrefix(line, " "):
			list = new([]string)
			switch head := strings.TrimSpace(line); {
			case strings.HasPrefix(head, "Installing") && strings.HasSuffix(head, ":"):
				list = &t.installs
			case strings.HasPrefix(head, "Removing") && strings.HasSuffix(head, ":"):
				list = &t.removes
			}
		case !strings.HasPrefix(line, "  "):
			*list = append(*list, words[0])
		}
	}
	return t
}
