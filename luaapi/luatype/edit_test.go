package luatype_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// word keeps a word at the end of a file, or removes it.
const word = `
return ccm.type {
  name = "word",
  properties = {
    name = { name = true }, path = { type = "path" },
    ensure = { enum = { "present", "absent" }, default = "present" },
  },
  phrases = { create = "added the word", remove = "removed the word" },
  edit = function(want, text)
    local words = {}
    for w in text:gmatch("%S+") do
      if w ~= want.name then words[#words + 1] = w end
    end
    if want.ensure == "present" then
      if (" " .. text:gsub("\n", " ")):find(" " .. want.name .. " ", 1, true) then return text end
      words[#words + 1] = want.name
    end
    if #words == 0 then return "" end
    return table.concat(words, " ") .. "\n"
  end,
}`

// words declares words of /w.
func words(s *site, rest string, names ...string) {
	text := `local word = require "std.word"
word.defaults { path = "/w" }
`
	for _, n := range names {
		text += `word { "` + n + `"` + rest + " }\n"
	}
	s.declare(text)
}

func TestEdit(t *testing.T) {
	s := newSite(t, map[string]string{"std/word.lua": word})
	s.file("/w", "a b\n")
	require.NoError(t, os.Chmod(s.root+"/w", 0o600))
	words(s, "", "a", "c")
	const diff = `diff --git a/w b/w
--- a/w
+++ b/w
@@ -1 +1 @@
-a b
+a b c
`
	require.Equal(t, "= word#a: up to date\n+ word#c: Would have added the word\n"+diff, s.plan())
	require.Equal(t, "= word#a: up to date\n+ word#c: Added the word\n"+diff, s.run())
	require.Equal(t, "a b c\n", s.content("/w"))
	fi, err := os.Stat(s.root + "/w")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode())
	require.Equal(t, "= word#a: up to date\n= word#c: up to date\n", s.run())
}

func TestEditOfWhatIsNoFile(t *testing.T) {
	s := newSite(t, map[string]string{"std/word.lua": word})
	words(s, "", "a")
	require.Equal(t, "x word#a: failed: expected a file to edit at /w, found nothing"+
		` (create an empty file with file { "/w", owner = ..., group = ..., mode = ... }) (site.lua:3)`+"\n", s.run())
	require.NoError(t, os.Mkdir(s.root+"/w", 0o755))
	require.Equal(t, "x word#a: failed: expected a file to edit at /w, found a directory (site.lua:3)\n", s.run())
	require.NoError(t, os.Remove(s.root+"/w"))
	require.NoError(t, os.Symlink("x", s.root+"/w"))
	require.Equal(t, "x word#a: failed: expected a file to edit at /w, found a symbolic link, which is not followed"+
		` (symbolic link /w has a missing target: no such file or directory; create the file with links = "follow") (site.lua:3)`+"\n", s.run())
	s.file("/x", "")
	require.Equal(t, "x word#a: failed: expected a file to edit at /w, found a symbolic link"+
		` (edit the target with path = "/x" or links = "follow", or replace the link with links = "replace") (site.lua:3)`+"\n", s.run())

	s = newSite(t, map[string]string{"std/word.lua": word})
	words(s, `, ensure = "absent"`, "a")
	require.Equal(t, "= word#a: up to date\n", s.run())

	s = newSite(t, map[string]string{"std/word.lua": word})
	require.Contains(t, s.eval(`require "std.word" "a"`), "site.lua:1:1: word#a: path: is required unless the name must be an absolute path\n")
}

// TestEditsOfOneFileAreOneWrite: each edit has its own diff, against the result of those before it.
func TestEditsOfOneFileAreOneWrite(t *testing.T) {
	s := newSite(t, map[string]string{"std/word.lua": word})
	s.file("/w", "a\n")
	words(s, "", "b", "a", "c")
	writes := 0
	s.options.Effect = func(op, path string) error {
		if op == "rename" {
			writes++
		}
		return nil
	}
	const want = `+ word#b: Added the word
diff --git a/w b/w
--- a/w
+++ b/w
@@ -1 +1 @@
-a
+a b
= word#a: up to date
+ word#c: Added the word
diff --git a/w b/w
--- a/w
+++ b/w
@@ -1 +1 @@
-a b
+a b c
`
	require.Equal(t, strings.ReplaceAll(want, "Added", "Would have added"), s.plan())
	require.Zero(t, writes)
	require.Equal(t, want, s.run())
	require.Equal(t, 1, writes)
	require.Equal(t, "a b c\n", s.content("/w"))
	require.Equal(t, "= word#b: up to date\n= word#a: up to date\n= word#c: up to date\n", s.run())
	require.Equal(t, 1, writes)
}

// TestEditsOfAFileThatIsMade: the first edit reports the new file, which is written once with the attributes of
// create.
func TestEditsOfAFileThatIsMade(t *testing.T) {
	made := strings.Replace(word, "path = {", `create = { type = "any" }, path = {`, 1)
	s := newSite(t, map[string]string{"std/word.lua": made})
	words(s, "", "a")
	require.Equal(t, "x word#a: failed: expected a file to edit at /w, found nothing"+
		" (create it with create = { owner = ..., group = ..., mode = ... }) (site.lua:3)\n", s.run())

	s = newSite(t, map[string]string{"std/word.lua": made})
	words(s, `, create = { mode = "0600" }`, "a", "b")
	writes := 0
	s.options.Effect = func(op, path string) error {
		if op == "rename" {
			writes++
		}
		return nil
	}
	plan := s.plan()
	require.Regexp(t, "(?s)^\\+ word#a: Would have created the file and added the word \\(create owner \\w+, group \\w+, mode 0600\\)\n.*--- /dev/null\n.*\\+ word#b: Would have added the word\n", plan)
	require.Zero(t, writes)
	require.Equal(t, strings.NewReplacer("Would have created", "Created", "Would have added", "Added").Replace(plan), s.run())
	require.Equal(t, 1, writes)
	require.Equal(t, "a b\n", s.content("/w"))
	fi, err := os.Stat(s.root + "/w")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode())
	require.Equal(t, "= word#a: up to date\n= word#b: up to date\n", s.run())
}

// TestEditsThatCannotBeOneWrite: an action between two edits sees the result of the first.
func TestEditsThatCannotBeOneWrite(t *testing.T) {
	for _, tt := range []struct {
		declarations string
		writes       int
	}{
		{`word { "b" } word { "c" }`, 1},
		{`word { "b" } word { "c", path = "/v" } word { "d" }`, 3},
		{`word { "b", health_checks = { { command = "true" } } } word { "c" }`, 2},
		{`word { "b", timeout = "1m" } word { "c" }`, 2},
		{`word { "b", backup = false } word { "c" }`, 2},
		{`word { "b", backup = false } word { "c", backup = false } word { "d" } word { "e" }`, 2},
		{`word { "c", require = "word#b" } word { "b" }`, 1},
		{`word { "b", ensure = "absent" } word { "c", ensure = "absent" }`, 0},
	} {
		s := newSite(t, map[string]string{"std/word.lua": word})
		s.file("/w", "a\n")
		s.file("/v", "a\n")
		s.declare(`local word = require "std.word"
word.defaults { path = "/w" }
` + tt.declarations)
		writes := 0
		s.options.Effect = func(op, path string) error {
			if op == "rename" {
				writes++
			}
			return nil
		}
		run := s.run()
		require.NotContains(t, run, "failed")
		require.Equal(t, tt.writes, writes, run)
		require.NotContains(t, s.run(), "Added")
	}
}

// TestFailedWriteFailsAllEdits: after a failure of any effect of the write the file is old or new, and reported so.
func TestFailedWriteFailsAllEdits(t *testing.T) {
	for n, last := 1, false; !last; n++ {
		s := newSite(t, map[string]string{"std/word.lua": word})
		s.file("/w", "a\n")
		effect, asked := hosttest.Failing(n, 1)
		s.options.Effect = effect
		s.declare(`local word = require "std.word"
word.defaults { path = "/w" }
word { "b" } word { "a" } word { "c", alias = "last" }
word { "x", path = "/v", ensure = "absent", require = "word#last" }
`)
		run := s.run()
		if last = asked() < n; last {
			require.NotContains(t, run, "failed")
			require.Equal(t, "a b c\n", s.content("/w"))
			continue
		}
		if s.content("/w") == "a\n" {
			require.Regexp(t, `(?m)^x word#b: failed: .*injected failure`, run)
			require.Regexp(t, `(?m)^x word#c: failed: .*injected failure`, run)
		}
		require.Contains(t, run, "= word#a: up to date\n")
		require.Contains(t, run, ". word#x: skipped, because word#c failed\n")
		s.options.Effect = nil
		require.NotContains(t, s.run(), "failed")
		require.Equal(t, "a b c\n", s.content("/w"))
	}
}

// TestEditThatIsNotIdempotent: it is detected before the file is written a second time.
func TestEditThatIsNotIdempotent(t *testing.T) {
	s := newSite(t, map[string]string{"std/more.lua": `
return ccm.type {
  name = "more",
  properties = { path = { type = "path", name = true }, ensure = { enum = { "present", "absent" }, default = "present" } },
  edit = function(want, text) return text .. "more\n" end,
}`})
	s.file("/w", "")
	s.declare(`require "std.more" "/w"`)
	require.Contains(t, s.run(), "x more#/w: failed to reach desired state: ensure: absent → present (site.lua:1)\n")
}

func TestEditThatContradictsItself(t *testing.T) {
	const edit = `
return ccm.type {
  name = "odd",
  properties = {
    path = { type = "path", name = true }, value = {},
    ensure = { enum = { "present", "absent" }, default = "present" },
  },
  edit = function(want, text)
    if want.value == "same" then return text, { ensure = "absent" } end
    if want.value == "other" then return text .. "x", { ensure = "present" } end
    if want.value == "phrase" then return text .. "x", nil, nil, "writes x" end
  end,
}`
	for value, want := range map[string]string{
		"same":   `stdlib/std/odd.lua:8: edit of the type odd: the text would not change although the state differs: ensure: absent → present`,
		"other":  `stdlib/std/odd.lua:8: edit of the type odd: the text would change although the state is up to date: ensure=present`,
		"phrase": `stdlib/std/odd.lua:8: edit of the type odd: expected a phrase that follows "Would have", got "writes x"`,
		"none":   `stdlib/std/odd.lua:8: edit of the type odd: expected the new text, got nothing`,
	} {
		s := newSite(t, map[string]string{"std/odd.lua": edit})
		s.file("/w", "")
		s.declare(`require "std.odd" { "/w", value = "` + value + `" }`)
		require.Contains(t, s.run(), "x odd#/w: failed: "+want+" (site.lua:1)\n")
	}
}

// TestReportOfAnEdit: a property is reported as the edit describes it, not as it was declared.
func TestReportOfAnEdit(t *testing.T) {
	s := newSite(t, map[string]string{"std/up.lua": `
return ccm.type {
  name = "up",
  properties = { path = { name = true, type = "path" }, as = {}, ensure = { enum = { "present" }, default = "present" } },
  phrases = { update = "replaced the text" },
  edit = function(want, text)
    local new = (want.as:gsub("%$1", text))
    if #text > 1 then return text end
    return new, { ensure = "present", as = text }, { as = new }
  end,
}`})
	s.file("/w", "a")
	s.declare(`require "std.up" { "/w", as = "<$1>" }`)
	plan := s.plan()
	require.Contains(t, plan, "as  a → <a>\n")
	require.NotContains(t, plan, "$1")
	require.Contains(t, s.run(), "as  a → <a>\n")
	require.Equal(t, "<a>", s.content("/w"))
}
