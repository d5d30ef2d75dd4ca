package unpack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEntryName(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "a/b": "a/b", "./a//b/": "a/b", ".": "", "./": "", "a\\b": "a\\b", "..a/b..": "..a/b..",
	} {
		got, err := entryName(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got)
	}
	for name, want := range map[string]string{
		"":         "its name is empty",
		"/etc/x":   "is an absolute path",
		"//x":      "is an absolute path",
		"..":       "is a path with ..",
		"../x":     "is a path with ..",
		"a/../b":   "is a path with ..",
		"a/b/..":   "is a path with ..",
		"a\x00b":   "contains a NUL byte",
		"./../a/b": "is a path with ..",
	} {
		_, err := entryName(name)
		require.ErrorContains(t, err, want, name)
	}
}

// No order of links, whatever they pass through, points outside of the directory.
func TestCheckLinks(t *testing.T) {
	tests := []struct {
		name  string
		links map[string]string
		fails string
	}{
		{"inside", map[string]string{"a/l": "../b/f", "m": "a/l", "b/self": "."}, ""},
		{"to the directory itself", map[string]string{"a/l": ".."}, ""},
		{"absolute, inside", map[string]string{"a/l": "/opt/app/b"}, ""},
		{"absolute, to the directory", map[string]string{"a/l": "/opt/app"}, ""},
		{"to nothing, inside", map[string]string{"l": "missing/x"}, ""},
		{"which forms a loop", map[string]string{"a": "b", "b": "a"}, ""},
		{"absolute", map[string]string{"l": "/etc/passwd"}, `entry "l": is a symbolic link to /etc/passwd, which points outside of the directory`},
		{"absolute, beside", map[string]string{"l": "/opt/app2"}, "points outside"},
		{"absolute, back out", map[string]string{"l": "/opt/app/../x"}, "points outside"},
		{"up", map[string]string{"a/l": "../../x"}, "points outside"},
		{"up and back in", map[string]string{"l": "../app/x"}, "points outside"},
		{"up through something missing", map[string]string{"l": "no/../../x"}, "points outside"},
		// x/y/z is the directory itself, so z/.. is above it, although x/y/z/.. looks like x/y.
		{"up through a link", map[string]string{"x/y/z": "../..", "w": "x/y/z/.."}, `entry "w"`},
		{"through a chain of links", map[string]string{"a": "b/c", "b": "d", "d/c": "../..", "e": "a/f"}, "points outside"},
		{"through an absolute link", map[string]string{"a/b": "/opt/app", "c": "a/b/.."}, `entry "c"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLayout()
			l.links = tt.links
			err := l.checkLinks("/opt/app")
			if tt.fails == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.fails)
		})
	}
}
