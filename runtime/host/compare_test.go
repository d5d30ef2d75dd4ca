package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// compare returns the differences between a directory of the machine and a source.
func compare(t *testing.T, v *host.View, source, dir string) string {
	t.Helper()
	var out []string
	err := v.Sources().CompareTree(t.Context(), source, dir, func(e safepath.TreeEntry) (bool, error) { return e.Rel != "left", nil },
		func(p host.TreePair) error {
			switch {
			case p.Source.Kind == safepath.Missing:
				out = append(out, p.Rel+" extra")
			case p.Target.Kind == safepath.Missing:
				out = append(out, p.Rel+" missing")
			case p.Source.Kind != p.Target.Kind:
				out = append(out, p.Rel+" other")
			case p.Differs:
				out = append(out, p.Rel+" differs")
			}
			return nil
		})
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(out, ", ")
}

// TestCompareTree: assumptions of a plan apply to both sides, and links are not followed.
func TestCompareTree(t *testing.T) {
	h, root := hosttest.New(t, nil)
	source := filepath.Join(t.TempDir(), "src")
	put := func(dir string, files map[string]string) {
		for name, text := range files {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
	}
	long := strings.Repeat("x", 100<<10)
	put(source, map[string]string{"a": "1", "d/same": long, "d/end": long + "a", "d/size": "12", "empty": "", "left": "", "kind": "", "l": "text"})
	put(root+"/d", map[string]string{"a": "1", "d/same": long, "d/end": long + "b", "d/size": "123", "empty": "", "left": "", "kind/x": "", "more": ""})
	require.NoError(t, os.Symlink(source+"/l", root+"/d/l"))
	require.Equal(t, "d/end differs, d/size differs, kind other, kind/x extra, l other, left extra, more extra", compare(t, &h.View, source, "/d"))
	require.Contains(t, compare(t, &h.View, source+"/none", "/d"), "error: ")

	v := h.Planning(t.Context())
	v.Overlay().Assume(nil, false, overlay.PathEffect{Path: "/d/d/size", Kind: safepath.Regular, Content: new("12")}, overlay.PathEffect{Path: "/d/more", Kind: safepath.Missing},
		overlay.PathEffect{Path: "/d/new", Kind: safepath.Regular, Content: new("")})
	looks := new(overlay.Looks)
	require.Equal(t, "d/end differs, kind other, kind/x extra, l other, left extra, new extra", compare(t, v.Recording(looks), source, "/d"))
	require.LessOrEqual(t, len(looks.List()), 2, "a tree is one look, whatever is in it")

	// The future content of a file is unknown.
	v.Overlay().Assume("exec#x", false, overlay.PathEffect{Path: "/d/a", Kind: safepath.Regular})
	require.Contains(t, compare(t, v.Recording(looks), source, "/d"), overlay.ErrNotKnown.Error())
	require.Contains(t, looks.Doubts(), any("exec#x"))
}

// TestCompareTreeAllocates: the allocations grow linearly with the number of files.
func TestCompareTreeAllocates(t *testing.T) {
	h, root := hosttest.New(t, nil)
	source := filepath.Join(t.TempDir(), "src")
	per := func(n int) float64 {
		for i := range n {
			for _, dir := range []string{source, root + "/d"} {
				require.NoError(t, os.MkdirAll(dir, 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte("x"), 0o644))
			}
		}
		return testing.AllocsPerRun(1, func() { require.Empty(t, compare(t, &h.View, source, "/d")) }) / float64(n)
	}
	few := per(200)
	require.InEpsilon(t, few, per(800), 0.2)
}
