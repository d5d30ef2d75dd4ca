package where_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/where"
)

// Conditions ask about what nodes say of themselves; what a node does not have is no error.
func TestHolds(t *testing.T) {
	n := where.Node{
		Name: "web1", Environment: "prod", SinceHeartbeat: 12 * time.Second,
		Facts: map[string]any{"os": map[string]any{"family": "debian"}},
		State: &record.State{Outcome: "failed", Release: 42, Labels: map[string]string{"role": "web", "os.family": "debian"}},
	}
	for text, want := range map[string]bool{
		"": true,
		`facts.os.family == "debian" && state.outcome == "failed"`: true,
		`labels.role == "canary"`:                                  false,
		`labels.os.family == "debian"`:                             true,
		`labels["os.family"] == "debian"`:                          true,
		`facts.nothing?.there == 1`:                                false,
		`state.release == 42`:                                      true,
		`node startsWith "web"`:                                    true,
		`seen > duration("5m")`:                                    false,
		`node in ["web1", "web2"]`:                                 true,
	} {
		c, err := where.Parse(text)
		require.NoError(t, err, text)
		got, err := c.Holds(n)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	c, err := where.Parse(`labels.role == "web"`)
	require.NoError(t, err)
	require.True(t, c.Asks("labels"))
	require.False(t, c.Asks("facts"))
	got, err := c.Holds(where.Node{Name: "new"})
	require.NoError(t, err)
	require.False(t, got)
}

// What is no condition is refused.
func TestMistakes(t *testing.T) {
	for text, says := range map[string]string{
		`label.role == "web"`:     "label",
		`1 + 1`:                   "bool",
		`facts.os.family == `:     "cannot be read",
		strings.Repeat("x", 1001): "1001 bytes",
	} {
		_, err := where.Parse(text)
		require.ErrorContains(t, err, says, text)
	}
}
