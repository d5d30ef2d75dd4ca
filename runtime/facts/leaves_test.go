package facts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLeaves(t *testing.T) {
	tree := map[string]any{
		"os":   map[string]any{"name": "Debian", "family": "debian"},
		"list": []any{"a", map[string]any{"x": int64(1)}, []any{}},
		"none": nil,
		"odd":  map[string]any{"eth0.100": true, `back\slash`: "s", "empty": map[string]any{}},
	}
	leaves := Leaves("", tree)
	require.Equal(t, []Leaf{
		{"list.0", "a"},
		{"list.1.x", int64(1)},
		{"list.2", []any{}},
		{"none", nil},
		{`odd.back\\slash`, "s"},
		{"odd.empty", map[string]any{}},
		{`odd.eth0\.100`, true},
		{"os.family", "debian"},
		{"os.name", "Debian"},
	}, leaves)

	f := Static(tree)
	for _, l := range leaves {
		if l.Value == nil {
			continue
		}
		got, err := f.Get(l.Path)
		require.NoError(t, err)
		require.Equal(t, l.Value, got)
	}
	require.Equal(t, []Leaf{{"os.family", "debian"}, {"os.name", "Debian"}}, Leaves("os", tree["os"]))
	require.Equal(t, []Leaf{{"os.name", "Debian"}}, Leaves("os.name", "Debian"))
}

func TestLeavesOfMoreThanTenItems(t *testing.T) {
	list := make([]any, 12)
	leaves := Leaves("x", list)
	require.Len(t, leaves, 12)
	require.Equal(t, "x.2", leaves[2].Path)
	require.Equal(t, "x.10", leaves[10].Path)
}

func FuzzPath(f *testing.F) {
	f.Add("a", "b.c", `d\`)
	f.Add(``, `\.`, `.\\`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		names := []string{a, b, c}
		path := ""
		for i, name := range names {
			if i == 0 {
				path = escapeName.Replace(name)
				continue
			}
			path += "." + escapeName.Replace(name)
		}
		require.Equal(t, names, splitPath(path))
	})
}
