package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A whole is a spec that sets the whole content of a file, an edit one that edits it.
type (
	wholeFile string
	edit      string
)

func (w wholeFile) Traits() resource.Traits { return resource.Traits{WrittenFile: string(w)} }
func (e edit) EditedFile() string           { return string(e) }
func (edit) EditedPart() (string, string)   { return "", "" }

func TestFileIsWrittenOrEdited(t *testing.T) {
	at := func(typ, name string, line int, spec any) *resource.Resource {
		return &resource.Resource{ID: resource.ID{Type: typ, Name: name}, Pos: diag.Pos{File: "site.lua", Line: line, Col: 1}, Spec: spec}
	}
	for _, c := range []struct {
		list []*resource.Resource
		want string
	}{
		{[]*resource.Resource{at("file", "/f", 1, wholeFile("/f")), at("line", "x", 2, edit("/f"))},
			"site.lua:2:1: line#x: edits /f, whose whole content is managed by file#/f at site.lua:1:1: every run would change it twice"},
		{[]*resource.Resource{at("line", "x", 1, edit("/f/")), at("file", "/f", 2, wholeFile("/f"))}, "line#x: edits /f"},
		{[]*resource.Resource{at("file", "/f", 1, wholeFile("")), at("line", "x", 2, edit("/f"))}, ""},
		{[]*resource.Resource{at("file", "/f", 1, wholeFile("/f")), at("line", "x", 2, edit("/g")), at("line", "y", 3, edit(""))}, ""},
		{[]*resource.Resource{at("line", "x", 2, edit("/f")), at("line", "y", 3, edit("/f"))}, ""},
	} {
		var b Builder
		for _, r := range c.list {
			_, err := b.Add(r)
			require.NoError(t, err)
		}
		if found := b.Conflicts(); c.want == "" {
			require.Empty(t, found)
		} else {
			require.ErrorContains(t, found, c.want)
		}
		c.list[0].Skip = "not here"
		require.Empty(t, b.Conflicts())
	}
}

// A setting is a spec that keeps one part of a file.
type setting struct{ file, part, wanted string }

func (s setting) EditedFile() string           { return s.file }
func (s setting) EditedPart() (string, string) { return s.part, s.wanted }

// TestContradictions: two resources of a type that want different things of one part of a file are refused.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		a, b setting
		typ  string // of b
		want bool
	}{
		{setting{"/f", "k", "present"}, setting{"/f/", "k", "absent"}, "kv", true},
		{setting{"/f", "k", "present"}, setting{"/f", "k", "present"}, "kv", false},
		{setting{"/f", "k", "present"}, setting{"/g", "k", "absent"}, "kv", false},
		{setting{"/f", "k", "present"}, setting{"/f", "l", "absent"}, "kv", false},
		{setting{"/f", "k", "present"}, setting{"/f", "k", "absent"}, "ini", false},
		{setting{"/f", "", "present"}, setting{"/f", "", "absent"}, "kv", false},
	} {
		for _, skip := range []string{"", "not here"} {
			var b Builder
			for _, r := range []*resource.Resource{
				{ID: resource.ID{Type: "kv", Name: "a"}, Pos: diag.Pos{File: "site.lua", Line: 1, Col: 1}, Spec: c.a},
				{ID: resource.ID{Type: c.typ, Name: "b"}, Pos: diag.Pos{File: "site.lua", Line: 2, Col: 1}, Spec: c.b, Skip: skip},
			} {
				_, err := b.Add(r)
				require.NoError(t, err)
			}
			_, err := b.Build()
			if c.want && skip == "" {
				require.ErrorContains(t, err, "site.lua:2:1: kv#b: conflicts with kv#a at site.lua:1:1 over the same part of /f/: every run would change it twice (remove one of them)")
			} else {
				require.NoError(t, err)
			}
		}
	}
}
