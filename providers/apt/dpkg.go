package apt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// format is the output format of dpkg-query: six words and, because they may have any characters,
// two texts at the end. A description continues in lines that begin with a space.
const format = `${Package} ${Version} ${Architecture} ${db:Status-Status} ${db:Status-Want} ${binary:Package}\t${Homepage}\t${Description}\n`

// installed is the only status of a package that is present. The package may be in any other one
// after a failure, and an installation repairs it.
const installed = "installed"

// gone lists the statuses in which at most configuration is left.
var gone = []string{"config-files", "not-installed"}

// unfinished lists the statuses after a failed or interrupted installation or removal.
var unfinished = []string{"half-installed", "unpacked", "half-configured", "triggers-awaited", "triggers-pending"}

// A record is dpkg's data on a package in one architecture.
type record struct {
	pkg, version, arch string
	status             string // in words of dpkg: installed, config-files, ...
	want               string // install, hold, deinstall, ...
	unique             string // the name for this architecture only
	homepage           string
	summary            string
	description        string
}

// atOnce is the largest number of packages in one command, because the output of a command is
// bounded. A run seldom has more.
const atOnce = 2000

// records asks dpkg for all packages at once. The result has an entry for every package that dpkg
// answered for, without records if dpkg does not know it.
func records(ctx context.Context, v *host.View, pkgs []string) (map[string][]record, error) {
	return host.AskMany(v, "dpkg-query -W", pkgs, func(pkgs []string) (map[string][]record, error) { return askRecords(ctx, v, pkgs) })
}

func askRecords(ctx context.Context, v *host.View, pkgs []string) (map[string][]record, error) {
	found := make(map[string][]record, len(pkgs))
	for some := range slices.Chunk(pkgs, atOnce) {
		res, err := tool.Query(ctx, v, append([]string{"dpkg-query", "-W", "-f=" + format}, some...)...)
		if err != nil {
			return nil, err
		}
		// It exits 1 if it does not know a package, and has answered for the others.
		if res.Code > 1 {
			return nil, pkgtool.ExitError("dpkg-query", res.Code, res.LastWords())
		}
		// The standard error may also have warnings about the database.
		for line := range strings.Lines(string(res.Stderr)) {
			if pkg, ok := strings.CutPrefix(strings.TrimSpace(line), "dpkg-query: no packages found matching "); ok {
				found[pkg] = nil
			}
		}
		list, err := parseRecords(string(res.Stdout))
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			found[r.pkg] = append(found[r.pkg], r)
		}
	}
	return found, nil
}

// parseRecords reads what dpkg-query printed in our format.
func parseRecords(out string) ([]record, error) {
	var list []record
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, " ") && len(list) > 0 {
			last := &list[len(list)-1]
			if line = strings.TrimSpace(line); line == "." { // an empty line
				line = ""
			}
			last.description = strings.TrimPrefix(last.description+"\n"+line, "\n")
			continue
		}
		texts := strings.SplitN(line, "\t", 3)
		words := strings.Split(texts[0], " ") // an unknown version is an empty word
		if len(texts) != 3 || len(words) != 6 {
			return nil, fmt.Errorf("dpkg-query: %w", diag.Expected("a line about a package").Got("%.200q", line))
		}
		list = append(list, record{
			pkg: words[0], version: words[1], arch: words[2], status: words[3], want: words[4],
			unique: words[5], homepage: texts[1], summary: texts[2],
		})
	}
	return list, nil
}

// of returns the records that n means: those of its architecture, or all of them if n has none.
func (n name) of(list []record) []record {
	if n.arch == "" {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(r record) bool { return r.arch != n.arch && r.arch != "all" })
}

// pick returns the record with the state of a package: an installed one, else an unfinished one.
func pick(list []record) (r record, err error) {
	for _, x := range list {
		switch {
		case x.status == installed:
			return x, nil
		case slices.Contains(unfinished, x.status):
			r = x
		case !slices.Contains(gone, x.status):
			return r, diag.Unknown("dpkg status of "+x.unique+":", fmt.Sprintf("%.200s", x.status), nil)
		}
	}
	return r, nil
}
