// Package examples tests the manifests that people are shown.
package examples

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/providers/apt"
	"github.com/luaccm/ccm/providers/ccmmanifest"
	"github.com/luaccm/ccm/providers/choria"
	"github.com/luaccm/ccm/providers/dnf"
	"github.com/luaccm/ccm/providers/http"
	"github.com/luaccm/ccm/providers/posix"
	"github.com/luaccm/ccm/providers/systemd"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

func registry(t *testing.T) *resource.Registry {
	t.Helper()
	reg, err := resource.NewRegistry(slices.Concat(
		apt.Providers(), ccmmanifest.Providers(), choria.Providers(nil), dnf.Providers(), http.Providers(), posix.Providers(), systemd.Providers(),
	)...)
	require.NoError(t, err)
	return reg
}

// load loads a manifest with the types and providers that ship with ccm.
func load(t *testing.T, text string) (*manifest.Manifest, *catalog.Catalog, error) {
	t.Helper()
	var b catalog.Builder
	l := &manifest.Loader{
		Registry: registry(t),
		Facts: facts.Static(map[string]any{
			"hostname": "web01",
			"host":     map[string]any{"info": map[string]any{"os": "linux", "virtualizationSystem": "kvm"}},
		}),
		ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
	}
	units := &catalog.Units{Builder: &b, ReadFile: l.ReadFile}
	m, err := l.Load(t.Context(), units.Root("m.yaml", "/site"), text)
	if err != nil {
		return nil, nil, err
	}
	c, err := b.Build()
	return m, c, err
}

func documents(t *testing.T) []txtar.File {
	t.Helper()
	a, err := txtar.ParseFile("testdata/documents.txtar")
	require.NoError(t, err)
	require.Greater(t, len(a.Files), 30)
	return a.Files
}

func TestManifestsOfTheDocumentsLoad(t *testing.T) {
	for _, f := range documents(t) {
		_, c, err := load(t, string(f.Data))
		require.NoError(t, err, f.Name)
		require.NotEmpty(t, c.Resources, f.Name)
	}
}

func TestRenderedManifestsDeclareTheSame(t *testing.T) {
	for _, f := range documents(t) {
		m, c, err := load(t, string(f.Data))
		require.NoError(t, err)
		out, err := m.Render()
		require.NoError(t, err)
		_, again, err := load(t, string(out))
		require.NoError(t, err, "%s\n%s", f.Name, out)
		require.Len(t, again.Resources, len(c.Resources))
		for i, r := range c.Resources {
			require.Equal(t, []any{r.ID, r.Spec, r.Common, r.Skip != ""},
				[]any{again.Resources[i].ID, again.Resources[i].Spec, again.Resources[i].Common, again.Resources[i].Skip != ""}, f.Name)
		}
	}
}

// compile compiles a schema.
func compile(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("x.json", instance(t, schema)))
	s, err := c.Compile("x.json")
	require.NoError(t, err)
	return s
}

// instance returns a value as schemas are asked about it.
func instance(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return out
}

// What the page about the API asks and answers is what "ccm docs --schema request" and "ccm docs --schema
// response" say.
func TestSchemasAcceptTheDocumentsOfTheAPI(t *testing.T) {
	requests := compile(t, manifest.RequestSchema(registry(t), manifest.RequestProtocol))
	responses := compile(t, report.ResponseSchema())
	text, err := os.ReadFile("../docs/ensure.md")
	require.NoError(t, err)
	seen := 0
	for _, block := range strings.Split(string(text), "```json\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for dec := json.NewDecoder(strings.NewReader(block)); dec.More(); seen++ {
			var v map[string]any
			require.NoError(t, dec.Decode(&v), block)
			schema := requests
			if v["protocol"] == report.ResponseProtocol {
				schema = responses
			}
			require.NoError(t, schema.Validate(v), block)
		}
	}
	require.Greater(t, seen, 3)
	require.NoError(t, responses.Validate(instance(t, report.Response{Protocol: report.ResponseProtocol, Error: "x"})))
	require.Error(t, responses.Validate(instance(t, report.Response{Protocol: report.ResponseProtocol})))
}

func TestSchemaAcceptsTheManifestsOfTheDocuments(t *testing.T) {
	s := compile(t, manifest.Schema(registry(t)))
	for _, f := range documents(t) {
		doc, err := data.Parse("m.yaml", string(f.Data))
		require.NoError(t, err)
		require.NoError(t, s.Validate(instance(t, doc.Root.Go())), f.Name)
	}
}
