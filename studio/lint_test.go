package studio

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/site"
)

// TestLint: results of ccm lint on a script are warnings at the resource and property. A line with a mistake has no
// warnings, and manifests are not linted.
func TestLint(t *testing.T) {
	s := open(t, siteDir(t), map[string]string{
		"site.lua":         "local unused = 1\nexec { \"fill\", command = \"touch /tmp/x\" }\nfile { \"/tmp/a\", owner = \"root\", group = \"root\", mode = \"0644\", content = \"\\x41\" }\n",
		"wrong.lua":        "file { \"/tmp/a\", contnet = \"\" }\n",
		"modules/part.lua": "local unused = 1\n",
		"site.yaml":        "ccm:\n  resources:\n    - exec:\n        - fill:\n            command: touch /tmp/x\n",
	})
	s.evaluator.linter = func() (*lint.Linter, error) {
		reg, err := site.NewRegistry(new(site.TemplateEnv))
		l := &lint.Linter{Registry: reg}
		for _, typ := range reg.Types() {
			l.Globals = append(l.Globals, luaapi.Global{Name: typ.Name})
		}
		return l, err
	}
	v := visit(t, s)
	require.Equal(t, http.StatusOK, v.ask("POST", "/api/trust", Trust{Directory: s.options.Directory}, nil))
	mistakes := func(file string) (out []Mistake) {
		var st State
		require.Equal(t, http.StatusOK, v.ask("GET", "/api/state?file="+file, nil, &st))
		require.True(t, st.Checked)
		return st.Mistakes
	}
	type lintPlace struct {
		line                      int
		severity, resource, field string
	}
	places := func(list []Mistake) (out []lintPlace) {
		for _, m := range list {
			require.NotEmpty(t, m.Message)
			out = append(out, lintPlace{m.Line, m.Severity, m.Resource, m.Field})
		}
		return out
	}
	list := mistakes("site.lua")
	require.Equal(t, []lintPlace{{1, "warning", "", ""}, {2, "warning", "exec#fill", ""}, {3, "warning", "file#/tmp/a", "content"}}, places(list), list)
	require.Equal(t, []lintPlace{{1, "error", "file#/tmp/a", "contnet"}}, places(mistakes("wrong.lua")))
	require.Equal(t, []lintPlace{{1, "warning", "", ""}}, places(mistakes("modules/part.lua")))
	require.Empty(t, mistakes("site.yaml"))
}
