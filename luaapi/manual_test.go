package luaapi_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
)

// A statement is something that the manual of Lua 5.1 says, with a program that shows it. The files of testdata/manual
// have one section each:
//
//	== What the manual says, in other words.
//	print(1 + 1)
//	--> 2
//
// A line "--differs ROW" says that ccm prints something else than Lua, for the reason that a row of docs/lua.md
// (Differences from Lua 5.1) has; ROW is in its first column.
type statement struct {
	file, title, program, output string
	differs                      string
}

// manual reads the statements.
func manual(t *testing.T) []statement {
	t.Helper()
	files, err := filepath.Glob("testdata/manual/*.txt")
	require.NoError(t, err)
	var out []statement
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		before, rest, _ := strings.Cut(string(text), "== ")
		require.Empty(t, before, file)
		for entry := range strings.SplitSeq(rest, "\n== ") {
			title, body, _ := strings.Cut(strings.TrimRight(entry, "\n"), "\n")
			s := statement{file: strings.TrimSuffix(filepath.Base(file), ".txt"), title: title}
			for line := range strings.SplitSeq(body, "\n") {
				if text, ok := strings.CutPrefix(line, "--differs "); ok {
					s.differs = text
				} else if text, ok := strings.CutPrefix(line, "-->"); ok {
					s.output += strings.TrimPrefix(text, " ") + "\n"
				} else {
					require.Empty(t, s.output, "%s: %s: the program goes on behind its output", file, title)
					s.program += line + "\n"
				}
			}
			require.NotEmpty(t, s.output, "%s: %s", file, title)
			out = append(out, s)
		}
	}
	return out
}

// eachStatement calls f for each statement, in a test of its own.
func eachStatement(t *testing.T, f func(t *testing.T, s statement)) {
	numbers := map[string]int{}
	for _, s := range manual(t) {
		numbers[s.file]++
		t.Run(fmt.Sprintf("%s/%d", s.file, numbers[s.file]), func(t *testing.T) { f(t, s) })
	}
}

// TestManual: ccm does what the manual says.
func TestManual(t *testing.T) {
	eachStatement(t, func(t *testing.T, s statement) {
		var b catalog.Builder
		var print bytes.Buffer
		in := luaapi.New(options(t, &b, &print))
		defer in.Close()
		err := in.Run(context.Background(), "manual.lua", s.program)
		if s.differs == "" {
			require.NoError(t, err, s.title)
		}
		require.Equal(t, s.output, print.String(), s.title)
	})
}

// TestManualInLua: what the statements say of Lua is so in Lua 5.1 itself, and a documented difference is one.
func TestManualInLua(t *testing.T) {
	lua, err := exec.LookPath("lua5.1")
	if err != nil {
		t.Skip("lua5.1 is not installed (install the package lua5.1)")
	}
	eachStatement(t, func(t *testing.T, s statement) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, lua, "-")
		cmd.Stdin = strings.NewReader(s.program)
		output, err := cmd.Output()
		if s.differs != "" {
			require.NotEqual(t, s.output, string(output), "%s: no difference any more", s.title)
			return
		}
		require.NoError(t, err, s.title)
		require.Equal(t, s.output, string(output), s.title)
	})
}

// TestDocumentedDifferences: docs/lua.md has a row for each difference that a statement is about.
func TestDocumentedDifferences(t *testing.T) {
	text, err := os.ReadFile("../docs/lua.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "## Differences from Lua 5.1\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(section, -1) {
		rows = append(rows, row[1])
	}
	for _, s := range manual(t) {
		if s.differs == "" {
			continue
		}
		found := false
		for _, row := range rows {
			found = found || strings.Contains(row, s.differs)
		}
		require.True(t, found, "docs/lua.md has no row with %q (%s)", s.differs, s.title)
	}
}
