package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// Keys.
const (
	up    = "\x1b[A"
	tab   = "\t"
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlR = "\x12"
)

func TestReplTyping(t *testing.T) {
	needPTY(t)
	begin := time.Now()
	s := onScreen(t, screenOptions{}, "repl")
	s.ends("ccm>")
	t.Logf("first prompt after %s", time.Since(begin).Round(time.Millisecond))
	s.enter("1 + 1")
	s.ends("ccm> 1 + 1", "2", "ccm>")
	s.enter("for i = 1, 2 do")
	s.ends("ccm> for i = 1, 2 do", "  >>")
	s.enter("  print(i)")
	s.ends("ccm> for i = 1, 2 do", "  >>   print(i)", "  >>")
	s.enter("")
	s.ends("  >>   print(i)", "  >>", "  >>")
	s.enter("end")
	s.ends("  >> end", "1", "2", "ccm>")
	s.enter("facst")
	s.ends("ccm> facst", `repl:3:1:1: undefined global "facst" (did you mean "facts"?)`, "  1 | facst", "    | ^^^^^", "ccm>")
	s.enter("local answer = 42")
	s.enter("answer")
	s.ends("ccm> answer", "42", "ccm>")
	s.enter(`_PROMPT = "lua: "`)
	s.ends("lua:")
	s.press("answ" + ctrlC)
	s.ends("lua: answ", "lua:")
	s.press(ctrlD)
	require.Equal(t, 0, s.status())
	require.True(t, strings.HasSuffix(s.written(), "\x1b[?2004l") || strings.HasSuffix(s.written(), "\n"), "the last line has an end: %q", s.written()[len(s.written())-40:])
}

// What was typed is there in the next session, an entry of two lines as one.
func TestReplHistory(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	s := onScreen(t, screenOptions{home: home}, "repl", "-q")
	s.ends("ccm>")
	s.enter(`password = "hunter2"`)
	s.ends("ccm>")
	s.enter(" hidden = 1")
	s.ends("ccm>  hidden = 1", "ccm>")
	s.enter("function two()")
	s.enter("return 1, 2 end")
	s.ends("  >> return 1, 2 end", "ccm>")
	s.enter("two()")
	s.ends("1       2", "ccm>")
	s.press(ctrlD)
	require.Equal(t, 0, s.status())

	s = onScreen(t, screenOptions{home: home}, "repl", "-q")
	s.ends("ccm>")
	s.press(up)
	s.ends("ccm> two()")
	s.press(up)
	s.ends("ccm> function two()", "  >> return 1, 2 end")
	s.press("\r")
	s.ends("  >> return 1, 2 end", "ccm>")
	s.enter("two()")
	s.ends("1       2", "ccm>")
	s.press(ctrlR)
	s.shows("inc-search")
	s.press("passw")
	s.shows(`password = "(secret)"`)
	s.press("\r")
	s.shows("ccm> password")

	file := filepath.Join(home, "state", "repl_history")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter2")
	require.NotContains(t, string(text), "hidden")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestReplCompletion(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	s.press("facts.o" + tab)
	s.ends("ccm> facts.os", "facts.os: The distribution: its name, family, release and codename.")
	s.press(ctrlC)
	s.ends("ccm> facts.os", "ccm>")
	s.press("fac" + tab)
	s.ends("fact   -- fact(path, default?)", "facts  -- What is so about this machine.")
	s.press(tab + tab)
	s.shows("ccm> facts\n")
	s.press(".os.family\r")
	s.ends(fmt.Sprintf("%q", family(t)), "ccm>")
	s.press(`file { "/x", mo` + tab)
	s.shows(`ccm> file { "/x", mode =`)
	s.shows(`mode: mode`)
	s.press(ctrlC)
	s.press(`.sho` + tab)
	s.shows("ccm> .show")
	s.press(" file#/et" + tab)
	s.shows("ccm> .show file#/etc/")
}

// family returns the family of this machine, as ccm says it.
func family(t *testing.T) string {
	t.Helper()
	out, _, status := ccm(t, nil, "facts", "os.family")
	require.Equal(t, 0, status)
	return strings.TrimSpace(out)
}

// Ctrl-C ends an evaluation that would never end, and the prompt is back.
func TestReplInterrupt(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	for i, text := range []string{
		"while true do end",
		"while true do pcall(error) end",
		"coroutine.wrap(function() while true do end end)()",
		"table.sort({ 3, 2, 1 }, function() while true do end end)",
	} {
		s.press(fmt.Sprintf("print(%d) %s\r", 1000+i, text))
		s.shows(fmt.Sprintf("\n%d", 1000+i))
		begin := time.Now()
		s.press(ctrlC)
		s.shows(fmt.Sprintf("repl:%d:", i+1))
		s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
		took := time.Since(begin)
		t.Logf("%s: prompt after %s", text, took.Round(time.Millisecond))
		require.Less(t, took, 5*time.Second, text)
	}
	s.enter("1 + 1")
	s.ends("2", "ccm>")
}

func TestReplResize(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	long := `x = "a text that takes more than one row once the terminal is narrow"`
	s.press(long)
	s.ends("ccm> " + long)
	s.mu.Lock()
	s.term.Resize(40, 12)
	s.mu.Unlock()
	require.NoError(t, pty.Setsize(s.pty, &pty.Winsize{Rows: 12, Cols: 40}))
	s.press(" .. 'yes'")
	s.until("the end of the text", func(text string) bool {
		return strings.HasSuffix(strings.ReplaceAll(text, "\n", ""), `terminal is narrow" .. 'yes'`)
	})
	s.press("\r")
	s.ends("ccm>")
	s.enter("#x")
	s.ends("66", "ccm>")
	s.press("for _, n in ipairs { 1 } do\rprint(n)\rend\r")
	s.ends("  >> end", "1", "ccm>")
}

// At the bottom of the screen everything is still where it should be.
func TestReplBottom(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{rows: 8}, "repl", "-q")
	for i := range 9 {
		s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
		s.enter(fmt.Sprint(i))
		s.ends(fmt.Sprint(i), "ccm>")
	}
	s.enter("f = function()")
	s.enter("return 1")
	s.enter("end")
	s.ends("ccm> 8", "8", "ccm> f = function()", "  >> return 1", "  >> end", "ccm>")
	s.press("str" + tab)
	s.shows("ccm> str\n")
	s.press(ctrlC)
	s.ends("ccm> str", "ccm>")
	s.enter("7")
	s.ends("7", "ccm>")
}

// escape matches what is no text.
var escape = regexp.MustCompile(`\x1b`)

func TestReplDumb(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{env: []string{"TERM=dumb"}}, "repl")
	s.ends("ccm>")
	s.enter("1 + 1")
	s.ends("ccm> 1 + 1", "2", "ccm>")
	s.enter("for i = 1, 2 do")
	s.ends("  >>")
	s.enter("print(i) end")
	s.ends("  >> print(i) end", "1", "2", "ccm>")
	s.press("abc")
	s.ends("ccm> abc")
	s.press(ctrlC)
	s.ends("ccm> abc^C", "ccm>")
	s.press("print(123) while true do end\r")
	s.shows("\n123")
	s.press(ctrlC)
	s.shows("interrupted")
	s.enter("2 * 21")
	s.ends("42", "ccm>")
	s.press("{" + "\r")
	s.ends("  >>")
	s.press(ctrlC)
	s.ends("ccm>")
	s.press(ctrlD)
	require.Equal(t, 0, s.status())
	require.NotRegexp(t, escape, s.written())
	text, err := os.ReadFile(filepath.Join(s.cmd.Dir, "state", "repl_history"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"text":"1 + 1"`)
}

// A paste is one entry, however long it is, and it is there at once.
func TestReplPaste(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	s.press("\x1b[200~local n = 1\rn = n + 1\r\x1b[201~")
	s.ends("ccm> local n = 1", "  >> n = n + 1")
	s.press("\r")
	s.ends("  >> n = n + 1", "ccm>")

	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "n = n + %d -- and some more text in each of the lines\r", i)
	}
	begin := time.Now()
	s.press("\x1b[200~" + b.String() + "\x1b[201~")
	s.ends("-- 500 lines", "ccm>")
	t.Logf("500 lines took %s", time.Since(begin).Round(time.Millisecond))
	s.enter("n")
	s.ends("124752", "ccm>")
	s.press(ctrlD)
	require.Equal(t, 0, s.status())
	text, err := os.ReadFile(filepath.Join(s.cmd.Dir, "state", "repl_history"))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(text), "\n"))
}

// A terminal that does not mark what is pasted gets it line by line.
func TestReplPasteUnmarked(t *testing.T) {
	needPTY(t)
	for _, term := range []string{"xterm", "dumb"} {
		s := onScreen(t, screenOptions{env: []string{"TERM=" + term}}, "repl", "-q")
		s.ends("ccm>")
		s.press("n = 0\r" + strings.Repeat("n = n + 1\r", 100) + "'n is ' .. n\r")
		s.shows(`"n is 100"`)
	}
}

func TestReplApply(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	root := filepath.Join(home, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "etc"), 0o755))
	site := filepath.Join(home, "site.lua")
	declare := fmt.Sprintf(`file { "/etc/motd", content = "hi\n", owner = "%d", group = "%d", mode = "0644" }`, os.Geteuid(), os.Getegid())
	require.NoError(t, os.WriteFile(site, []byte(declare), 0o600))
	motd := filepath.Join(root, "etc", "motd")

	s := onScreen(t, screenOptions{home: home}, "run", "-i", "--root", root, site)
	s.ends("ccm>")
	s.enter("plan():pending()[1].message")
	s.ends(`"Would have created the file"`, "ccm>")
	s.enter(".apply")
	s.shows("+ file#/etc/motd: Would have created the file")
	s.ends("Apply this? [y/N]")
	s.enter("n")
	s.ends("nothing was touched", "ccm>")
	require.NoFileExists(t, motd)
	s.enter(".apply")
	s.ends("Apply this? [y/N]")
	s.press(ctrlC)
	s.ends("nothing was touched", "ccm>")
	require.NoFileExists(t, motd)
	s.enter(".apply")
	s.ends("Apply this? [y/N]")
	s.enter("y")
	s.shows("+ file#/etc/motd: Created the file")
	s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
	require.FileExists(t, motd)
	s.enter(".apply")
	s.shows("Nothing to do: 1 resource is as wanted")
	s.enter(`state("file#/etc/motd").mode`)
	s.ends(`"0644"`, "ccm>")
	s.enter(`file { "/etc/motd", ensure = "absent" }`)
	s.shows("file#/etc/motd replaces the declaration at")
	s.enter("plan()")
	s.ends("- file#/etc/motd: Would have removed the file (intended)", "1 pending", "ccm>")

	history, err := os.ReadFile(filepath.Join(home, "state", "repl_history"))
	require.NoError(t, err)
	require.NotContains(t, string(history), `"y"`, "answers are no history")
}

func TestReplStart(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".config", "ccm"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".config", "ccm", "repl.lua"), []byte("mine = 'own'\nfunction hello() return mine end"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(home, "bad.lua"), []byte("file {\n  '/x',\n  mdoe = 1,\n}"), 0o600))

	s := onScreen(t, screenOptions{home: home}, "repl", "-q", "bad.lua", "an argument")
	s.shows(`bad.lua:3:3: file#/x: unknown property "mdoe"`)
	s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
	s.enter("hello(), arg[1]")
	s.ends("\"own\"   \"an argument\"", "ccm>")
	s.enter(".save x.lua")
	s.ends("there is nothing to save: no statement was typed yet", "ccm>")

	s = onScreen(t, screenOptions{home: home}, "repl", "-q", "--no-init")
	s.ends("ccm>")
	s.enter("hello")
	s.shows(`undefined global "hello"`)
}

// A terminal that does not say where its cursor is does not keep ccm waiting.
func TestReplMuteTerminal(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{mute: true}, "repl", "-q")
	s.ends("ccm>")
	s.enter("1 + 1")
	s.ends("2", "ccm>")
	s.press("fac" + tab)
	s.ends("fact   -- fact(path, default?)", "facts  -- What is so about this machine.")
	s.press(ctrlC)
	s.ends("ccm> fact", "ccm>")
	s.enter("2 + 2")
	s.ends("4", "ccm>")
}

// What ends other processes ends the prompt, and leaves the terminal in order.
func TestReplTerminated(t *testing.T) {
	needPTY(t)
	for _, term := range []string{"xterm", "dumb"} {
		s := onScreen(t, screenOptions{env: []string{"TERM=" + term}}, "repl", "-q")
		s.ends("ccm>")
		s.enter("1")
		s.ends("1", "ccm>")
		require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
		require.Equal(t, exitInterrupted, s.status())
	}
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	s.press("print(123) while true do end\r")
	s.shows("\n123")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, exitInterrupted, s.status())
}

// Colours come if they are wanted.
func TestReplColors(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{env: []string{"NO_COLOR="}}, "repl", "-q")
	s.ends("ccm>")
	s.enter(`local t = { "a", 1 } return t`)
	s.ends(`{ "a", 1 }`, "ccm>")
	require.Contains(t, s.written(), "\x1b[35mlocal\x1b[0m t = { \x1b[32m\"a\"\x1b[0m")
	require.Contains(t, s.written(), "{ \x1b[32m\"a\"\x1b[0m, \x1b[36m1\x1b[0m }\r\n")

	s = onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	s.enter(`local t = { "a", 1 } return t`)
	s.ends(`{ "a", 1 }`, "ccm>")
	s.press("fac" + tab + tab)
	s.shows("facts  -- What is so about this machine.")
	require.False(t, regexp.MustCompile(`\x1b\[[0-9;]*3[0-9]m`).MatchString(s.written()))
}
