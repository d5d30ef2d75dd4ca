package choria

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamedData(t *testing.T) {
	for text, want := range map[string][][]string{
		"data.db {{ .facts.os }}":                      nil,
		"{{ .data.db.password }} x {{ .Data.web }}":    {{"db", "password"}, {"web"}},
		"{{ range .data.hosts }}{{ .pw }}{{ end }}":    {{"hosts"}},
		"{{ $d := .data }}{{ $d.db }}":                 {nil},
		"{{ index .Data \"db\" }}":                     {nil},
		"{{ index . \"data\" \"db\" }}":                {nil},
		"{{ .metadata.x }} {{ lookup \"data.db.x\" }}": {{"db", "x"}},
		"{{ .data.db": {{"db"}},
	} {
		require.Equal(t, want, namedData(nil, text, "{{", "}}"), text)
	}
}

func TestOpenData(t *testing.T) {
	type sealedText struct{ text string }
	var unseal func(v any) (any, error)
	unseal = func(v any) (any, error) {
		switch v := v.(type) {
		case sealedText:
			return v.text, nil
		case map[string]any:
			out := make(map[string]any)
			for k, x := range v {
				out[k], _ = unseal(x)
			}
			return out, nil
		}
		return v, nil
	}
	data := map[string]any{"db": map[string]any{"a": sealedText{"1"}, "b": sealedText{"2"}}, "c": sealedText{"3"}}
	open := func(paths ...[]string) map[string]any {
		tree, err := Env{Data: data, Open: unseal}.openData(paths)
		require.NoError(t, err)
		return tree
	}
	require.Equal(t, data, open())
	require.Equal(t, data, open([]string{"nothing", "x"}))
	require.Equal(t, map[string]any{"db": map[string]any{"a": "1", "b": sealedText{"2"}}, "c": sealedText{"3"}}, open([]string{"db", "a"}))
	require.Equal(t, map[string]any{"db": map[string]any{"a": "1", "b": "2"}, "c": "3"}, open([]string{"db"}, []string{"c", "size"}))
	require.Equal(t, open(nil), open([]string{"db"}, nil, []string{"c"}))
	require.Equal(t, sealedText{"1"}, data["db"].(map[string]any)["a"], "what others see is not changed")
}
