package author

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A site that passes prints no report; one that does not prints that of the linter or of its tests.
func TestCheckSite(t *testing.T) {
	const script = `file { "/etc/motd", content = "hi\n", owner = "root", group = "root", mode = "0644" }` + "\n"
	for _, x := range []struct{ name, script, spec, wrong, output string }{
		{"no tests", script, "", "", "No tests found. ccm init creates a site with one.\nChecked: ccm lint.\n"},
		{"passes", script, `it("is true", function() assert.is_true(true) end)`, "", "Checked: ccm lint, ccm test.\n"},
		{"linter", `file { "/etc/motd", contnt = "hi\n" }`, "", "ccm lint DIR found problems", "contnt"},
		{"tests", script, `it("is false", function() assert.is_true(false) end)`, "ccm test DIR found problems", "is false"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(x.script), 0o644))
		if x.spec != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "site_spec.lua"), []byte(x.spec), 0o644))
		}
		var stdout, stderr bytes.Buffer
		e := cli.NewEnv(strings.NewReader(""), &stdout, &stderr, hosttest.Clock{}, cli.BuildInfo{})
		e.Files.SetContext(t.Context())
		err := CheckSite(t.Context(), e, filepath.Join(dir, "site.lua"))
		_ = e.Stderr.Flush() // to memory
		require.Empty(t, stdout.String(), x.name)
		if x.wrong == "" {
			require.NoError(t, err, x.name)
			require.Equal(t, x.output, stderr.String(), x.name)
			continue
		}
		require.ErrorContains(t, err, strings.ReplaceAll(x.wrong, "DIR", dir), x.name)
		require.Contains(t, stderr.String(), x.output, x.name)
	}
}
