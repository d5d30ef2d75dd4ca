package dnf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// end is the line after the description of a package, which may hold any others.
const end = "\x1e"

// format is what rpm prints of a package: its NEVRA in five words, texts, and
// the lines of its description.
const format = `%{NAME} %|EPOCH?{%{EPOCH}}:{0}| %{VERSION} %{RELEASE} %{ARCH}\t%{LICENSE}\t%{URL}\t%{SUMMARY}\n%{DESCRIPTION}\n` + end + `\n`

// A record is what rpm knows of an installed package.
type record struct {
	name string
	evr
	arch                               string
	license, url, summary, description string
}

// atOnce is for how many packages one command is asked. A run seldom has more;
// the output of a command is bounded.
const atOnce = 2000

// records asks rpm for all the packages at once. The result has an entry for
// every package that rpm answered for, with no records if it is not installed.
func records(ctx context.Context, v *host.View, names []string) (map[string][]record, error) {
	return host.AskMany(v, "rpm -q", names, func(names []string) (map[string][]record, error) { return askRecords(ctx, v, names) })
}

func askRecords(ctx context.Context, v *host.View, names []string) (map[string][]record, error) {
	found := make(map[string][]record, len(names))
	for some := range slices.Chunk(names, atOnce) {
		argv := append([]string{"rpm", "-q"}, some...)
		res, err := tool.Query(ctx, v, append(argv, "--queryformat", format)...)
		if err != nil {
			return nil, err
		}
		// Where it cannot read its database rpm says so, and goes on to say that no
		// package is installed.
		if strings.HasPrefix(string(res.Stderr), "error:") || strings.Contains(string(res.Stderr), "\nerror:") {
			return nil, fmt.Errorf("rpm -q%s", res.LastWords())
		}
		if err := parseRecords(string(res.Stdout), found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// parseRecords reads what rpm printed in our format into found. A package is
// found under its name and under its name with its architecture.
func parseRecords(out string, found map[string][]record) error {
	for out != "" {
		var line string
		line, out, _ = strings.Cut(out, "\n")
		if name, ok := absent(line); ok {
			found[name] = nil
			continue
		}
		texts := strings.SplitN(line, "\t", 4)
		words := strings.Split(texts[0], " ")
		if len(texts) != 4 || len(words) != 5 {
			return fmt.Errorf("rpm -q: want a line about a package, got %q", line)
		}
		r := record{name: words[0], evr: evr{words[1], words[2], words[3]}, arch: words[4]}
		r.license, r.url, r.summary = known(texts[1]), known(texts[2]), known(texts[3])
		var ok bool
		if r.description, out, ok = strings.Cut(out, "\n"+end+"\n"); !ok {
			return fmt.Errorf("rpm -q: the description of %s has no end", r.name)
		}
		r.description = known(r.description)
		for _, key := range []string{r.name, r.name + "." + r.arch} {
			if !slices.Contains(found[key], r) { // it was asked for by both names
				found[key] = append(found[key], r)
			}
		}
	}
	return nil
}

// absent returns the package that line says is not installed.
func absent(line string) (name string, ok bool) {
	name, begins := strings.CutPrefix(line, "package ")
	name, ends := strings.CutSuffix(name, " is not installed")
	return name, begins && ends
}

// known returns what rpm knows of a tag, which is empty where it says (none).
func known(s string) string {
	if s == "(none)" {
		return ""
	}
	return s
}
