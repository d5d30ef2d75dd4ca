package schema

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
)

// A word of another tool has the hint of a property only where the type has it.
func TestUnknownProperty(t *testing.T) {
	known := []string{"name", "ensure", "source", "before", "user"}
	for name, hint := range map[string]string{
		"state":       "use ensure",
		"src":         "use source",
		"dest":        "use name",
		"become":      becomeHint,
		"become_user": "use user",
		"chdir":       "",
		"version":     "use ensure",
		"unless":      conditionHint,
		"recurse":     directoryHint,
		"enzure":      `did you mean "ensure"?`,
	} {
		err := UnknownProperty(name, known)
		require.EqualError(t, err, `unknown property "`+name+`"`)
		require.Equal(t, hint, diag.HintOf(err), name)
	}
	require.Equal(t, "use path", diag.HintOf(UnknownProperty("dest", []string{"name", "path"})))
	require.Equal(t, "use command", diag.HintOf(UnknownProperty("cmd", []string{"command", "cwd"}))) // not cwd, which is nearer
	require.Equal(t, "use group", diag.HintOf(UnknownProperty("gid", []string{"group", "uid"})))
	require.Equal(t, "use url", diag.HintOf(UnknownProperty("repo", []string{"ref", "url"})))
	require.Equal(t, becomeHint, diag.HintOf(UnknownProperty("become_user", []string{"name"})))
}
