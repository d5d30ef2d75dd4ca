package luatype_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/luatype"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// A site is a script with its resources, and a machine.
type site struct {
	t       *testing.T
	reg     *resource.Registry
	builder catalog.Builder
	in      *luaapi.Interp
	root    string
	options host.Options
	printed bytes.Buffer
}

// newSite returns a site on an empty machine. library has the modules.
func newSite(t *testing.T, library map[string]string) *site {
	t.Helper()
	return newSiteWithin(t, library, 0)
}

// newSiteWithin returns a site with a time limit for Lua.
func newSiteWithin(t *testing.T, library map[string]string, limit time.Duration) *site {
	t.Helper()
	base, err := resource.NewRegistry()
	require.NoError(t, err)
	s := &site{t: t, reg: base.Layer(), root: t.TempDir()}
	s.options = host.Options{Root: s.root, Clock: hosttest.Clock{}, Runner: command.Exec{}}
	files := fstest.MapFS{}
	for name, text := range library {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s.in = luaapi.New(luaapi.Options{
		Registry: s.reg, Builder: &s.builder, Library: files, Print: &s.printed, Extend: luatype.Extend, Timeout: limit,
	})
	t.Cleanup(s.in.Close)
	return s
}

// eval evaluates the script and returns its mistakes as they are printed.
func (s *site) eval(text string) string {
	s.t.Helper()
	err := s.in.Run(context.Background(), "site.lua", text)
	if err == nil {
		return ""
	}
	var b bytes.Buffer
	diag.Render(&b, "", err, s.in.Sources())
	return b.String()
}

// declare evaluates a script, which must be valid.
func (s *site) declare(text string) {
	s.t.Helper()
	require.Empty(s.t, s.eval(text))
}

// file writes a file of the machine.
func (s *site) file(path, text string) {
	s.t.Helper()
	require.NoError(s.t, os.MkdirAll(filepath.Dir(s.root+path), 0o755))
	require.NoError(s.t, os.WriteFile(s.root+path, []byte(text), 0o644))
}

// content returns the content of a file of the machine.
func (s *site) content(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.root + path)
	require.NoError(s.t, err)
	return string(text)
}

// converge runs or plans the declared resources and returns the report.
func (s *site) converge(plan bool) string {
	s.t.Helper()
	c, err := s.builder.Build()
	require.NoError(s.t, err)
	var out bytes.Buffer
	e := &converge.Engine{
		Registry: s.reg, Facts: facts.Static(nil), Texts: true,
		Reporters: []event.Reporter{report.Text{W: &out, Diff: report.DiffFull, Verbose: true}},
	}
	h := host.New(s.options)
	if plan {
		e.Plan(context.Background(), &h.View, c)
	} else {
		e.Run(context.Background(), h, c)
	}
	return out.String()
}

func (s *site) plan() string { s.t.Helper(); return s.converge(true) }
func (s *site) run() string  { s.t.Helper(); return s.converge(false) }

// motd is a type with all the parts that a small type has.
const motd = `
return ccm.type {
  name = "motd",
  doc = "Keeps the message of the day.",
  properties = {
    path = { type = "path", name = true, doc = "The file." },
    text = { required = true, doc = "The message." },
    mode = { type = "mode", default = "0644" },
    ensure = { enum = { "present", "absent" }, default = "present" },
  },
  status = function(want, host)
    local text = host.read(want.path)
    if not text then return { ensure = "absent" } end
    return { ensure = "present", text = text, mode = host.stat(want.path).mode }
  end,
  perform = function(action, want, have, host)
    if action == "remove" then
      host.remove(want.path)
    else
      host.write(want.path, want.text, { mode = want.mode })
    end
  end,
}
`

func TestTypeOfAScript(t *testing.T) {
	s := newSite(t, map[string]string{"std/motd.lua": motd})
	s.declare(`
local motd = require "std.motd"
local m = motd { "/etc/motd", text = "welcome", mode = "600" }
motd { "/etc/issue", text = "hi", require = m }
`)
	s.file("/etc/issue", "old")
	require.Equal(t, `+ motd#/etc/motd: Would have created the motd (text welcome, mode 0600)
~ motd#/etc/issue: Would have updated the motd (after motd#/etc/motd)
    text  old → hi
`, s.plan())
	require.NoFileExists(t, s.root+"/etc/motd")
	require.Equal(t, `+ motd#/etc/motd: Created the motd (text welcome, mode 0600)
~ motd#/etc/issue: Updated the motd
    text  old → hi
`, s.run())
	require.Equal(t, "welcome", s.content("/etc/motd"))
	require.Equal(t, "= motd#/etc/motd: up to date\n= motd#/etc/issue: up to date\n", s.run())
	require.NoError(t, os.Chmod(s.root+"/etc/motd", 0o640))
	require.Equal(t, "~ motd#/etc/motd: Updated the motd\n    mode  0640 → 0600\n= motd#/etc/issue: up to date\n", s.run())
}
