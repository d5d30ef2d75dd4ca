package record

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFactsAreCutToTheirLimit(t *testing.T) {
	f := Facts{Node: "web1", Facts: map[string]any{"os": map[string]any{"family": "debian"}, "packages": strings.Repeat("x", 200<<10), "mounts": strings.Repeat("y", 100<<10)}}
	text, err := f.Encode()
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), MaxFacts)
	got, err := DecodeFacts("web1", text)
	require.NoError(t, err)
	require.Equal(t, []string{"packages"}, got.TruncatedFacts)
	require.Contains(t, got.Facts, "mounts")
	require.Equal(t, map[string]any{"family": "debian"}, got.Facts["os"])
	_, err = DecodeFacts("web2", text)
	require.ErrorContains(t, err, `"web1"`)
}

// Some facts are decoded like all of them.
func TestSomeFacts(t *testing.T) {
	text, err := Facts{Node: "web1", Facts: map[string]any{"os": map[string]any{"family": "debian", "list": []any{1.5, nil, true}}, "a.b": "x\u2028", "a": map[string]any{"b": 1.0}, "w*?|#@{}\\\"[": "odd", "@this": 1.0, "0": "zero", "ü": "ü", "": "no name", "long": strings.Repeat("x", 9000)}}.Encode()
	require.NoError(t, err)
	all, err := DecodeFacts("web1", text)
	require.NoError(t, err)
	some, err := DecodeSomeFacts("web1", text, []string{"os", "a.b", "a", "none", "w*?|#@{}\\\"[", "@this", "0", "ü", ""})
	require.NoError(t, err)
	delete(all.Facts, "long")
	require.Equal(t, all.Facts, some.Facts)

	for _, text := range []string{``, `{`, `[]`, `{"protocol": 5}`, `{"protocol":"` + FactsProtocol + `","node":"web2"}`, `{"protocol":"` + FactsProtocol + `","node":"web1","facts":{"os":1}`, strings.Repeat(" ", 257<<10)} {
		_, wrong := DecodeFacts("web1", []byte(text))
		_, err := DecodeSomeFacts("web1", []byte(text), []string{"os"})
		require.Error(t, wrong, text)
		require.Error(t, err, text)
	}
}

func TestStateIsCutToItsLimit(t *testing.T) {
	s := State{Node: "web1", Outcome: "failed", Labels: map[string]string{"role": "web"}}
	for range 9 {
		s.Failures = append(s.Failures, Failure{"service#nginx", strings.Repeat("ä", 5000)})
	}
	text, err := s.Encode()
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), MaxState)
	require.True(t, json.Valid(text))
	got, err := DecodeState("web1", text)
	require.NoError(t, err)
	require.Len(t, got.Failures, MaxFailures)
	require.Equal(t, "web", got.Labels["role"])
	require.NotContains(t, got.Failures[0].Message, "\uFFFD")

	s.Unmanaged = &Unmanaged{Count: 30, Items: slices.Repeat([]string{strings.Repeat("ä", 5000)}, 20)}
	text, err = s.Encode()
	require.NoError(t, err)
	got, err = DecodeState("web1", text)
	require.NoError(t, err)
	require.Equal(t, 30, got.Unmanaged.Count)
	require.Len(t, got.Unmanaged.Items, 20)
	require.Len(t, s.Unmanaged.Items[0], 10000, "the state itself stays")

	s.Labels = map[string]string{"role": strings.Repeat("z", 9000)}
	text, err = s.Encode()
	require.NoError(t, err)
	got, err = DecodeState("web1", text)
	require.NoError(t, err)
	require.Empty(t, got.Labels)
	require.Equal(t, "failed", got.Outcome)
}

func FuzzDecode(f *testing.F) {
	text, _ := State{Node: "web1", Outcome: "stable"}.Encode()
	f.Add(text)
	f.Add([]byte(`{"protocol":"io.choria.ccm.v1.node.presence","boot":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := DecodeState("web1", text); err == nil {
			out, err := s.Encode()
			require.NoError(t, err)
			require.LessOrEqual(t, len(out), MaxState)
		}
		_, _ = DecodeFacts("web1", text)
		_, _ = DecodePresence(text)
	})
}

// Whatever a fact is called, it is decoded alone as with all others.
func FuzzSomeFacts(f *testing.F) {
	for _, name := range []string{"os", "a.b", "@this", "#", "<&>", `\`, "é", ""} {
		text, err := json.Marshal(map[string]any{"protocol": FactsProtocol, "node": "web1", "facts": map[string]any{name: []any{1, "x"}, "other": nil}})
		require.NoError(f, err)
		f.Add(text, name)
	}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		_, _ = DecodeSomeFacts("web1", text, []string{name})
		all, err := DecodeFacts("web1", text)
		if err != nil {
			return
		}
		again, err := all.Encode()
		require.NoError(t, err)
		some, err := DecodeSomeFacts("web1", again, []string{name})
		require.NoError(t, err)
		require.Equal(t, all.Facts[name], some.Facts[name])
	})
}
