package facts

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

func TestStandardIsInOrder(t *testing.T) {
	var names []string
	for _, g := range Standard() {
		names = append(names, g.Name)
		require.NotEmpty(t, g.Doc, g.Name)
	}
	require.True(t, slices.IsSorted(names))
	require.Len(t, slices.Compact(slices.Clone(names)), len(names))
}

// documented returns the paths in docs/facts.md, and the branches with whether they are marked as expensive.
func documented(t *testing.T) (paths map[string]bool, branches map[string]bool) {
	t.Helper()
	text, err := os.ReadFile("../../docs/facts.md")
	require.NoError(t, err)
	paths, branches = make(map[string]bool), make(map[string]bool)
	code := regexp.MustCompile("`([^`]+)`")
	table := ""
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			table = ""
			continue
		}
		if table == "" {
			table = strings.TrimSpace(cells[1])
		}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			switch table {
			case "branch":
				branches[m[1]] = strings.TrimSpace(cells[3]) == "yes"
			case "path":
				require.False(t, paths[m[1]], "%s is documented twice", m[1])
				paths[m[1]] = true
			}
		}
	}
	return paths, branches
}

func TestDocumentedBranches(t *testing.T) {
	want := make(map[string]bool)
	for _, g := range Standard() {
		want[g.Name] = g.Costly
	}
	paths, branches := documented(t)
	require.Equal(t, want, branches)
	for path := range paths {
		require.Contains(t, want, splitPath(path)[0])
	}
}

var (
	numbers = regexp.MustCompile(`\.\d+(\.|$)`)
	byName  = regexp.MustCompile(`^(net\.interfaces|mounts|packages|services|users|block_devices|kernel\.parameters|ssh|modules)\.(\\.|[^.\\])+`)
)

func TestEveryFactIsDocumented(t *testing.T) {
	paths, _ := documented(t)
	for name, v := range map[string]*host.View{
		"this machine": &host.New(host.Options{}).View,
		"recorded":     rootWith(t, procFiles, distributions["Ubuntu 22.04"].files, map[string]string{"/proc/sys/kernel/hostname": "web1.example.com\n"}),
	} {
		tree, err := New(t.Context(), v, Standard(), nil).Tree()
		require.NoError(t, err)
		for _, named := range []string{"modules", "packages", "services", "users"} {
			require.NotContains(t, tree, named)
			if val, err := New(t.Context(), v, Standard(), nil).Branch(named); err == nil {
				tree[named] = val
			}
		}
		seen := make(map[string]bool)
		for _, l := range Leaves("", tree) {
			path := byName.ReplaceAllString(l.Path, "$1.NAME")
			for numbers.MatchString(path) {
				path = numbers.ReplaceAllString(path, ".N$1")
			}
			if !paths[path] { // a list of scalars is documented as a list
				path = strings.TrimSuffix(path, ".N")
			}
			seen[path] = true
		}
		for _, path := range slices.Sorted(maps.Keys(seen)) {
			require.True(t, paths[path], "%s: %s is not in docs/facts.md", name, path)
		}
	}
}

func TestFactsArePlainData(t *testing.T) {
	tree, err := New(t.Context(), &host.New(host.Options{}).View, Standard(), nil).Tree()
	require.NoError(t, err)
	for _, l := range Leaves("", tree) {
		switch l.Value.(type) {
		case bool, int64, float64, string, []any, map[string]any:
		default:
			t.Errorf("%s is a %T", l.Path, l.Value)
		}
	}
}

func BenchmarkStandard(b *testing.B) {
	v := &host.New(host.Options{}).View
	for _, g := range Standard() {
		b.Run(g.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Gather(b.Context(), v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
