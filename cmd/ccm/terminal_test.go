package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// evil has sequences that a terminal acts on: it sets the title, clears the screen, colours, rings, moves back,
// begins a C1 control in both encodings, reverses text, and is invalid UTF-8. evilText is the part that a text can
// contain, evilName the part for a name.
const (
	evilText = "A\x1b]0;t\aB\x1b[2JC\x1b[95mD\r\b\u009b31m\u202eE\u2028F\ufeff\x7f"
	evilName = evilText + "\x9b2J\xff"
	evil     = evilName + "\x00"
)

// evilLua and evilShell are evil as a string of Lua and of printf(1).
var (
	evilLua, evilTextLua, evilNameLua = decimals(evil), decimals(evilText), decimals(evilName)
	evilShell                         = octals(evil)
)

func decimals(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `\%03d`, c)
	}
	return `"` + b.String() + `"`
}

func octals(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}

// evilJSON is evilText as a string of JSON.
var evilJSON = `"` + evilYAML + `"`

// A hostileCase is an input with evil in it, and the commands that may show it.
type hostileCase struct {
	name     string
	files    map[string]string
	before   [][]string // commands that are run first
	commands [][]string
}

// runOfBefore is the name of a run made by the commands before.
const runOfBefore = "last"

func hostileCases(url string) []hostileCase {
	site := func(text string) map[string]string { return map[string]string{"site.lua": text} }
	reports := [][]string{
		{"plan", "site.lua"}, {"run", "site.lua"}, {"run", "-v", "--diff", "full", "site.lua"}, {"drift", "--diff", "full", "site.lua"},
		{"history"}, {"history", runOfBefore}, {"diff", runOfBefore}, {"undo", "--noop", "--diff", "full"}, {"undo", "--noop", "--diff", "full", runOfBefore},
		{"catalog", "site.lua", "--output", "dot"}, {"catalog", "site.lua"}, {"lint", "site.lua"}, {"run", "--noop", "--output", "json", "--diff", "full", "site.lua"},
	}
	// These show the last run.
	past := append([][]string{{"history", runOfBefore}, {"diff", runOfBefore}}, reports...)
	owned := fmt.Sprintf(`owner = "%d", group = "%d", mode = "0644"`, os.Geteuid(), os.Getegid())
	here := `local dir = "WORK" `
	return []hostileCase{
		{"old content", map[string]string{"site.lua": here + `file { dir .. "/old", content = "new\n", ` + owned + ` }`, "old": evilText + "\n"}, nil, reports},
		{"new content", site(here + `file { dir .. "/new", content = ` + evilTextLua + `, ` + owned + ` }`), [][]string{{"run", "site.lua"}}, reports},
		{"name of a file", site(here + `file { dir .. "/" .. ` + evilNameLua + `, content = "x", ` + owned + ` }`), [][]string{{"run", "site.lua"}}, reports},
		{"names that are removed", map[string]string{
			"made.lua": here + `file { dir .. "/gone", ensure = "directory", ` + strings.Replace(owned, "0644", "0755", 1) + ` } file { dir .. "/gone/" .. ` + evilNameLua + `, content = "x", ` + owned + ` } local link = require "std.link" link { dir .. "/gone/link", target = ` + evilNameLua + ` }`,
			"site.lua": here + `file { dir .. "/gone", ensure = "absent", force = true }`,
		}, [][]string{{"run", "made.lua"}, {"run", "site.lua"}}, past},
		{"line break in a name", site(here + `file { dir .. "/a\nb", content = "x", ` + owned + ` }`), [][]string{{"run", "site.lua"}}, past},
		{"target of a link", site(here + `local link = require "std.link" link { dir .. "/link", target = ` + evilNameLua + ` }`), [][]string{{"run", "site.lua"}}, append([][]string{{"status", "link", "WORK/link"}}, reports...)},
		{"command that fails", site(`exec { "fail", command = [[sh -c "printf '` + evilShell + `'; printf '` + evilShell + `' >&2; exit 3"]] }`), [][]string{{"run", "site.lua"}}, reports},
		{"name of a command", site(`exec { ` + evilNameLua + `, command = "false" }`), [][]string{{"run", "site.lua"}}, reports},
		{"logoutput", site(`exec { "log", logoutput = true, command = [[sh -c "printf '` + evilShell + `\n'"]] }`), nil, reports},
		{"health check", site(`exec { "true", command = "true", health_checks = { { command = [[sh -c "printf '` + evilShell + `'; exit 2"]], tries = 1 } } }`), [][]string{{"run", "site.lua"}}, reports},
		{"guard", site(`exec { "guard", command = "true", onlyif = "/nowhere/" .. ` + evilNameLua + ` }`), [][]string{{"run", "site.lua"}}, past},
		{"print and log", site(`print(` + evilLua + `) log.info(` + evilLua + `) log.warn("x", { a = ` + evilLua + ` }) ccm.warn(` + evilLua + `)`), nil, reports[:2]},
		{"error of a script", site(`error(` + evilLua + `)`), nil, reports[:2]},
		{"source of a script", site("file { '/x', mdoe = '" + evilText + "' }\n"), nil, append([][]string{{"lint", "."}}, reports[:2]...)},
		{"syntax of a script", site("file { '" + evilName + "\n"), nil, append([][]string{{"lint", "site.lua"}}, reports[:2]...)},
		{"manifest", map[string]string{"site.yaml": "ccm:\n  resources:\n    - exec:\n        - \"" + evilYAML + "\":\n            command: \"false\"\n            mdoe: \"" + evilYAML + "\"\n"}, nil,
			[][]string{{"plan", "site.yaml"}, {"run", "site.yaml"}, {"convert", "site.yaml"}, {"run", "--render", "site.yaml"}}},
		{"template", map[string]string{"site.yaml": "ccm:\n  pre_message: \"" + evilYAML + "\"\n  resources:\n    - exec:\n        - \"echo {{ nothing('" + evilYAML + "') }}\": {}\n"}, nil,
			[][]string{{"plan", "site.yaml"}}},
		{"message of a manifest", map[string]string{"site.yaml": "ccm:\n  pre_message: \"" + evilYAML + "\"\n  post_message: \"" + evilYAML + "\"\n  resources: []\n"}, nil, [][]string{{"plan", "site.yaml"}, {"run", "site.yaml"}}},
		{"data", map[string]string{"data.yaml": "hierarchy:\n  order: []\ndata:\n  \"k" + evilYAML + "\": \"" + evilYAML + "\"\n"}, nil,
			[][]string{{"data", "data.yaml"}, {"data", "data.yaml", "--output", "yaml"}, {"data", "data.yaml", "--output", "text"}, {"data", "data.yaml", evilText}}},
		{"fact", nil, nil, [][]string{{"facts", "x", "--fact", "x=" + evilText}, {"facts", "x", "--fact", "x=" + evilText, "--output", "json"}, {"facts", evilText}, {"facts", "x", "--fact", "x=" + evilText, "--output", "yaml"}}},
		{"arguments", nil, nil, [][]string{
			{evilText}, {"--" + evilText}, {"run", evilText}, {"run", "--diff", evilText, "x"}, {"docs", evilText}, {"ensure", evilText, "x"}, {"status", "file", evilText}, {"history", evilText},
			{"import", "file", "/nowhere/" + evilText}, {"test", evilText}, {"lint", evilText}, {"session", "report", "--session", "WORK/" + evilText}, {"init", evilText},
		}},
		{"environment", site(`print(env.EVIL) error(env.EVIL)`), nil, [][]string{{"plan", "site.lua"}}},
		{"eval", nil, nil, [][]string{{"eval", evilLua}, {"eval", "print(" + evilLua + ")"}, {"eval", "--output", "json", evilTextLua}, {"eval", "error(" + evilLua + ")"}, {"eval", "{ " + evilLua + " }"}, {"eval", "--output", "yaml", evilTextLua}}},
		{"specs", map[string]string{"x_spec.lua": `describe("d", function() it(` + evilLua + `, function() error(` + evilLua + `) end) end)`}, nil,
			[][]string{{"test", "."}, {"test", "--output", "tap", "."}, {"test", "--output", "junit", "."}, {"test", "--output", "json", "."}}},
		{"answer of a server", site(here + `file { dir .. "/download", source = "` + url + `/text", ` + owned + ` }`), nil, reports},
		{"names in an archive", site(here + `archive { dir .. "/a.tar", url = "` + url + `/names.tar", extract_parent = dir .. "/out", ` + strings.TrimSuffix(owned, `, mode = "0644"`) + ` }`), [][]string{{"run", "site.lua"}}, past},
		{"import", map[string]string{"file": evilText}, nil, [][]string{{"import", "file", "WORK/file"}}},
		{"no longer declared", site(here + `if not arg[1] then file { dir .. "/" .. ` + evilNameLua + `, content = "x", ` + owned + ` } exec { ` + evilNameLua + `, command = "true" } end`), [][]string{{"run", "site.lua"}},
			[][]string{{"run", "-v", "site.lua", "x"}, {"prune", "--noop", "--diff", "full", "site.lua", "x"}, {"prune", "--yes", "site.lua", "x"}, {"history", runOfBefore}}},
		{"saved plan", site(here + `file { dir .. "/" .. ` + evilNameLua + `, content = ` + evilTextLua + `, ` + owned + ` } exec { ` + evilNameLua + `, command = "true" }`), [][]string{{"plan", "--out", "p.plan", "site.lua"}, {"run", "site.lua"}},
			[][]string{{"run", "p.plan"}, {"run", "--diff", "full", "p.plan"}}},
		{"plan of another", map[string]string{
			"version.plan": `{"protocol":"io.choria.ccm.v1.plan","format":1,"ccm_version":` + evilJSON + `,"file":` + evilJSON + `,"directory":` + evilJSON + `,"options":{}}`,
			"field.plan":   `{"protocol":"io.choria.ccm.v1.plan","format":1,` + evilJSON + `:1}`,
			"id.plan":      `{"protocol":"io.choria.ccm.v1.plan","format":1,"file":"x","options":{},"resources":[{"id":` + evilJSON + `},{"id":` + evilJSON + `}]}`,
		}, nil, [][]string{{"run", "version.plan"}, {"run", "field.plan"}, {"run", "id.plan"}, {"plan", "--out", "version.plan", "nothing.lua"}}},
		{"output as it comes", site(`exec { "log", command = [[sh -c "printf '` + evilShell + `\n'; printf '` + evilShell + `\n' >&2; exit 2"]] }`), nil,
			[][]string{{"run", "--stream", "site.lua"}, {"run", "--stream", "--output", "json", "site.lua"}}},
		{"documents of a module", map[string]string{"m.lua": `return { t = ccm.type { name = "evil", doc = "A" .. ` + evilTextLua + `, properties = { name = { name = true, doc = "x" .. ` + evilTextLua + ` } }, status = function() return {} end, perform = function() end } }`}, nil,
			[][]string{{"docs", "--module", "m", "evil"}, {"docs", "--module", "m", "evil.name"}, {"docs", "--module", "m", "evil", "--output", "json"}, {"docs", "--module", evilText, "evil"}}},
	}
}

// evilYAML is evilText as the content of a quoted YAML string.
var evilYAML = func() string {
	var b strings.Builder
	for _, r := range evilText {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}()

// TestHostileTextInReports shows evil text with every command that may show it, with and without colours, in pipes
// and on a terminal. No control character may be printed. Each command is tried in one of the three ways, in turn;
// CCM_TEST_TERMINAL=all tries each in all of them. CCM_TEST_PROGRAM is another program to test than this one.
func TestHostileTextInReports(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	needPTY(t)
	program, err := exec.LookPath("ccm")
	require.NoError(t, err)
	if other := os.Getenv("CCM_TEST_PROGRAM"); other != "" {
		program = other
	}
	modes := []string{"terminal", "pipe", "coloured pipe"}
	all := os.Getenv("CCM_TEST_TERMINAL") == "all"
	var tried, failed atomic.Int64
	cases := hostileCases(hostileServer(t))
	t.Run("all", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				h := &hostileRun{t: t, program: program, dir: t.TempDir()}
				for name, text := range c.files {
					require.NoError(t, os.WriteFile(filepath.Join(h.dir, name), []byte(strings.ReplaceAll(text, "WORK", h.dir)), 0o600))
				}
				for _, args := range c.before {
					h.pipe(args)
				}
				for i, args := range c.commands {
					for k, mode := range modes {
						onlyTerminal := dataForPipes(args)
						if onlyTerminal && mode != "terminal" || !all && !onlyTerminal && k != i%len(modes) {
							continue
						}
						out := h.show(mode, args)
						tried.Add(1)
						if problem := harmful(out, mode); problem != "" {
							failed.Add(1)
							t.Errorf("%s: ccm %q: %s in %q", mode, args, problem, out)
						}
					}
				}
			})
		}
	})
	t.Logf("%d of %d let through what a terminal acts on", failed.Load(), tried.Load())
	require.Greater(t, tried.Load(), int64(map[bool]int{true: 450, false: 150}[all]))
}

// Data is unchanged in a pipe; on a terminal JSON keeps its meaning.
func TestHostileTextInData(t *testing.T) {
	needPTY(t)
	program, err := exec.LookPath("ccm")
	require.NoError(t, err)
	h := &hostileRun{t: t, program: program, dir: t.TempDir()}
	require.Equal(t, evilText+"\n", h.pipe([]string{"facts", "x", "--fact", "x=" + evilText}))
	for _, mode := range []string{"pipe", "terminal"} {
		var told struct{ X string }
		out := h.show(mode, []string{"facts", "--output", "json", "--fact", "x=" + evilText})
		require.NoError(t, json.Unmarshal([]byte(out), &told), out)
		require.Equal(t, evilText, told.X, mode)
	}

	// A patch can be applied, whatever the content of the file.
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600))
	}
	write("old", evilText+"\n")
	write("site.lua", fmt.Sprintf(`file { %q, content = "new\n", owner = "%d", group = "%d", mode = "0600" }`, filepath.Join(h.dir, "old"), os.Geteuid(), os.Getegid()))
	h.pipe([]string{"run", "site.lua"})
	require.Contains(t, h.pipe([]string{"diff", "last"}), "\n-"+evilText+"\n+new\n")
	require.Contains(t, h.show("terminal", []string{"diff", "last"}), "\n-A\\x1b]0;t\\aB")
}

// The arguments of the lock's holder are shown escaped.
func TestHostileLockHolder(t *testing.T) {
	needPTY(t)
	program, err := exec.LookPath("ccm")
	require.NoError(t, err)
	h := &hostileRun{t: t, program: program, dir: t.TempDir()}
	begun := filepath.Join(h.dir, "begun")
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "site.lua"), []byte(fmt.Sprintf(`exec { "x", command = [[sh -c "echo > %s; read x < %s"]] }`, begun, filepath.Join(h.dir, "fifo"))), 0o600))
	require.NoError(t, syscall.Mkfifo(begun, 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(h.dir, "fifo"), 0o600))
	first := h.command([]string{"run", "site.lua", evilName})
	require.NoError(t, first.Start())
	_, err = os.ReadFile(begun) // once this file exists, the lock is held
	require.NoError(t, err)
	for _, mode := range []string{"pipe", "coloured pipe", "terminal"} {
		out := h.show(mode, []string{"run", "site.lua"})
		require.Contains(t, out, `A\x1b]0;t\aB`)
		require.Empty(t, harmful(out, mode), out)
	}
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "fifo"), []byte("\n"), 0o600))
	require.NoError(t, first.Wait())
}

// While a command runs, a terminal shows the end of its output, without control characters; afterwards it is removed.
func TestOutputWhileACommandRuns(t *testing.T) {
	needPTY(t)
	program, err := exec.LookPath("ccm")
	require.NoError(t, err)
	h := &hostileRun{t: t, program: program, dir: t.TempDir()}
	fifo := filepath.Join(h.dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "site.lua"), []byte(`exec { "slow", command = [[sh -c "printf '`+evilShell+`\nlast line\n'; read x < `+fifo+`"]] }`), 0o600))
	file, err := pty.StartWithSize(h.command([]string{"run", "site.lua"}), &pty.Winsize{Rows: 24, Cols: 60})
	require.NoError(t, err)
	defer file.Close()
	var out strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(out.String(), "\n    last line") {
		n, err := file.Read(buf)
		require.NoError(t, err, out.String())
		out.Write(buf[:n])
	}
	require.NoError(t, os.WriteFile(fifo, []byte("\n"), 0o600))
	rest, _ := io.ReadAll(file) // EIO means that the other side is closed
	out.Write(rest)
	text := strings.ReplaceAll(out.String(), "\r\n", "\n")
	require.Contains(t, text, "\n    A\\x1b]0;t\\a")
	require.Empty(t, harmful(text, "terminal"), text)
	last := text[strings.LastIndex(text, "last line"):]
	require.Regexp(t, `^last line(\r\x1b\[K\x1b\[1A)+\r\x1b\[K(\x1b\[33m)?~`, last)
}

// TestTerminalOfRoot: a command that root runs as another user cannot open root's terminal, into which it could type
// (TIOCSTI). A command as root can.
func TestTerminalOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	needPTY(t)
	program, err := exec.LookPath("ccm")
	require.NoError(t, err)
	h := &hostileRun{t: t, program: program, dir: t.TempDir()}
	site := ""
	for _, as := range []string{"", `user = "nobody", `} {
		site += "exec { [[sh -c 'if (exec 3< /dev/tty) 2> /dev/null; then echo terminal; else echo none; fi' " + as + "]], " + as + "logoutput = true }\n"
	}
	bin, err := os.MkdirTemp("/var/tmp", "ccm-npm-") // other users have no access to t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(bin)) })
	require.NoError(t, os.Chmod(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\nif (exec 3< /dev/tty) 2> /dev/null; then echo >&2 npm has the terminal; else echo >&2 npm has none; fi\n"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	site += `require "std.language_package" { "x", manager = "npm", user = "nobody" }` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "site.lua"), []byte(site), 0o600))
	out := h.show("terminal", []string{"run", "site.lua"})
	require.Regexp(t, `(?s)INF terminal .*INF none .*npm ls: npm has none.*2 changed`, ownSequences.ReplaceAllString(out, ""))
}

type hostileRun struct {
	t       *testing.T
	program string
	dir     string
}

func (h *hostileRun) command(args []string) *exec.Cmd {
	full := make([]string, len(args))
	for i, arg := range args {
		full[i] = strings.ReplaceAll(arg, "WORK", h.dir)
	}
	cmd := exec.Command(h.program, full...)
	cmd.Dir = h.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "PWD=" + h.dir, "TERM=xterm", "CCM_STATE_DIR=" + filepath.Join(h.dir, "state"), "EVIL=" + evilName,
	}
	return cmd
}

func (h *hostileRun) pipe(args []string) string {
	out, err := h.command(args).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return string(out)
}

// show returns the output of a command.
func (h *hostileRun) show(mode string, args []string) string {
	switch mode {
	case "pipe":
		return h.pipe(args)
	case "coloured pipe":
		return h.pipe(append([]string{"--color", "always"}, args...))
	}
	return onTerminal(h.t, h.command(args))
}

// onTerminal returns the output of a command on a terminal.
func onTerminal(t *testing.T, cmd *exec.Cmd) string {
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	_ = slave.Close()
	var out bytes.Buffer
	_, _ = io.Copy(&out, master) // EIO when the other side is closed
	_ = cmd.Wait()
	return strings.ReplaceAll(out.String(), "\r\n", "\n") // the terminal adds the carriage returns
}

var ownSequences = regexp.MustCompile(`\x1b\[(0|1|2|22|3[1-6]|9[1-3])?m|\x1b\[[12];3[0-9]m|\r\x1b\[K|\x1b\[1A`)

// dataForPipes reports whether the output of a command in a pipe is for programs.
func dataForPipes(args []string) bool {
	text := strings.Join(args, " ")
	for _, x := range []string{"eval", "data ", "facts ", "graph", "diff ", "import", "catalog", "convert", "--render", "--output json"} {
		if strings.HasPrefix(text, x) || strings.HasPrefix(x, "--") && strings.Contains(text, x) {
			return true
		}
	}
	return false
}

// harmful returns the parts of an output that a terminal would act on.
func harmful(out, mode string) string {
	if mode != "pipe" {
		out = ownSequences.ReplaceAllString(out, "")
	}
	if !utf8.ValidString(out) {
		return "bytes that are not UTF-8"
	}
	for _, r := range out {
		switch {
		case r == '\n', r == '\t':
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\ufeff':
			return fmt.Sprintf("%q", r)
		}
	}
	if strings.Contains(out, "\nb:") || strings.Contains(out, "\nb ") {
		return "a line that a name has begun"
	}
	return ""
}

// hostileServer answers with evil, and returns its URL.
func hostileServer(t *testing.T) string {
	answers := map[string][]byte{
		"/text":      []byte(evilText + "\n"),
		"/names.tar": hosttest.Tar(t, hosttest.File(strings.ReplaceAll(evilName, "/", ""), "x"), hosttest.File("a\nb", "x")),
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(answers[r.URL.Path]) }))
	t.Cleanup(s.Close)
	return s.URL
}
