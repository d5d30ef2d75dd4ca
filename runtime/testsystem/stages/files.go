package stages

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/testsystem"
)

// files are the files of a system: type, mode, owner, size and target by path, and of configuration a checksum too.
type files map[string]string

// changes are descriptions of differences by path.
type changes map[string]string

// listScript lists files. The sizes of directories and the times are left out: they change without a cause. What is
// left out are caches, logs, the state of ccm, and file systems of the kernel.
const listScript = `
find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/tmp -o -path /var/cache \
  -o -path /var/log -o -path /var/lib/ccm -o -path /var/lib/ccm-test -o -path /usr/local/bin/ccm -o -path /root/.cache \) -prune \
  -o -type d -printf 'd %m %U:%G\t%p\n' -o -printf '%y %m %U:%G %s %l\t%p\n' || exit 1
for dir in /etc /root /home /srv /opt /usr/local; do
  [ ! -d "$dir" ] || find "$dir" -xdev -type f -size -2048k ! -path '/root/.cache/*' ! -path /usr/local/bin/ccm -exec cksum {} + || exit 1
done | sed 's/^\([0-9]*\) [0-9]* /sum \1\t/'
`

// listFiles lists the files of a system. It returns nil if the system cannot list them: the find there is not GNU's.
func listFiles(ctx context.Context, s testsystem.System) (files, error) {
	var out bytes.Buffer
	code, err := s.Exec(ctx, testsystem.Cmd{Argv: []string{"sh", "-c", listScript}, Stdout: &out})
	if err != nil || code != 0 {
		return nil, err
	}
	list := make(files)
	for line := range strings.Lines(out.String()) {
		if state, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			list[name] += state + ";"
		}
	}
	return list, nil
}

// isDirectory reports whether a path is a directory.
func (f files) isDirectory(name string) bool { return strings.HasPrefix(f[name], "d ") }

// difference returns what has changed since f. It is nil if that is not known.
func (f files) difference(after files) changes {
	if f == nil || after == nil {
		return nil
	}
	left := make(changes)
	for name, state := range after {
		if was, ok := f[name]; !ok {
			left[name] = "new"
		} else if was != state {
			left[name] = "changed"
		}
	}
	for name := range f {
		if _, ok := after[name]; !ok {
			left[name] = "missing"
		}
	}
	return left
}

// shownPaths is the number of paths in a summary.
const shownPaths = 5

// summary describes what is left, "left nothing" if that is nothing. What is below a new directory is not named.
func (c changes) summary() string {
	if c == nil {
		return "files were not compared: the system has no GNU find"
	}
	if len(c) == 0 {
		return "left nothing"
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if c[name] != "new" || c[path.Dir(name)] != "new" {
			names = append(names, name+" ("+c[name]+")")
		}
	}
	// Configuration first: it is what operators look for.
	slices.SortStableFunc(names, func(a, b string) int {
		return rank(a) - rank(b)
	})
	noun := "paths"
	if len(c) == 1 {
		noun = "path"
	}
	text := fmt.Sprintf("left %d %s: %s", len(c), noun, strings.Join(names[:min(len(names), shownPaths)], ", "))
	if more := len(names) - shownPaths; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func rank(name string) int {
	if strings.HasPrefix(name, "/etc/") {
		return 0
	}
	return 1
}
