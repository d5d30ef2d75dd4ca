package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
)

// found is a state with all that reports ask for.
type foundState struct{ Size int }

func (foundState) CurrentEnsure() string { return "present" }

func (f foundState) Describe(name, provider string) any {
	return struct {
		Name     string `json:"name"`
		Provider string `json:"provider"`
		Size     int    `json:"size"`
	}{name, provider, f.Size}
}

// The fields are those of CommonResourceState and of the metadata in the design documents.
func TestStateOf(t *testing.T) {
	text, err := json.Marshal(StateOf(id("/a"), "posix", foundState{3}))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"protocol": "io.choria.ccm.v1.resource.file.state", "resource_type": "file", "name": "/a",
		"ensure": "present", "provider": "posix", "metadata": {"name": "/a", "provider": "posix", "size": 3}
	}`, string(text))
	text, err = json.Marshal(StateOf(id("/a"), "posix", struct{}{}))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"protocol": "io.choria.ccm.v1.resource.file.state", "resource_type": "file", "name": "/a", "ensure": "", "provider": "posix"
	}`, string(text))
}

// Every event validates against the schema derived from its struct, and a decoded event is reported like the original
// one.
func TestEventsAreReadBack(t *testing.T) {
	text, err := json.Marshal(EventSchema())
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("event.json", doc))
	s, err := c.Compile("event.json")
	require.NoError(t, err)
	for _, e := range samples() {
		line, err := json.Marshal(EventOf(e, "run", DiffFull))
		require.NoError(t, err)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(line)))
		require.NoError(t, err)
		require.NoError(t, s.Validate(v), string(line))

		var back Event
		require.NoError(t, json.Unmarshal(line, &back))
		e.Text, e.Resource.Calls = nil, nil // not told again
		require.Equal(t, told(e), told(Restore(back)))
	}
	require.Error(t, s.Validate(map[string]any{"protocol": EventProtocol}))
}

func told(e *event.Event) string {
	var b strings.Builder
	Text{W: &b, Verbose: true, Diff: DiffSummary}.Event(e)
	return b.String()
}
