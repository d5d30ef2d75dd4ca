package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// ccm runs a command in this process and returns its output.
func ccm(t *testing.T, effect func(op, path string) error, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	e := newEnv(strings.NewReader(""), &out, &errs, hosttest.Clock{})
	e.Effect = effect
	status = run(t.Context(), e, args)
	return out.String(), errs.String(), status
}

// isolate gives a test its own state and configuration directories.
func isolate(t *testing.T) {
	t.Setenv("CCM_STATE_DIR", filepath.Join(t.TempDir(), "state"))
	t.Setenv("CCM_CACHE_DIR", filepath.Join(t.TempDir(), "cache"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("NO_COLOR", "1")
}

// quoteLua returns s as a Lua string.
func quoteLua(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\%03d", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// randomText returns a few lines with everything that makes diffs difficult.
func randomText(rnd *rand.Rand) string {
	parts := []string{"one\n", "two\n", "zwölf\n", "\n", "   \n", "\ttab\n", "--- a/x\n", "+++ b/x\n", "@@ -1 +1 @@\n",
		"\\ No newline at end of file\n", "last", "diff --git a/x b/x\n", "+ file#/x: Would\n"}
	var b strings.Builder
	for range rnd.IntN(8) {
		b.WriteString(parts[rnd.IntN(len(parts))])
	}
	return b.String()
}

// randomSite makes a tree of files below old, and a site that changes it.
func randomSite(t *testing.T, rnd *rand.Rand, old string) (site string) {
	b := &strings.Builder{}
	owner, group := hosttest.Me()
	fmt.Fprintf(b, "file.defaults { owner = %q, group = %q, mode = \"0644\" }\n", owner, group)
	for i := range 1 + rnd.IntN(6) {
		name := fmt.Sprintf("/f%d", i)
		if rnd.IntN(4) == 0 {
			name = fmt.Sprintf("/with blank %d", i)
		}
		if rnd.IntN(4) > 0 {
			require.NoError(t, os.WriteFile(old+name, []byte(randomText(rnd)), 0o644))
		}
		if rnd.IntN(5) == 0 {
			fmt.Fprintf(b, "file { %q, ensure = \"absent\" }\n", name)
			continue
		}
		fmt.Fprintf(b, "file { %q, content = %s }\n", name, quoteLua(randomText(rnd)))
	}
	return b.String()
}

// TestPlanIsAPatch applies the output of plan with patch(1) to a copy of the old tree: the result is, byte for byte,
// the tree after the run. It uses no control characters, which a plan shows escaped; ccm diff keeps bytes.
func TestPlanIsAPatch(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("patch(1) is not installed; .ci/run installs it")
	}
	isolate(t)
	rnd, tries := rand.New(rand.NewPCG(11, 12)), 60
	if testing.Short() {
		tries = 15
	}
	for range tries {
		dir := t.TempDir()
		old, file := filepath.Join(dir, "old"), filepath.Join(dir, "site.lua")
		require.NoError(t, os.Mkdir(old, 0o755))
		require.NoError(t, os.WriteFile(file, []byte(randomSite(t, rnd, old)), 0o600))
		patched := filepath.Join(dir, "patched")
		require.NoError(t, os.CopyFS(patched, os.DirFS(old)))

		plan, stderr, status := ccm(t, nil, "plan", "--diff", "full", "--root", old, file)
		require.Equal(t, 0, status, stderr)
		if strings.Contains(plan, "diff --git") {
			cmd := exec.Command(patch, "-p1", "-s", "--binary", "-d", patched)
			cmd.Stdin = strings.NewReader(plan)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s\n%s", out, plan)
		}
		_, stderr, status = ccm(t, nil, "run", "--root", old, file)
		require.Equal(t, 0, status, stderr)
		require.Equal(t, contents(t, old), contents(t, patched), plan)
	}
}

// contents returns the content of every file below dir, by path.
func contents(t *testing.T, dir string) map[string]string {
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(text)
		return err
	}))
	return all
}

// TestEveryEffectOfARunFails lets effect number n of a run over many files fail, for every n: each file is the old or
// the new one, and the next run leaves no temporary file.
func TestEveryEffectOfARunFails(t *testing.T) {
	long(t)
	tries := tally.Of(t, "one step of a run fails, others go on", "old or new, and said; the next run converges and leaves no temporary file")
	isolate(t)
	owner, group := hosttest.Me()
	site := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(site, fmt.Appendf(nil, `
file.defaults { owner = %q, group = %q, mode = "0640" }
file { "/new", content = "new\n" }
file { "/changed", content = "changed to this\n" }
file { "/dir", ensure = "directory", mode = "0750" }
file { "/dir/inside", content = "inside\n" }
file { "/mode", mode = "0600" }
file { "/gone", ensure = "absent" }
`, owner, group), 0o600))
	old := map[string]string{"/changed": "as it was\n", "/mode": "untouched\n", "/gone": "bye\n"}
	want := map[string]string{"/new": "new\n", "/changed": "changed to this\n", "/dir/inside": "inside\n", "/mode": "untouched\n"}
	for n, last := 1, false; !last; n++ {
		root := t.TempDir()
		for name, text := range old {
			require.NoError(t, os.WriteFile(root+name, []byte(text), 0o644))
		}
		tries.Add(1)
		failing, asked := hosttest.Failing(n, 1)
		failed := ""
		effect := func(op, path string) error {
			err := failing(op, path)
			if err != nil {
				failed = op
			}
			return err
		}
		_, warned, status := ccm(t, effect, "run", "--root", root, site)
		switch last = asked() < n; {
		case last:
			require.Zero(t, status)
		case status == 0 && failed == "link": // there is another way
		case status == 0: // the effect succeeded, and its record failed
			require.Contains(t, warned, "ccm: warning: ", "effect %d", n)
		default:
			require.Equal(t, 4, status, "effect %d", n)
		}
		for name, text := range contents(t, root) {
			if !strings.HasSuffix(name, ".ccm-new") && text != old[name] {
				require.Equal(t, want[name], text, "effect %d, %s", n, name)
			}
		}
		_, stderr, status := ccm(t, nil, "run", "--root", root, site)
		require.Zero(t, status, stderr)
		require.Equal(t, want, contents(t, root), "effect %d", n)
	}
}

var varying = regexp.MustCompile(`"(event_id|run_id)":"[^"]*"`)

// TestEvaluationIsDeterministic evaluates a script a hundred times: the plan is the same byte for byte, except for
// identifiers.
func TestEvaluationIsDeterministic(t *testing.T) {
	isolate(t)
	site := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(`
file.defaults { owner = "0", group = "0", mode = "0644" }
local names = { "a", "b", "c", x = "d", y = "e" }
for key, name in pairs(names) do
  file { "/srv/" .. name, content = tostring(key), alias = "alias-" .. name }
end
exec { "one", command = "true", environment = { "A=1", "B=2" }, require = "file#/srv/a", before = "file#/srv/e" }
for key in pairs(facts.os) do file { "/facts/" .. key, content = tostring(facts.os[key]) } end
`), 0o600))
	first, root := "", t.TempDir() // the root is in events
	for i := range 100 {
		out, stderr, status := ccm(t, nil, "plan", "--output", "json", "--root", root, site)
		require.Contains(t, []int{0, 4}, status, stderr)
		out = varying.ReplaceAllString(out, "")
		if i == 0 {
			first = out
		}
		require.Equal(t, first, out)
	}
	require.Greater(t, strings.Count(first, "\n"), 8)
}
