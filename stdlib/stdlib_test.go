package stdlib_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/stdlib"
)

// TestEveryTypeIsDocumented: each type is short, and has a spec, a doc and docs of its properties; docs/types.md
// names the modules that are not types.
func TestEveryTypeIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/types.md")
	require.NoError(t, err)
	specs, err := filepath.Glob("spec/*_spec.lua")
	require.NoError(t, err)
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "std/"), ".lua")
		reg, _, mistakes := evaluate(t, `require "std.`+name+`"`)
		require.Empty(t, mistakes)
		text, err := fs.ReadFile(stdlib.Library, file)
		require.NoError(t, err)
		require.LessOrEqual(t, strings.Count(string(text), "\n"), 120, "%s is to be read as an example", file)
		typ := reg.Type(name)
		if typ == nil {
			require.Contains(t, string(page), "`std."+name+"`", "a module that is no type")
			continue
		}
		require.NotEmpty(t, typ.Schema().Doc, name)
		for _, f := range typ.Schema().Fields {
			require.NotEmpty(t, f.Doc, "%s.%s", name, f.Name)
		}
		require.Contains(t, specs, "spec/"+name+"_spec.lua")
		require.Regexp(t, `\A(-- .*\n)+--\n--   std\.`+name+` `, string(text), "%s begins with an example", file)
	}
}

// exampleOf returns the example in the first comment of a module, "" if there is none.
func exampleOf(t *testing.T, file string) string {
	t.Helper()
	text, err := fs.ReadFile(stdlib.Library, file)
	require.NoError(t, err)
	head, _, _ := strings.Cut(string(text), "\n\n")
	var example []string
	for line := range strings.Lines(head) {
		if code, ok := strings.CutPrefix(line, "--   "); ok {
			example = append(example, strings.TrimSuffix(code, "\n"))
		} else if len(example) > 0 {
			break
		}
	}
	if len(example) == 0 || !strings.HasPrefix(example[0], "std.") {
		require.NotContains(t, string(text), "return ccm.type", file+": its example begins with std.")
		return ""
	}
	// The files of the site and facts do not exist in this test.
	return strings.NewReplacer(`fs.read "files/app.service"`, `"x"`, `fs.read "files/example.asc"`, `"x"`, "facts.os.codename", `"x"`,
		`fs.read "files/alice.pub"`, `"`+sshKey+`"`, `fs.read "files/git.pub"`, `"`+sshKey+`"`, "ssh-ed25519 AAAA...", sshKey).Replace(strings.Join(example, "\n"))
}

// TestExamplesOfTheHeads evaluates the examples in the first comments of all types.
func TestExamplesOfTheHeads(t *testing.T) {
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	require.NoError(t, err)
	for _, file := range files {
		if code := exampleOf(t, file); code != "" {
			_, list, mistakes := evaluate(t, code)
			require.Empty(t, mistakes, file)
			require.NotEmpty(t, list, file)
		}
	}
}

// TestTypesSayWhatTheyLeave: each type that acts says what it leaves, so that a plan knows what stays as it is. The suites
// compare that with what is changed.
func TestTypesSayWhatTheyLeave(t *testing.T) {
	files, err := filepath.Glob("std/*.lua")
	require.NoError(t, err)
	types := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if _, body, ok := strings.Cut(string(text), "ccm.type {"); ok && strings.Contains(body, "perform = ") {
			types++
			require.Regexp(t, `(?m)^ +leaves = `, body, file)
		}
	}
	require.Greater(t, types, 20)
}
