package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/site/prompt"
)

// TestReplDocs types the sessions of docs/repl.md and compares the output: each block with the language ccm is a
// session. A line after ++ continues the one before. UPDATE=1 writes the output.
func TestReplDocs(t *testing.T) {
	page, err := filepath.Abs("../../docs/repl.md")
	require.NoError(t, err)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```ccm\n(.*?)```")
	count := 0
	got := blocks.ReplaceAllStringFunc(string(text), func(block string) string {
		count++
		return "```ccm\n" + retyped(t, blocks.FindStringSubmatch(block)[1]) + "```"
	})
	require.Greater(t, count, 5)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(page, []byte(got), 0o644))
		return
	}
	require.Equal(t, string(text), got)
}

// took matches a duration, which differs between runs.
var took = regexp.MustCompile(` \([0-9.]+[µm]?s\)`)

// A talk is a session in this process, on its own root.
type talk struct {
	p   *prompt.Prompt
	out bytes.Buffer
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	t.Chdir(t.TempDir())
	isolate(t)
	t.Setenv("NO_COLOR", "1")
	root := filepath.Join(t.TempDir(), "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "etc"), 0o755))
	k := new(talk)
	e := newEnv(strings.NewReader(""), &k.out, &k.out, hosttest.Clock{})
	f := &replFlags{}
	f.add(pflag.NewFlagSet("", pflag.ContinueOnError))
	f.Root = root
	var err error
	k.p, err = newPrompt(t.Context(), e, f, nil, &k.out)
	require.NoError(t, err)
	t.Cleanup(k.p.Dialog.Close)
	return k
}

// say types a text and returns the output.
func (k *talk) say(t *testing.T, text string) string {
	k.out.Reset()
	k.p.Dialog.Handle(t.Context(), text)
	return took.ReplaceAllString(k.out.String(), "")
}

// retyped returns a session with the output of ccm.
func retyped(t *testing.T, session string) string {
	k := newTalk(t)
	var b strings.Builder
	lines := strings.SplitAfter(session, "\n")
	for i := 0; i < len(lines); i++ {
		line, ok := strings.CutPrefix(lines[i], "ccm> ")
		if k.p.Dialog.Pending() {
			line, ok = strings.CutPrefix(lines[i], "  >> ")
		}
		if !ok {
			continue
		}
		b.WriteString(lines[i])
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ++ ") {
			i++
			b.WriteString(lines[i])
			line += strings.TrimPrefix(lines[i], "  ++ ")
		}
		b.WriteString(k.say(t, strings.TrimSuffix(line, "\n")))
	}
	return b.String()
}

// Types written in Lua, values that are known later, and manifests work at the prompt as in a run.
func TestReplLanguage(t *testing.T) {
	k := newTalk(t)
	require.NoError(t, os.WriteFile("site.yaml", []byte("ccm:\n  resources:\n    - file:\n        - /etc/gone:\n            ensure: absent\n"), 0o600))
	require.NoError(t, os.WriteFile("bad.yaml", []byte("ccm:\n  resources:\n    - file:\n        - /etc/gone:\n            ensrue: absent\n"), 0o600))
	for _, x := range []struct{ text, want string }{
		{`local link = require "std.link"`, ""},
		{`link { "/etc/l", target = "/etc/motd" }`, "link#/etc/l\n"},
		{`plan()["link#/etc/l"].outcome`, "\"pending\"\n"},
		{`state("link#/etc/l").ensure`, "\"absent\"\n"},
		{`local e = exec { "echo hi", path = "/bin:/usr/bin" }`, ""},
		{`file { "/etc/later", content = ccm.lazy(function() return e.stdout end), owner = "root", group = "root", mode = "0644" }`, "file#/etc/later\n"},
		{`plan()["file#/etc/later"].outcome`, "\"pending\"\n"},
		{`.load site.yaml`, ""},
		{`plan()["file#/etc/gone"].outcome, #events()`, "\"stable\"\t4\n"},
		{`.load bad.yaml`, "bad.yaml:5:13: file#/etc/gone: unknown property \"ensrue\" (did you mean \"ensure\"?)\n  5 |             ensrue: absent\n    |             ^^^^^^\n"},
		{`.plan file#/etc/gone`, "Nothing to do: 1 resource up to date\n"},
		{`.show link#/etc/l`, "link#/etc/l\n  ensure: absent\n  provider: lua\n"},
		{`.data`, "no data loaded (load data with --data FILE or data.load(FILE))\n"},
		{`.apply`, "asking requires a terminal"},
		{`.reset`, ""},
		{`link`, "repl:1:1:1: undefined global \"link\""},
		{`plan()`, "repl:2:1:1: no resources declared yet"},
	} {
		got := k.say(t, x.text)
		if strings.HasSuffix(x.want, "\n") || x.want == "" {
			require.Equal(t, x.want, got, x.text)
			continue
		}
		require.Contains(t, got, x.want, x.text)
	}
}
