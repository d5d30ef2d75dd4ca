package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// deps returns what each resource comes after, those that refresh it with *.
func deps(c *catalog.Catalog) map[string][]string {
	out := map[string][]string{}
	for i, list := range c.Deps {
		for _, d := range list {
			mark := ""
			if d.Refresh {
				mark = "*"
			}
			out[c.Resources[i].ID.Name] = append(out[c.Resources[i].ID.Name], c.Resources[d.Index].ID.Name+mark)
		}
	}
	return out
}

// nested declares a resource outer that applies a and inner, and inner that
// applies b.
func nested(t *testing.T, lines ...string) *catalog.Builder {
	t.Helper()
	root := &resource.Scope{}
	outer := &resource.Scope{Apply: resource.ID{Type: "node", Name: "outer"}, Parent: root}
	inner := &resource.Scope{Apply: resource.ID{Type: "node", Name: "inner"}, Parent: outer}
	scopes := map[string]*resource.Scope{"a": outer, "b": inner, "inner": outer}
	b := new(catalog.Builder)
	for i, line := range lines {
		r := parse(line, i+1)
		if r.Scope = scopes[r.ID.Name]; r.Scope == nil {
			r.Scope = root
		}
		_, err := b.Add(r)
		require.NoError(t, err)
	}
	return b
}

func TestWhatIsApplied(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  map[string][]string
	}{
		{"comes before what applies it, and refreshes it", []string{"a", "b", "inner", "outer"},
			map[string][]string{"inner": {"b*"}, "outer": {"a*", "inner*"}}},
		{"comes after what that requires, at any depth", []string{"x", "a", "b", "inner", "outer require=x"},
			map[string][]string{"a": {"x"}, "b": {"x"}, "inner": {"x", "b*"}, "outer": {"x", "a*", "inner*"}}},
		{"comes after what says it is before that", []string{"a", "b", "inner", "outer", "x before=outer"},
			map[string][]string{"a": {"x"}, "b": {"x"}, "inner": {"x", "b*"}, "outer": {"x", "a*", "inner*"}}},
		{"is refreshed by itself only", []string{"x notify=outer", "a", "b", "inner", "outer"},
			map[string][]string{"a": {"x"}, "b": {"x"}, "inner": {"x", "b*"}, "outer": {"x*", "a*", "inner*"}}},
		{"may name what applies it", []string{"a before=outer", "b", "inner", "outer"},
			map[string][]string{"inner": {"b*"}, "outer": {"a*", "inner*"}}},
	} {
		c, err := nested(t, tt.lines...).Build()
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, deps(c), tt.name)
	}
	_, err := nested(t, "a require=outer", "b", "inner", "outer").Build()
	require.ErrorContains(t, err, "dependency cycle: node#a → node#outer → node#a")
}

func TestSkippedResourcesGiveWay(t *testing.T) {
	skipped := func(line string) *resource.Resource {
		r := parse(line, 1)
		r.Skip = "no"
		return r
	}
	one, two := skipped("a value=1"), parse("a value=2", 2)
	b := new(catalog.Builder)
	for _, r := range []*resource.Resource{one, parse("x", 1), two} {
		_, err := b.Add(r)
		require.NoError(t, err)
	}
	require.Same(t, two, b.Get(two.ID))
	require.Len(t, b.Resources(), 2)
	require.Same(t, two, b.Resources()[1], "it stands where it is declared")
	got, err := b.Add(skipped("a value=3"))
	require.NoError(t, err)
	require.Same(t, two, got)
	_, err = b.Add(parse("a value=4", 4))
	require.ErrorContains(t, err, "is already declared")

	// So do their aliases.
	b = new(catalog.Builder)
	web, other := skipped("httpd"), parse("apache2", 2)
	web.Common.Alias, other.Common.Alias = "web", "web"
	for _, r := range []*resource.Resource{web, other, skipped("third")} {
		_, err := b.Add(r)
		require.NoError(t, err)
	}
	require.Same(t, other, b.Get(resource.ID{Type: "node", Name: "web"}))
}
