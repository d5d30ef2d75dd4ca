package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestReplDocs types what docs/repl.md says and compares the answers: each block
// that is marked ccm is a session of its own. A line behind ++ belongs to the one
// before. UPDATE=1 writes the answers anew.
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

// took matches how long something took, which is not always the same.
var took = regexp.MustCompile(` \([0-9.]+[µm]?s\)`)

// retyped returns a session with the answers of ccm.
func retyped(t *testing.T, session string) string {
	t.Chdir(t.TempDir())
	isolate(t)
	root := filepath.Join(t.TempDir(), "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "etc"), 0o755))
	t.Setenv("NO_COLOR", "1")
	var out bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &out, clock: hosttest.Clock{}}
	f := &replFlags{}
	f.add(pflag.NewFlagSet("", pflag.ContinueOnError))
	f.root = root
	p, err := e.newPrompt(t.Context(), f, nil, &out)
	require.NoError(t, err)
	defer p.dialog.Close()
	var b strings.Builder
	lines := strings.SplitAfter(session, "\n")
	for i := 0; i < len(lines); i++ {
		line, ok := strings.CutPrefix(lines[i], "ccm> ")
		if p.dialog.Pending() {
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
		out.Reset()
		p.dialog.Handle(t.Context(), strings.TrimSuffix(line, "\n"))
		fmt.Fprint(&b, took.ReplaceAllString(out.String(), ""))
	}
	return b.String()
}
