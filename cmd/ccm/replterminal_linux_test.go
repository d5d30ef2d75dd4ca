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
	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/cmd/ccm/cli"
)

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

// The screen is right when the prompt is on the last line.
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
	s.shows("str  -- Works on text.")
	s.press(ctrlC)
	s.ends("ccm> str", "ccm>")
	s.enter("7")
	s.ends("7", "ccm>")
}

// escape matches the start of a control sequence.
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
	s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "ccm>") })
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

// A paste is one entry, however long it is, and appears at once.
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

// Without bracketed paste, a paste is entered line by line.
func TestReplPasteUnmarked(t *testing.T) {
	needPTY(t)
	for _, term := range []string{"xterm", "dumb"} {
		s := onScreen(t, screenOptions{env: []string{"TERM=" + term}}, "repl", "-q")
		s.ends("ccm>")
		s.press("n = 0\r" + strings.Repeat("n = n + 1\r", 100) + "'n is ' .. n\r")
		s.shows(`"n is 100"`)
	}
}

// A terminal that does not report its cursor position does not block ccm.
func TestReplMuteTerminal(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{mute: true}, "repl", "-q")
	s.ends("ccm>")
	s.enter("1 + 1")
	s.ends("2", "ccm>")
	s.press("fac" + tab)
	s.ends("fact   -- fact(path, default?)", "facts  -- Describes this machine.")
	s.press(ctrlC)
	s.ends("ccm> fact", "ccm>")
	s.enter("2 + 2")
	s.ends("4", "ccm>")
}

// Signals that end other programs end the prompt too, and the terminal is restored.
func TestReplTerminated(t *testing.T) {
	needPTY(t)
	for _, term := range []string{"xterm", "dumb"} {
		s := onScreen(t, screenOptions{env: []string{"TERM=" + term}}, "repl", "-q")
		s.ends("ccm>")
		s.enter("1")
		s.ends("1", "ccm>")
		require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
		require.Equal(t, cli.ExitInterrupted, s.status())
	}
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	s.press("print(123) while true do end\r")
	s.shows("\n123")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, cli.ExitInterrupted, s.status())
}

// Colours are used if they are requested.
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
	s.shows("facts  -- Describes this machine.")
	require.False(t, regexp.MustCompile(`\x1b\[[0-9;]*3[0-9]m`).MatchString(s.written()))
}

// Ctrl-D and Delete delete the character under the cursor; on an empty line Ctrl-D ends the session.
func TestReplDelete(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	s.press("1234")
	s.ends("ccm> 1234")
	s.press(ctrlD + "\x1b[3~" + "\x01" + ctrlD) // at the end, then at the start
	s.ends("ccm> 234")
	s.press("\x1b[3~\r")
	s.ends("34", "ccm>")
	s.press(ctrlD)
	require.Equal(t, 0, s.status())
}

// Keys of other prompts, results of values, the pager, and the list of declarations work.
func TestReplHabits(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "site.lua"), []byte(`file { "/etc/x", ensure = "absent" }`), 0o600))
	s := onScreen(t, screenOptions{home: home, env: []string{"PAGER=tail -n 2"}}, "repl", "-q")
	s.ends("ccm>")
	s.press("1234" + "\x1b[D\x1b[D" + ctrlD) // in the middle of the line
	s.ends("ccm> 124")
	s.press("\r")
	for _, x := range []struct{ typed, screen string }{
		{"help", ".help lists the commands, ?NAME describes a name"},
		{"exit", "use .quit or Ctrl-D"},
		{"quit()", "use .quit or Ctrl-D"},
		{"local function f(a) end return f", "function f(a)  repl:2:1"},
		{`setmetatable({}, { __tostring = function() return "I" end })`, "I"},
		{"_2", "124"},
		{"local t = {} for i = 1, 70 do t[i] = { a = i, b = i, c = i } end return t", "more lines (.page shows all)"},
		{".page", "    c = 70\n  } }"},
		{".load site.lua", ""},
		{".reload", "reloaded site.lua: 1 resource"},
		{".drop file#/etc/x", ""},
		{".catalog", "no resources declared"},
	} {
		s.until("the prompt", func(text string) bool { return strings.HasSuffix(text, "\nccm>") })
		s.enter(x.typed)
		if x.screen != "" {
			s.shows(x.screen + "\nccm>")
		}
	}
}

// Types of the standard library are listed with the others, and their descriptions are one column.
func TestReplTypes(t *testing.T) {
	needPTY(t)
	s := onScreen(t, screenOptions{}, "repl", "-q")
	s.ends("ccm>")
	s.enter(".types")
	s.shows("  user ")
	column := regexp.MustCompile(`(?m)^  [a-z_]+ +`).FindAllString(s.text(), -1)
	require.Greater(t, len(column), 10)
	for _, name := range column {
		require.Len(t, name, len(column[0]), name)
	}
}

// Output of commands is shown while they run, and the status line makes way. The output stays if it is logged.
func TestReplApplyShowsOutput(t *testing.T) {
	needPTY(t)
	for properties, before := range map[string]string{"": "\n    ", ", logoutput = true": "INF "} {
		s := onScreen(t, screenOptions{}, "repl", "-q")
		s.ends("ccm>")
		require.NoError(t, syscall.Mkfifo(filepath.Join(s.cmd.Dir, "go"), 0o600))
		s.enter(`talk = "/bin/sh -c 'echo begun; cat go; echo ended'"`)
		s.enter(`exec { "talk", command = talk, cwd = env.HOME` + properties + ` }`)
		s.shows("exec#talk")
		s.enter(".apply")
		s.shows("Apply this? [y/N]")
		s.enter("y")
		s.shows(before + "begun")
		require.NotContains(t, s.text(), before+"ended")
		require.NoError(t, os.WriteFile(filepath.Join(s.cmd.Dir, "go"), nil, 0o600))
		s.shows("1 resource: 1 changed")
		require.Equal(t, properties != "", strings.Contains(s.text(), before+"ended"))
	}
}

// However often and wherever the prompt is when ccm gets SIGTERM, the terminal is restored. A terminal with stopped
// output blocks the prompt between two lines until it goes on.
func TestReplTerminatedTwice(t *testing.T) {
	needPTY(t)
	const stopOutput, startOutput = 0, 1 // TCOOFF and TCOON of tcflow(3)
	for name, signals := range map[string][]os.Signal{"once": {syscall.SIGTERM}, "twice": {syscall.SIGTERM, syscall.SIGHUP}} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			began, goOn := filepath.Join(home, "began"), filepath.Join(home, "go")
			require.NoError(t, os.WriteFile(filepath.Join(home, "wait"), []byte("cd \"$HOME\"; touch began; until test -e go; do sleep 0.01; done\n"), 0o600))
			s := onScreen(t, screenOptions{home: home}, "repl", "-q")
			number, err := unix.IoctlGetUint32(int(s.pty.Fd()), unix.TIOCGPTN)
			require.NoError(t, err)
			tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
			require.NoError(t, err)
			defer tty.Close()
			fd := int(tty.Fd())
			s.ends("ccm>")
			raw, err := unix.IoctlGetTermios(fd, unix.TCGETS)
			require.NoError(t, err)
			require.Zero(t, raw.Lflag&unix.ECHO)
			s.enter(`local _ = capture { "sh", env.HOME .. "/wait" }`)
			appears(t, began)
			require.NoError(t, unix.IoctlSetInt(fd, unix.TCXONC, stopOutput))
			require.NoError(t, os.WriteFile(goOn, nil, 0o600))
			require.Eventually(t, func() bool { return isWriting(s.cmd.Process.Pid) }, patient, time.Millisecond)
			for _, sig := range signals {
				require.NoError(t, s.cmd.Process.Signal(sig))
			}
			require.NoError(t, unix.IoctlSetInt(fd, unix.TCXONC, startOutput))
			require.Eventually(t, func() bool { return gone(s.cmd.Process.Pid) }, patient, 5*time.Millisecond)
			is, err := unix.IoctlGetTermios(fd, unix.TCGETS)
			require.NoError(t, err)
			require.NotZero(t, is.Lflag&unix.ECHO, "the terminal does not echo what is typed")
			require.NotZero(t, is.Lflag&unix.ICANON)
			tty.Close()
			require.Equal(t, cli.ExitInterrupted, s.status())
		})
	}
}

// isWriting reports whether a process is blocked in a write to its standard output.
func isWriting(pid int) bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, task := range tasks {
		if text, err := os.ReadFile(task); err == nil && strings.HasPrefix(string(text), fmt.Sprintf("%d 0x1 ", unix.SYS_WRITE)) {
			return true
		}
	}
	return false
}
