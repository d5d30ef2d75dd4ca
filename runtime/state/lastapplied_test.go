package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
)

// A record of a desired state can be read back, but not a part of one.
func TestWishMark(t *testing.T) {
	for line, w := range map[string]lastApplied{
		`0000000000000001 ffffffffffffffff "" "file#/f"`:               {id: "file#/f", spec: 1, whole: 1<<64 - 1},
		`0000000000000001 0000000000000002 "ab" "file#/f"`:             {id: "file#/f", spec: 1, whole: 2, digest: resource.DesiredDigest{Text: "ab"}},
		`0000000000000001 0000000000000002 "ab"@"4 1-2-3" "file#/f"`:   {id: "file#/f", spec: 1, whole: 2, digest: resource.DesiredDigest{Text: "ab", Stat: "4 1-2-3"}},
		`0000000000000001 0000000000000002 ""@"0" "file#/@\" \\ b"`:    {id: `file#/@" \ b`, spec: 1, whole: 2, digest: resource.DesiredDigest{Stat: "0"}},
		`0000000000000001 0000000000000002 "a@\"b\n"@"0" "file#/a@@b"`: {id: "file#/a@@b", spec: 1, whole: 2, digest: resource.DesiredDigest{Text: "a@\"b\n", Stat: "0"}},
	} {
		require.Equal(t, line, string(w.append(nil)))
		back, err := parseLastApplied(line)
		require.NoError(t, err, line)
		require.Equal(t, w, back)
		for i := range line {
			_, err := parseLastApplied(line[:i])
			require.Error(t, err, line[:i])
		}
		for _, more := range []string{"x", ` "x"`, `@"x"`} {
			_, err = parseLastApplied(line + more)
			require.Error(t, err, more)
		}
	}
}
