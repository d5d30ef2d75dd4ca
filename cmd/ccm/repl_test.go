package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	s.enter(`local s = "äöü 日本語 🙂"`)
	s.enter("s .. #s")
	s.ends(`"äöü 日本語 🙂21"`, "ccm>")
	s.press("1 - 2\x1bb3\r") // Alt-b goes back one word
	s.ends("ccm> 1 - 32", "-31", "ccm>")
	s.enter(`_PROMPT = "lua: "`)
	s.ends("lua:")
	s.press("answ" + ctrlC)
	s.ends("lua: answ", "lua:")
	s.press(ctrlD)
	require.Equal(t, 0, s.status())
	require.True(t, strings.HasSuffix(s.written(), "\x1b[?2004l") || strings.HasSuffix(s.written(), "\n"), "the last line has an end: %q", s.written()[len(s.written())-40:])
}

// The next session has the history, and an entry of two lines is one entry.
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
	s.ends("fact   -- fact(path, default?)", "facts  -- Describes this machine.")
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

// family returns the family of this machine according to ccm.
func family(t *testing.T) string {
	t.Helper()
	out, _, status := ccm(t, nil, "facts", "os.family")
	require.Equal(t, 0, status)
	return strings.TrimSpace(out)
}

// Ctrl-C ends an endless evaluation, and the prompt comes back.
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
		t.Logf("%s: prompt after %s", text, time.Since(begin).Round(time.Millisecond))
	}
	s.enter("1 + 1")
	s.ends("2", "ccm>")
}

// The user's editor edits the present line, and the last entry.
func TestReplEdit(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	program := filepath.Join(home, "edit")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nsed -i 's/one/1/' \"$2\"\n"), 0o700))
	s := onScreen(t, screenOptions{home: home, env: []string{"VISUAL=" + program + " --"}}, "repl", "-q")
	s.ends("ccm>")
	s.press("one + one")
	s.ends("ccm> one + one")
	s.press("\x18\x05")
	s.ends("ccm> 1 + one")
	s.press(ctrlC)
	s.ends("ccm> 1 + one", "ccm>")
	s.enter("one = 'one'")
	s.ends("ccm>")
	s.enter(".edit")
	s.ends("1 = 'one'", "repl:2:1:3: expected an operator or the end, got =", "  1 | 1 = 'one'", "    |   ^", "ccm>")
}
