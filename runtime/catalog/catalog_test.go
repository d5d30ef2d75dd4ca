package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// node is a resource with nothing to it; it can be refreshed.
type node struct {
	Name  string `ccm:"name,name"`
	Value string `ccm:"value"`
}

func (node) Validate() error                                                   { return nil }
func (node) Decide(int) resource.Decision                                      { return resource.Decision{} }
func (node) Refresh(_ int, d resource.Decision) resource.Decision              { return d }
func (node) Perform(context.Context, *host.Host, nodes, resource.Action) error { return nil }

type nodes interface {
	Status(context.Context, *host.View, node) (int, error)
}

var nodeType = resource.Define[node, int, nodes]("node").Type

// rock is a resource that cannot be refreshed.
type rock struct {
	Name string `ccm:"name,name"`
}

func (rock) Validate() error                                                   { return nil }
func (rock) Decide(int) resource.Decision                                      { return resource.Decision{} }
func (rock) Perform(context.Context, *host.Host, rocks, resource.Action) error { return nil }

type rocks interface {
	Status(context.Context, *host.View, rock) (int, error)
}

var rockType = resource.Define[rock, int, rocks]("rock").Type

// declare makes resources of lines such as "a require=b,c notify=d".
func declare(t *testing.T, lines ...string) *catalog.Builder {
	t.Helper()
	b := new(catalog.Builder)
	for i, line := range lines {
		r := parse(line, i+1)
		if _, err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func parse(line string, n int) *resource.Resource {
	words := strings.Fields(line)
	r := &resource.Resource{Type: nodeType, ID: resource.ID{Type: "node", Name: words[0]}, Pos: diag.Pos{File: "x", Line: n}, Common: new(resource.Common)}
	spec := node{Name: words[0]}
	if name, ok := strings.CutPrefix(words[0], "rock:"); ok {
		r.Type, r.ID = rockType, resource.ID{Type: "rock", Name: name}
	}
	for _, w := range words[1:] {
		key, val, _ := strings.Cut(w, "=")
		var refs []resource.Reference
		for name := range strings.SplitSeq(val, ",") {
			typ := "node"
			if rest, ok := strings.CutPrefix(name, "rock:"); ok {
				typ, name = "rock", rest
			}
			refs = append(refs, resource.Reference{Type: typ, Name: name})
		}
		switch key {
		case "require":
			r.Common.Require = refs
		case "before":
			r.Common.Before = refs
		case "notify":
			r.Common.Notify = refs
		case "subscribe":
			r.Common.Subscribe = refs
		case "alias":
			r.Common.Alias = val
		case "tags":
			for tag := range strings.SplitSeq(val, ",") {
				r.Common.Tags = append(r.Common.Tags, resource.Tag(tag))
			}
		case "value":
			spec.Value = val
		}
	}
	r.Spec = &spec
	return r
}

func names(c *catalog.Catalog) string {
	var out []string
	for _, r := range c.Resources {
		out = append(out, r.ID.Name)
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	for _, x := range []struct{ lines, want string }{
		{"a;b;c", "a b c"},
		{"a require=c;b;c", "b c a"},
		{"a;b before=a", "b a"},
		{"a;b notify=a;c", "b a c"},
		{"a subscribe=b;b require=c;c;d", "c b a d"},
		{"a;b require=a;c require=a;d", "a b c d"},
		{"x;a require=other;b alias=other", "x b a"},
		{"c before=a,b;b;a", "c b a"},
	} {
		c, err := declare(t, strings.Split(x.lines, ";")...).Build()
		require.NoError(t, err)
		require.Equal(t, x.want, names(c), x.lines)
	}
}

func TestDeps(t *testing.T) {
	c, err := declare(t, "a", "b require=a subscribe=a", "c require=b,a").Build()
	require.NoError(t, err)
	require.Equal(t, [][]catalog.Dep{nil, {{Index: 0, Refresh: true}}, {{Index: 0}, {Index: 1}}}, c.Deps)
}

// Resources that cannot be refreshed are ordered too.
func TestOnlyOrdered(t *testing.T) {
	c, err := declare(t, "rock:r", "a", "b notify=rock:r,a", "rock:s subscribe=b").Build()
	require.NoError(t, err)
	require.Equal(t, "b r a s", names(c))
	require.Equal(t, [][]catalog.Dep{nil, {{Index: 0}}, {{Index: 0, Refresh: true}}, {{Index: 0}}}, c.Deps)
}

func TestMistakes(t *testing.T) {
	for _, x := range []struct{ lines, err string }{
		{"nginx;a require=ngnix", "x:2: node#a: require: no resource node#ngnix (did you mean node#nginx?)"},
		{"a require=zzzzz", "x:1: node#a: require: no resource node#zzzzz"},
		{"rock:web;a require=web", "x:2: node#a: require: no resource node#web (did you mean rock#web?)"},
		{"a before=b;b before=c;z;c before=a", "x:1: dependency cycle: node#a → node#b → node#c → node#a\n" +
			"  x:1: node#a comes before node#b (before)\n  x:2: node#b comes before node#c (before)\n  x:4: node#c comes before node#a (before)"},
		{"a require=a", "x:1: dependency cycle: node#a → node#a\n  x:1: node#a comes before node#a (require)"},
		// What merely hangs on a loop is not shown.
		{"q require=p;p require=b;a subscribe=b;b require=a", "x:3: dependency cycle: node#a → node#b → node#a\n" +
			"  x:4: node#a comes before node#b (require)\n  x:3: node#b comes before node#a (subscribe)"},
		{"a require=x;b require=y", "x:1: node#a: require: no resource node#x\nx:2: node#b: require: no resource node#y"},
	} {
		_, err := declare(t, strings.Split(x.lines, ";")...).Build()
		require.EqualError(t, err, x.err)
	}
}

func TestDuplicates(t *testing.T) {
	b := declare(t, "a value=1", "b alias=c")
	same, err := b.Add(parse("a value=1", 3))
	require.NoError(t, err)
	require.Equal(t, 1, same.Pos.Line)
	for line, want := range map[string]string{
		"a value=2": "x:9: node#a: is already declared at x:1",
		"c":         "x:9: node#c: node#c is already the name or alias of node#b at x:2",
		"d alias=a": "x:9: node#d: node#a is already the name or alias of node#a at x:1",
		"d alias=c": "x:9: node#d: node#c is already the name or alias of node#b at x:2",
	} {
		_, err := b.Add(parse(line, 9))
		require.EqualError(t, err, want)
	}
}

func TestTarget(t *testing.T) {
	c, err := declare(t, "a", "b subscribe=a", "c", "d require=b", "e").Build()
	require.NoError(t, err)
	part, err := c.Select(catalog.Selection{Targets: []resource.ID{{Type: "node", Name: "d"}}})
	require.NoError(t, err)
	require.Equal(t, "a b d", names(part))
	require.Equal(t, [][]catalog.Dep{{}, {{Index: 0, Refresh: true}}, {{Index: 1}}}, part.Deps)
	_, err = c.Select(catalog.Selection{Targets: []resource.ID{{Type: "nod", Name: "d"}}})
	require.EqualError(t, err, "--target: no resource nod#d (did you mean node#d?)")
}

func TestTags(t *testing.T) {
	c, err := declare(t, "a tags=web", "b tags=db,slow subscribe=a", "c subscribe=b", "d tags=web require=c", "e").Build()
	require.NoError(t, err)
	for _, x := range []struct{ tags, skip, want string }{
		{"web", "", "a b c d"}, {"web", "slow", "a c d"}, {"", "slow", "a c d e"}, {"", "slow,web", "c e"}, {"db", "", "a b"}, {"db", "web", "b"}, {"", "", "a b c d e"},
	} {
		part, err := c.Select(catalog.Selection{Tags: words(x.tags), SkipTags: words(x.skip)})
		require.NoError(t, err)
		require.Equal(t, x.want, names(part), x)
	}
	// A resource behind an excluded one comes after the dependencies of that one. It is not refreshed through it, and
	// the refresh of the excluded one stays pending.
	part, err := c.Select(catalog.Selection{SkipTags: []string{"slow"}})
	require.NoError(t, err)
	require.Equal(t, [][]catalog.Dep{{}, {{Index: 0}}, {{Index: 1}}, {}}, part.Deps)
	require.Equal(t, []catalog.ExcludedResource{{ID: resource.ID{Type: "node", Name: "b"}, Pos: diag.Pos{File: "x", Line: 2}, Resource: c.Resources[1], RefreshedBy: []int{0}}}, part.Excluded)
	for want, s := range map[string]catalog.Selection{
		`--tags: no resource has the tag "wbe" (did you mean web?)`:            {Tags: []string{"web", "wbe"}},
		`--skip-tags: no resource has the tag "nothing" (tags: db, slow, web)`: {SkipTags: []string{"nothing"}},
		`--tags: expected a tag, got an empty text (tags: db, slow, web)`:      {Tags: []string{""}},
		`no resources left of --tags db: --skip-tags slow skips them`:          {Tags: []string{"web", "db"}, SkipTags: []string{"slow"}},
		`no resources left of --target node#b: --skip-tags slow skips them`:    {Targets: []resource.ID{{Type: "node", Name: "b"}}, SkipTags: []string{"slow"}},
	} {
		_, err := c.Select(s)
		require.EqualError(t, err, want)
	}
}

func TestGlobs(t *testing.T) {
	c, err := declare(t, "/etc/a", "/etc/d/b require=/etc/a", "/srv/*", "/srv/x alias=/opt/x", "rock:one require=/srv/x", "e").Build()
	require.NoError(t, err)
	for _, x := range []struct {
		target     resource.ID
		want       string
		dependents string
	}{
		{resource.ID{Type: "node", Name: "/etc/*"}, "/etc/a", "/etc/a /etc/d/b"},
		{resource.ID{Type: "node", Name: "/etc/**"}, "/etc/a /etc/d/b", "/etc/a /etc/d/b"},
		{resource.ID{Type: "node", Name: "/**/b"}, "/etc/a /etc/d/b", "/etc/a /etc/d/b"},
		{resource.ID{Type: "node", Name: "/srv/*"}, "/srv/*", "/srv/*"}, // it is the name of one
		{resource.ID{Type: "node", Name: "/srv/?"}, "/srv/* /srv/x", "/srv/* /srv/x one"},
		{resource.ID{Type: "node", Name: "/opt/*"}, "/srv/x", "/srv/x one"},
		{resource.ID{Type: "r*", Name: "*"}, "/srv/x one", "/srv/x one"},
		{resource.ID{Type: "node", Name: "*"}, "/etc/a /etc/d/b /srv/* /srv/x e", "/etc/a /etc/d/b /srv/* /srv/x one e"},
		{resource.ID{Type: "*", Name: "[a-e]"}, "e", "e"},
	} {
		for dependents, want := range map[bool]string{false: x.want, true: x.dependents} {
			part, err := c.Select(catalog.Selection{Targets: []resource.ID{x.target}, WithDependents: dependents})
			require.NoError(t, err)
			require.Equal(t, want, names(part), x.target)
		}
	}
	for want, target := range map[string]resource.ID{
		"--target: no resource matches node#/ect/* (did you mean node#/etc/*?)":                         {Type: "node", Name: "/ect/*"},
		"--target: no resource matches bird*#/x*":                                                       {Type: "bird*", Name: "/x*"},
		"--target: no resource matches node#/* (* does not match /, use node#/** for everything below)": {Type: "node", Name: "/*"},
		"--target: no resource matches nod#* (did you mean node#*?)":                                    {Type: "nod", Name: "*"},
		"--target: no resource matches node#/x/*":                                                       {Type: "node", Name: "/x/*"},
		"--target: node#/etc/[: syntax error in pattern":                                                {Type: "node", Name: "/etc/["},
	} {
		_, err := c.Select(catalog.Selection{Targets: []resource.ID{target}})
		require.EqualError(t, err, want)
	}
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// TestStable: without edges the order is that of declaration; with edges each resource comes as early as possible.
func TestStable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rnd.IntN(12)
		lines := make([]string, n)
		wait := make([][]int, n)
		perm := rnd.Perm(n) // edges go up this order, so there is no cycle
		for i := range n {
			lines[i] = fmt.Sprintf("n%02d", i)
		}
		for i := range n {
			for j := range n {
				if perm[j] < perm[i] && rnd.IntN(4) == 0 {
					wait[i] = append(wait[i], j)
					lines[i] += fmt.Sprintf(" require=n%02d", j)
					break
				}
			}
		}
		c, err := declare(t, lines...).Build()
		require.NoError(t, err)
		// The naive algorithm: always the first that may come.
		var want []string
		done := make([]bool, n)
		for len(want) < n {
			for i := range n {
				ready := !done[i]
				for _, j := range wait[i] {
					ready = ready && done[j]
				}
				if ready {
					done[i] = true
					want = append(want, fmt.Sprintf("n%02d", i))
					break
				}
			}
		}
		require.Equal(t, strings.Join(want, " "), names(c), lines)
	}
}

func BenchmarkBuild(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	builder := new(catalog.Builder)
	for i := range 10000 {
		line := fmt.Sprintf("n%d", i)
		if i > 3 {
			line += fmt.Sprintf(" require=n%d,n%d,n%d", rnd.IntN(i), rnd.IntN(i), rnd.IntN(i))
		}
		if _, err := builder.Add(parse(line, i+1)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builder.Build(); err != nil {
			b.Fatal(err)
		}
	}
}
