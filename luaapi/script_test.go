package luaapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// A file of testdata has several scripts, separated by lines of --- . Expected results are comments in their lines:
//
//	code  --> message             a mistake in this line, with its full message
//	code  --> 7: message          a mistake in this column
//	code  --= file#/a file#/b     the resources that this line declares, in order
//	code  --: text                the output of this line
//
// A line may have several expectations. A script without any must succeed.
var (
	expectation = regexp.MustCompile(`--[>=:]( |$)`)
	column      = regexp.MustCompile(`^(\d+): `)
)

// A part is a script with its expected results.
type part struct {
	text     string
	mistakes []string // line:column: message, or line: message
	declared []string // line: IDs
	printed  string
}

// parts splits a file of testdata. Lines keep their numbers.
func parts(t *testing.T, file string) []part {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var out []part
	p := part{}
	flush := func(lines int) {
		out = append(out, p)
		p = part{text: strings.Repeat("\n", lines)}
	}
	for n, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if line == "---" {
			flush(n + 1)
			continue
		}
		p.text += line + "\n"
		marks := expectation.FindAllStringIndex(line, -1)
		for i, m := range marks {
			end := len(line)
			if i+1 < len(marks) {
				end = marks[i+1][0]
			}
			p.expect(n+1, line[m[0]:m[1]], strings.TrimSpace(line[m[1]:end]))
		}
	}
	flush(0)
	return out
}

func (p *part) expect(line int, mark, text string) {
	switch strings.TrimSpace(mark) {
	case "-->":
		if c := column.FindStringSubmatch(text); c != nil {
			p.mistakes = append(p.mistakes, fmt.Sprintf("%d:%s: %s", line, c[1], text[len(c[0]):]))
			return
		}
		p.mistakes = append(p.mistakes, fmt.Sprintf("%d: %s", line, text))
	case "--=":
		p.declared = append(p.declared, fmt.Sprintf("%d: %s", line, text))
	case "--:":
		p.printed += text + "\n"
	}
}

// testFacts are the facts of the scripts.
var testFacts = map[string]any{
	"os": map[string]any{
		"family": "debian", "name": "bookworm", "variant": nil,
		"release": map[string]any{"major": int64(12), "full": "12.4"},
	},
	"net": map[string]any{
		"dns":        []any{"192.0.2.1", "192.0.2.2"},
		"interfaces": []any{map[string]any{"name": "lo", "up": true}, map[string]any{"name": "eth0", "up": false}},
	},
	"load": 0.25,
}

// options returns the options of the scripts.
func options(t testing.TB, b *catalog.Builder, print *bytes.Buffer) luaapi.Options {
	return luaapi.Options{
		Registry: registry(t), Builder: b, Facts: facts.Static(testFacts), Args: []string{"one", "two"},
		Noop: true, Version: "1.2.3", Print: print,
		Env: func(name string) (string, bool) {
			v, ok := map[string]string{"HOME": "/home/me", "EMPTY": ""}[name]
			return v, ok
		},
	}
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		for i, p := range parts(t, file) {
			t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(file), ".lua"), i), func(t *testing.T) {
				runPart(t, file, p)
			})
		}
	}
}

func runPart(t *testing.T, file string, p part) {
	var b catalog.Builder
	var print bytes.Buffer
	in := luaapi.New(options(t, &b, &print))
	defer in.Close()
	err := in.Run(context.Background(), file, p.text)

	var mistakes []string
	list, _ := errors.AsType[diag.List](err)
	for i, e := range list {
		require.Equal(t, file, e.Pos.File, e.Error())
		at := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Col)
		if i < len(p.mistakes) && !strings.HasPrefix(p.mistakes[i], at+": ") {
			at = fmt.Sprint(e.Pos.Line)
		}
		mistakes = append(mistakes, at+": "+e.Message())
	}
	require.Equal(t, p.mistakes, mistakes)
	require.Equal(t, p.printed, print.String())
	if p.declared == nil {
		return
	}
	var declared []string
	last := 0
	for _, r := range b.Resources() {
		if r.Pos.Line == last {
			declared[len(declared)-1] += " " + r.ID.String()
			continue
		}
		last = r.Pos.Line
		declared = append(declared, fmt.Sprintf("%d: %s", last, r.ID))
	}
	require.Equal(t, p.declared, declared)
}
