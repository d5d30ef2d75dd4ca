package facts

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// counting returns a gatherer of val, and how often it was asked.
func counting(name string, val any, err error) (Gatherer, *atomic.Int32) {
	var asked atomic.Int32
	return Gatherer{Name: name, Gather: func(context.Context, *host.View) (any, error) {
		asked.Add(1)
		return val, err
	}}, &asked
}

func TestLazyAndOnce(t *testing.T) {
	a, askedA := counting("a", map[string]any{"x": int64(1), "y": int64(2)}, nil)
	b, askedB := counting("b", nil, errors.New("broken"))
	f := New(t.Context(), nil, []Gatherer{a, b}, nil)
	require.Equal(t, []string{"a", "b"}, f.Names())
	require.False(t, f.Gathered("a"))
	require.Zero(t, askedA.Load(), "nothing is gathered until it is asked for")

	for _, path := range []string{"a.x", "a.y", "a"} {
		_, err := f.Get(path)
		require.NoError(t, err)
	}
	require.True(t, f.Gathered("a"))
	require.EqualValues(t, 1, askedA.Load())
	require.Zero(t, askedB.Load())

	for range 2 {
		_, err := f.Get("b.x")
		require.EqualError(t, err, "fact b: broken")
	}
	require.EqualValues(t, 1, askedB.Load(), "an error is remembered too")
}

func TestOverridesAreDeep(t *testing.T) {
	g, asked := counting("os", map[string]any{"family": "debian", "id_like": []any{"x"}, "deep": map[string]any{"a": int64(1), "b": int64(2)}}, nil)
	kernel, kernelAsked := counting("kernel", map[string]any{"name": "Linux"}, nil)
	over := map[string]any{
		"os":     map[string]any{"family": "rhel", "id_like": []any{}, "deep": map[string]any{"b": int64(3)}, "new": true},
		"kernel": "replaced",
		"mine":   map[string]any{"role": "web"},
	}
	f := New(t.Context(), nil, []Gatherer{g, kernel}, over)
	require.Equal(t, []string{"kernel", "mine", "os"}, f.Names())
	tree, err := f.Tree()
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"os":     map[string]any{"family": "rhel", "id_like": []any{}, "deep": map[string]any{"a": int64(1), "b": int64(3)}, "new": true},
		"kernel": "replaced",
		"mine":   map[string]any{"role": "web"},
	}, tree)
	require.EqualValues(t, 1, asked.Load())
	require.Zero(t, kernelAsked.Load(), "what is replaced as a whole is not gathered")
	require.Equal(t, map[string]any{"family": "rhel", "id_like": []any{}, "deep": map[string]any{"b": int64(3)}, "new": true}, over["os"], "the arguments are not changed")
}

func TestOverrideOfABranchThatIsAbsent(t *testing.T) {
	g, _ := counting("domain", nil, nil)
	f := New(t.Context(), nil, []Gatherer{g}, map[string]any{"domain": map[string]any{"x": int64(1)}, "gone": nil})
	got, err := f.Get("domain.x")
	require.NoError(t, err)
	require.Equal(t, int64(1), got)
	tree, err := f.Tree()
	require.NoError(t, err)
	require.NotContains(t, tree, "gone", "null takes a fact away")
}

func TestMergeOverNothing(t *testing.T) {
	require.Equal(t, map[string]any{"a": int64(1)}, Merge(map[string]any(nil), map[string]any{"a": int64(1)}))
	require.Equal(t, map[string]any{"a": int64(1)}, Merge(map[string]any{"a": int64(1)}, map[string]any(nil)))
}

func TestNotFoundHints(t *testing.T) {
	f := Static(map[string]any{
		"os":   map[string]any{"family": "debian", "name": "Debian", "release": "12", "release_major": int64(12)},
		"list": []any{map[string]any{"name": "a"}},
	})
	for _, c := range []struct{ path, hint, scalar string }{
		{"so.family", `did you mean "os"?`, ""},
		{"os_family", `did you mean "os.family"?`, ""},
		{"ansible_distribution", `did you mean "os.id"?`, ""},
		{"ipaddress", `did you mean "net.ip"?`, ""},
		{"os.distro.codename", `did you mean "os.codename"?`, ""},
		{"os.famly", `did you mean "os.family"?`, ""},
		{"os.zzzzzzzz", "", ""},
		{"os.family.x", "", ": os.family is a text"},
		{"os.release.minor", "", ": os.release is a text"},
		{"os.release.major.x", "", ": os.release.major is a number"},
		{"os.family.name", "", ": os.family is a text"},
		{"os.release_major.x", "", ": os.release_major is a number"},
		{"list.0.nmae", `did you mean "list.0.name"?`, ""},
		{"list.1", "", ""},
		{"list.-1", "", ""},
		{"list.0x", "", ""},
		{"list.name", "", ""},
		{".os", "", ""},
	} {
		_, err := f.Get(c.path)
		nf, ok := errors.AsType[*NotFoundError](err)
		require.True(t, ok, "%s: %v", c.path, err)
		require.Equal(t, c.path, nf.Path)
		require.EqualError(t, err, `no fact "`+c.path+`"`+c.scalar)
		require.Equal(t, c.hint, nf.Hint(), c.path)
	}
	got, err := f.Get("os.release.major")
	require.NoError(t, err)
	require.Equal(t, int64(12), got, "a part of a text, as other tools write it")
	got, err = f.Get("list.0.name")
	require.NoError(t, err)
	require.Equal(t, "a", got)
}

func TestAbsentBranch(t *testing.T) {
	g, _ := counting("domain", nil, nil)
	f := New(t.Context(), nil, []Gatherer{g}, nil)
	for _, path := range []string{"domain", "domain.x"} {
		_, err := f.Get(path)
		nf, ok := errors.AsType[*NotFoundError](err)
		require.True(t, ok)
		require.Equal(t, path, nf.Path)
		require.Empty(t, nf.Hint())
	}
	tree, err := f.Tree()
	require.NoError(t, err)
	require.Empty(t, tree)
}

func TestTreeWithBranchesThatFail(t *testing.T) {
	a, _ := counting("a", "fine", nil)
	b, _ := counting("b", nil, errors.New("broken"))
	c, _ := counting("c", nil, errors.New("too"))
	tree, err := New(t.Context(), nil, []Gatherer{c, b, a}, nil).Tree()
	require.Equal(t, map[string]any{"a": "fine"}, tree)
	list, ok := errors.AsType[diag.List](err)
	require.True(t, ok)
	require.Len(t, list, 2)
	require.EqualError(t, list, "fact b: broken\nfact c: too")
}

func TestManyAsk(t *testing.T) {
	g, asked := counting("os", map[string]any{"family": "debian"}, nil)
	absent, _ := counting("domain", nil, nil)
	f := New(t.Context(), nil, []Gatherer{g, absent}, map[string]any{"os": map[string]any{"x": int64(1)}})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for _, path := range []string{"os.family", "os.nope", "domain", "domain.x", ""} {
				_, _ = f.Get(path)
			}
			_, _ = f.Gathered("os"), f.Names()
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, asked.Load())
}

func TestManyAskForTheStandardFacts(t *testing.T) {
	f := New(t.Context(), &host.New(host.Options{}).View, Standard(), nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _, _ = f.Tree() })
	}
	wg.Wait()
	for _, name := range f.Names() {
		g, _ := f.Gatherer(name)
		require.Equal(t, !g.OnlyNamed, f.Gathered(name), name)
	}
}
