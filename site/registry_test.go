package site

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/contract"
)

// TestChoiceIgnoresSpecs: for types that declare it, properties do not influence the choice of a provider.
func TestChoiceIgnoresSpecs(t *testing.T) {
	reg, err := NewRegistry(new(TemplateEnv))
	require.NoError(t, err)
	yes, text := true, "x"
	wants := map[string][]any{
		"file": {
			&resources.File{Name: "/a"}, &resources.File{Name: "/b", Ensure: resources.FileDirectory, Owner: "root"},
			&resources.File{Name: "/c", Ensure: resources.FileAbsent, Force: true}, &resources.File{Name: "/d", Content: &text},
		},
		"package": {
			&resources.Package{Name: "a"}, &resources.Package{Name: "b", Ensure: "absent"}, &resources.Package{Name: "c", Ensure: "latest", Hold: &yes},
			&resources.Package{Name: "d", Ensure: "1.0", Options: []string{"-x"}},
		},
		"service": {
			&resources.Service{Name: "a"}, &resources.Service{Name: "b", Scope: resources.UserService, User: "c"}, &resources.Service{Name: "d", Enable: &yes},
		},
	}
	tried := 0
	for _, typ := range reg.Types() {
		for _, b := range reg.Bindings(typ) {
			for _, family := range []string{"debian", "rhel", "fedora", "suse", "arch", "alpine", "freebsd", "darwin", "plan9"} {
				f := facts.Static(map[string]any{"os": map[string]any{"family": family, "name": family}, "service_manager": "systemd"})
				require.NoError(t, contract.CheckSuits(b, f, wants[typ.Name]), "%s on %s", typ.Name, family)
			}
			tried += len(wants[typ.Name])
		}
	}
	require.Greater(t, tried, 30)
	for _, typ := range reg.Types() {
		if resource.TraitsOf(typ.NewSkipped("x", "", nil, resource.Origin{}).Spec).ProviderIgnoresSpec {
			require.NotEmpty(t, wants[typ.Name], typ.Name)
		}
	}
}

// TestProvidersHaveSuites: every provider that ships with ccm is tested with the contract suite.
func TestProvidersHaveSuites(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "registry.go", nil, parser.ImportsOnly)
	require.NoError(t, err)
	tried := 0
	for _, x := range f.Imports {
		_, name, ok := strings.Cut(strings.Trim(x.Path.Value, `"`), "/providers/")
		if !ok {
			continue
		}
		tests, err := filepath.Glob(filepath.Join("..", "providers", name, "*_test.go"))
		require.NoError(t, err)
		var all string
		for _, file := range tests {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all += string(text)
		}
		require.Regexp(t, `resourcetest\.Suite|pkgtooltest\.Suite\(|\.Suite\(t, `, all, "providers/%s has no suite", name)
		tried++
	}
	require.Equal(t, 14, tried)
}
