package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/site"
)

// codeBlock matches a block of code with its language and the rest of the line: the name of a file, or "part" for a
// part of a script. A file whose name begins with "mistake" shows a mistake, which TestGuides checks.
var codeBlock = regexp.MustCompile("(?ms)^```(lua|yaml) ?(\\S*)\n(.*?)^```$")

// elision matches the dots for omitted code.
var elision = regexp.MustCompile(`,?\s*\.\.\.(\s*[})])`)

// shownMistakes are mistakes that documents show on purpose.
var shownMistakes = []string{
	`unknown property "mdoe"`,
	"content is nil (cfg.text)",
}

// TestDocumentsParse: lint finds no mistake in the Lua of documents, and their YAML can be parsed. The tests of the
// library run the examples of docs/stdlib.md.
func TestDocumentsParse(t *testing.T) {
	reference, err := filepath.Glob("../../docs/reference/*.md")
	require.NoError(t, err)
	types, err := filepath.Glob("../../docs/reference/types/*.md")
	require.NoError(t, err)
	pages := slices.Concat(guides(t), reference, types, []string{"../../examples/roles/README.md"})
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	lang, err := site.LanguageOf(reg)
	require.NoError(t, err)
	l := &lint.Linter{Registry: reg, Libraries: lang.Libraries, Globals: lang.Globals, FactFields: lang.FactFields}
	blocks := 0
	for _, page := range pages {
		if filepath.Base(page) == "stdlib.md" {
			continue
		}
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			language, code := m[1], m[3]
			if m[2] == "part" || strings.HasPrefix(m[2], "mistake") {
				continue
			}
			if language == "yaml" {
				_, err := data.ParseAll(page, code)
				require.NoError(t, err, "%s\n%s", page, code)
				blocks++
				continue
			}
			blocks++
			name := filepath.Base(page)
			if strings.Contains(code, "describe(") || strings.Contains(code, "suite(") {
				name = "page_spec.lua"
			}
			for _, f := range l.Check(name, elision.ReplaceAllString(code, "$1")) {
				shown := slices.ContainsFunc(shownMistakes, func(m string) bool { return strings.Contains(f.Error.Error(), m) })
				if !shown && f.Rule != lint.Unused && f.Rule != lint.Unguarded {
					t.Errorf("%s: %s\n%s", f.Rule, f.Error, code)
				}
			}
		}
	}
	require.Greater(t, blocks, 50)
}
