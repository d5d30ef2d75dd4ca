package studio

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTrust: nothing in a directory is evaluated before it is trusted. The trust is remembered for the user's own
// directory, but not for one that is world-writable.
func TestTrust(t *testing.T) {
	dir := siteDir(t)
	files := map[string]string{"site.lua": `error("evaluated")`, "lib/m.lua": `error("evaluated")`}
	s := open(t, dir, files)
	v := visit(t, s)
	var session Session
	require.Equal(t, http.StatusOK, v.ask("GET", "/api/session", nil, &session))
	require.False(t, session.Trusted)
	require.Equal(t, []string{"The folder was not opened in studio before."}, session.Reasons)
	st := v.get("site.lua")
	require.False(t, st.Checked)
	for _, m := range st.Mistakes { // syntax errors may be reported
		require.NotContains(t, m.Message, "evaluated")
	}
	var types Types
	require.Equal(t, http.StatusOK, v.ask("GET", "/api/types", nil, &types))
	require.Empty(t, types.Mistakes)
	for path, body := range map[string]any{
		"/api/plan": PlanRequest{File: "site.lua"}, "/api/convert": Convert{File: "site.lua"}, "/api/test": Test{},
		"/api/import": Import{File: "site.lua", Type: "file", Names: []string{"/etc/passwd"}},
	} {
		var f Failure
		require.Equal(t, http.StatusForbidden, v.ask("POST", path, body, &f), path)
		require.Equal(t, "untrusted", f.Code)
	}
	require.Equal(t, http.StatusForbidden, v.ask("GET", "/api/graph?file=site.lua", nil, nil))

	require.Equal(t, http.StatusBadRequest, v.ask("POST", "/api/trust", Trust{Directory: "/"}, nil))
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/trust", Trust{Directory: dir}, &session))
	require.True(t, session.Trusted)
	st = v.settled("site.lua")
	require.True(t, st.Checked)
	require.Contains(t, st.Mistakes[0].Message, "evaluated")
	require.Equal(t, http.StatusOK, v.ask("GET", "/api/types", nil, &types))
	require.Contains(t, types.Mistakes[0].Message, "evaluated")
	s.close()

	again := open(t, dir, nil)
	require.True(t, again.gate.isTrusted())
	again.close()

	require.NoError(t, os.Chmod(dir, 0o777))
	open1 := open(t, dir, nil)
	require.False(t, open1.gate.isTrusted())
	v = visit(t, open1)
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/trust", Trust{Directory: dir}, &session))
	open1.close()
	open2 := open(t, dir, nil)
	require.False(t, open2.gate.isTrusted(), "it is asked about each time")
	open2.close()

	// Another directory with the same name is not trusted.
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Rename(dir, dir+".old"))
	require.NoError(t, os.Mkdir(dir, 0o755))
	moved := open(t, dir, map[string]string{"site.lua": ""})
	require.False(t, moved.gate.isTrusted())
	moved.close()
	require.NoError(t, os.WriteFile(filepath.Join(moved.options.StateDir, trustedFile), []byte("{damaged"), 0o600))
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.Rename(dir+".old", dir))
	require.False(t, open(t, dir, nil).gate.isTrusted())
}

// TestEmptyDirectory: the user's own empty directory is trusted without a question. It is remembered once studio has
// saved a file in it.
func TestEmptyDirectory(t *testing.T) {
	dir := siteDir(t)
	s := open(t, dir, nil)
	require.True(t, s.gate.isTrusted())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), nil, 0o644))
	require.False(t, s.gate.isTrusted(), "somebody else has put something there while it was open")
	s.close()
	s = open(t, dir, nil)
	require.False(t, s.gate.isTrusted(), "somebody else has put something there")
	s.close()
	require.NoError(t, os.Remove(filepath.Join(dir, "site.lua")))

	s = open(t, dir, nil)
	v := visit(t, s)
	var st State
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/new", NewRequest{File: "site.yaml"}, &st))
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/save", Save{File: "site.yaml", Rev: st.Rev}, nil))
	s.close()
	s = open(t, dir, nil)
	require.True(t, s.gate.isTrusted())
	s.close()

	require.NoError(t, os.Remove(filepath.Join(dir, "site.yaml")))
	require.NoError(t, os.Chmod(dir, 0o775))
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Mkdir(dir, 0o775))
	require.NoError(t, os.Chmod(dir, 0o775))
	s = open(t, dir, nil)
	require.False(t, s.gate.isTrusted(), "a group may write in it")
	s.close()
	require.NoError(t, os.Chmod(dir, 0o777))
	require.False(t, open(t, dir, nil).gate.isTrusted(), "is world-writable in it")
}
