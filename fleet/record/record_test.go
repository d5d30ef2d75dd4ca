package record

import (
	"encoding/json"
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
