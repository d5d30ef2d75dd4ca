package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/lint"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/site"
)

// TestReadme: the commands of the README work. Its first script is complete, and its plan on a fresh machine has no
// failure; in the other scripts, which omit things, lint finds at most unused and unguarded names. It is short.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)\n```(lua|yaml)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 2)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 120)
	w := newHostile(t)
	w.facts = facts.Static(map[string]any{"os": map[string]any{"family": "debian"}, "cpu": map[string]any{"count": int64(4)}})
	t.Chdir(w.base)
	for i, b := range blocks {
		if b[1] == "lua" {
			reg, err := site.NewRegistry(new(site.TemplateEnv))
			require.NoError(t, err)
			lang, err := site.LanguageOf(reg)
			require.NoError(t, err)
			l := &lint.Linter{Registry: reg, Libraries: lang.Libraries, Globals: lang.Globals, FactFields: lang.FactFields}
			for _, f := range l.Check("README.md", b[2]) {
				require.Contains(t, []string{lint.Unused, lint.Unguarded}, f.Rule, "%s in %s", f.Error, b[2])
			}
			if i > 0 {
				continue
			}
		}
		s, err := w.load(t, "site."+b[1], b[2])
		require.NoError(t, err, b[2])
		events := new(eventsOf)
		(&converge.Engine{Registry: s.Registry, Facts: s.Facts, Reporters: []event.Reporter{events}}).Plan(t.Context(), &s.Host.View, s.Catalog)
		for _, ev := range *events {
			if ev.Resource.ID.Type == "file" {
				require.NoError(t, ev.Err)
			}
		}
	}
}
