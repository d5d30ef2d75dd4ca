package template

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKnownNames: what the compiler knows of the variables is found out once for all copies with the same names, and no
// expression changes it for the next one.
func TestKnownNames(t *testing.T) {
	e := New(Options{ReadFile: func(string) ([]byte, error) { return nil, nil }, Environ: map[string]string{"A": "b"}})
	for round := range 3 {
		with := e.With(map[string]any{"x": round}, "/")
		for code, want := range map[string]any{
			`Data.x`: int64(round), `Data.y ?? "none"`: "none", `len(keys({"b": 1, "a": 2}))`: int64(2), `Environ.A`: "b",
			`map(1..3, # * 2)[1]`: int64(4), `lookup("data.x", 1)`: int64(round), `let y = 2; y + 1`: int64(3),
		} {
			for again := range 2 {
				got, err := with.Evaluate(fmt.Sprint(code, " /* ", round, again, " */"))
				require.NoError(t, err, code)
				require.EqualValues(t, want, got, code)
			}
		}
		for _, wrong := range []string{`nothing(1)`, `Data.x +`, `1 + "a"`, `unknown`} {
			_, err := with.Evaluate(fmt.Sprint(wrong, " /* ", round, " */"))
			require.Error(t, err, wrong)
		}
		require.NotNil(t, e.known.config)
		require.Same(t, e.known, with.known)
		require.Len(t, e.known.config.Visitors, 1)
	}
	limited := e.Limited(false, false, nil)
	require.NotSame(t, e.known, limited.known)
}
