package luatype_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamplesOfThePage runs the types in docs/types.md.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/types.md")
	require.NoError(t, err)
	modules := make(map[string]string)
	for _, m := range regexp.MustCompile("(?s)```lua[^\n]*\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if name := regexp.MustCompile(`ccm\.type \{\n +name = "(\w+)"`).FindStringSubmatch(m[1]); name != nil {
			modules[name[1]+".lua"] = m[1]
		}
	}
	require.Len(t, modules, 2)
	// The page uses one function of the standard library.
	modules["word.lua"] = "local str = { ends = function(s, e) return s:sub(-#e) == e end }\n" + modules["word.lua"]
	s := newSite(t, modules)
	s.file("/etc/words", "one\n")
	s.declare(`local motd, word = require "motd", require "word"
motd { "/etc/motd", text = "Welcome to web1\n" }
word { "two", path = "/etc/words" }
word { "one", path = "/etc/words", ensure = "absent" }`)
	require.Contains(t, s.plan(), `+ motd#/etc/motd: Would have created the motd (text "Welcome to web1\n", mode 0644)
`)
	require.NotContains(t, s.run(), "failed")
	require.Equal(t, "two\n", s.content("/etc/words"))
	require.Equal(t, "Welcome to web1\n", s.content("/etc/motd"))
	require.NotContains(t, s.run(), "+")
}
