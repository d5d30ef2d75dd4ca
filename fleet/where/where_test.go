package where_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/where"
)

// A condition can use all data of a node; a missing value is no error.
func TestHolds(t *testing.T) {
	n := where.Node{
		Name: "web1", Environment: "prod", SinceHeartbeat: 12 * time.Second,
		Facts: map[string]any{"os": map[string]any{"family": "debian"}, "memory": 5.0, "on": true, "list": []any{map[string]any{"x": 1.0}}},
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
		`facts.nothing.there.more == 1`:                            false,
		`facts.nothing["/x"].there == 1`:                           false,
		`facts.nothing.there != 1`:                                 true,
		`facts.nothing > 3`:                                        false,
		`facts.os.nothing <= facts.nothing.x`:                      false,
		`3 < facts.nothing`:                                        false,
		`!(facts.nothing > 3)`:                                     true,
		`facts.memory > 3 && 6 > facts.memory`:                     true,
		`!facts.nothing`:                                           true,
		`not facts.nothing.x`:                                      true,
		`!facts.on`:                                                false,
		`facts.nothing`:                                            false,
		`facts.on`:                                                 true,
		`facts.nothing && true`:                                    false,
		`state.failed[0].resource == "x"`:                          false,
		`facts.list[0].x == 1`:                                     true,
		`any(facts.list, .x > 0)`:                                  true,
		`any(facts.list, .y > 0)`:                                  false,
		`(facts.nothing ?? "z") == "z"`:                            true,
		`facts.nothing contains "x"`:                               false,
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
	require.True(t, c.Facts().None())
	got, err := c.Holds(where.Node{Name: "new"})
	require.NoError(t, err)
	require.False(t, got)
}

// Only the facts that a condition uses are read.
func TestFacts(t *testing.T) {
	all := where.Facts{All: true}
	for text, want := range map[string]where.Facts{
		"":                                 {},
		`node == "facts"`:                  {},
		`facts.os.family == "debian"`:      {Names: []string{"os"}},
		`facts["os.family"] == "x"`:        {Names: []string{"os.family"}},
		`facts?.os?.family == "debian"`:    {Names: []string{"os"}},
		`!facts.b || facts.a.facts.c > 3`:  {Names: []string{"a", "b"}},
		`any(facts.list, .x > facts.most)`: {Names: []string{"list", "most"}},
		`facts[node] == 1`:                 all,
		`"os" in facts`:                    all,
		`facts.a && len(facts) > 1`:        all,
		`$env.facts.os == "x"`:             all,
	} {
		c, err := where.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, c.Facts(), text)
	}
	require.Equal(t, where.Facts{Names: []string{"a", "b"}}, where.Facts{Names: []string{"b"}}.With(where.Facts{Names: []string{"a", "b"}}))
	require.Equal(t, all, where.Facts{Names: []string{"b"}}.With(all))
}

// A condition that cannot be evaluated has a one-line error that quotes it.
func TestNoAnswer(t *testing.T) {
	for text, says := range map[string]string{
		`facts.memory > "x"`:       `invalid operation: int > string, at "> \"x\""`,
		`len(facts.nothing) > 0`:   `invalid argument for len (type nothing), at "len(facts.nothing) > 0"`,
		`any(facts.nothing, true)`: `a value is missing or has another type, at "any(facts.nothing, true)"`,
		`facts.memory`:             `expected true or false, got int, at "facts.memory"`,
		`facts.nothing + 1 > 2`:    `invalid operation: nothing + int, at "+ 1 > 2"`,
	} {
		c, err := where.Parse(text)
		require.NoError(t, err, text)
		got, err := c.Holds(where.Node{Name: "web1", Facts: map[string]any{"memory": 5}})
		require.EqualError(t, err, says, text)
		require.False(t, got)
	}
}

// A text that is not a condition is refused.
func TestMistakes(t *testing.T) {
	for text, says := range map[string]string{
		`label.role == "web"`:     "label",
		`1 + 1`:                   "bool",
		`facts.os.family == `:     "invalid condition",
		strings.Repeat("x", 1001): "1000 bytes, got 1001",
	} {
		_, err := where.Parse(text)
		require.ErrorContains(t, err, says, text)
	}
}
