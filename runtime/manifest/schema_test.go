package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/schema"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(manifest.Schema(registry(t)))
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource("manifest.json", doc))
	s, err := c.Compile("manifest.json")
	require.NoError(t, err)
	return s
}

// instance returns a manifest as an editor sees it: with numbers that are
// numbers.
func instance(t *testing.T, n *data.Node) any {
	t.Helper()
	switch n.Kind {
	case schema.List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = instance(t, item)
		}
		return list
	case schema.Map:
		m := make(map[string]any)
		for _, e := range n.Entries {
			m[e.Key.Text] = instance(t, e.Val)
		}
		return m
	}
	v := n.Scalar().Go()
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v
}

func TestSchemaRejectsWhatItCanSee(t *testing.T) {
	s := compiled(t)
	for _, tt := range badManifests(t) {
		doc, err := data.Parse("m.yaml", tt.text)
		if tt.schema == "unreadable" {
			require.Error(t, err, tt.name)
			continue
		}
		require.NoError(t, err, tt.name)
		err = s.Validate(instance(t, doc.Root))
		switch tt.schema {
		case "rejects":
			require.Error(t, err, tt.name)
		case "accepts":
			require.NoError(t, err, tt.name)
		default:
			require.Fail(t, "what does the schema say?", tt.name)
		}
	}
}

func TestSchemaAcceptsWhatIsGood(t *testing.T) {
	s := compiled(t)
	for _, text := range goodManifests(t) {
		doc, err := data.Parse("m.yaml", text)
		require.NoError(t, err)
		require.NoError(t, s.Validate(instance(t, doc.Root)), text)
	}
}

func TestSchemaIsTheSameEachTime(t *testing.T) {
	one, err := json.Marshal(manifest.Schema(registry(t)))
	require.NoError(t, err)
	two, err := json.Marshal(manifest.Schema(registry(t)))
	require.NoError(t, err)
	require.Equal(t, string(one), string(two))
}
