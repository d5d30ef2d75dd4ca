package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/docs/markdown"
	"github.com/luaccm/ccm/docs/reference"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/stdlib"
)

//go:generate env UPDATE=1 go test -count=1 -run ^TestReferencePages$ .

const referenceDir = "../../docs/reference"

// TestReferencePages: the pages of the reference match the declarations, and the plans of the examples.
func TestReferencePages(t *testing.T) {
	long(t)
	isolate(t)
	reg, err := site.Documented()
	require.NoError(t, err)
	site.AddShipped(reg)
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir, err := filepath.Abs(referenceDir)
	require.NoError(t, err)
	var out bytes.Buffer
	e := newEnv(strings.NewReader(""), &out, &out, hosttest.Clock{})
	s := reference.Source{
		Registry: reg, Commands: newRootCommand(e), Repository: repository,
		Modules: map[string]string{}, Examples: map[string]reference.Example{},
	}
	s.Commands.InitDefaultHelpCmd()
	s.Commands.InitDefaultCompletionCmd()
	for _, cmd := range s.Commands.Commands() {
		require.NoError(t, cli.DescribeTypes(cmd, reg))
	}
	programs := t.TempDir()
	t.Setenv("PATH", programs)                    // pages must not depend on the programs of this machine
	for _, name := range []string{"gem", "npm"} { // with no package installed
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"), 0o755))
	}
	for _, typ := range reg.Types() {
		if text, err := fs.ReadFile(stdlib.Library, "std/"+typ.Name+".lua"); err == nil {
			s.Modules[typ.Name] = string(text)
		}
		archive, err := os.ReadFile(filepath.Join(dir, "examples", typ.Name+".txtar"))
		if err != nil && s.Modules[typ.Name] == "" {
			require.NoError(t, err)
		}
		t.Chdir(t.TempDir())
		e.Files.SetContext(t.Context())
		example, err := reference.ReadExample(t.Context(), e.Process, archive, s.Modules[typ.Name])
		require.NoError(t, err, typ.Name)
		if os.Geteuid() != 0 { // a plan says what needs root
			example.Plan = planOn(t, filepath.Join(dir, "types", typ.Name+".md"))
		}
		example.Plan = strings.ReplaceAll(example.Plan, programs, "/usr/bin")
		require.NotContains(t, example.Plan, "failed", typ.Name)
		if !slices.Contains(needSystem, typ.Name) {
			runExample(t, e.Process, typ.Name, example)
		}
		s.Examples[typ.Name] = example
	}
	pages, err := reference.Pages(s)
	require.NoError(t, err)
	if os.Getenv("UPDATE") != "" {
		for name, text := range pages {
			file := filepath.Join(dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	have := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); strings.HasSuffix(name, ".md") {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			have[filepath.ToSlash(name)] = string(text)
		}
		return err
	}))
	for name, text := range pages {
		require.Equal(t, text, have[name], "docs/reference/%s: run go generate ./cmd/ccm", name)
		delete(have, name)
	}
	require.Empty(t, have, "pages of docs/reference that nothing writes any more")
}

// needSystem are types that use tools of the system that the imagined machine cannot simulate. TestReferenceExamples
// (test/integration) runs their examples, except those that need a kernel with SELinux or a package registry.
var needSystem = []string{
	"alternative", "directory", "git", "group", "language_package", "selinux_boolean", "selinux_context", "timer", "unit", "user", "wait_for",
}

// runExample runs the example of a type on an imagined machine; a second run must have nothing to do.
func runExample(t *testing.T, p *site.Process, typ string, example reference.Example) {
	c, err := site.LoadSpec(t.Context(), p, t.TempDir(), "site.lua", example.Fixture)
	require.NoError(t, err, typ)
	out, err := c.Converge(t.Context())
	require.NoError(t, err, typ)
	for _, ev := range out.Events {
		require.NotContains(t, []string{"failed", "skipped"}, ev.Outcome, "%s: %s", ev.ID, ev.Reason)
	}
	for _, again := range out.SecondRun {
		require.Contains(t, []string{"exec", "apply"}, typ, "%s: a second run changes it: %s", again.ID, again.Reason)
	}
}

// planOn returns the plan on the page of a type.
func planOn(t *testing.T, page string) string {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, b := range markdown.Parse(string(text)).Blocks() {
		if plan, ok := strings.CutPrefix(b.Code, "$ ccm plan site.lua\n"); ok {
			return plan
		}
	}
	return ""
}
