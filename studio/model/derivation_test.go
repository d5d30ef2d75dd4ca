package model_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/studio/model"
)

// converted returns a manifest as a script, as ccm convert does.
func converted(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "site.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	m := &site.Messages{W: terminal.NewWriter(io.Discard)}
	p := &site.Process{Clock: host.RealClock{}, Messages: m, Files: &site.Files{Messages: m, AllowInsecure: true}}
	loaded, err := p.Load(t.Context(), name, nil, &site.Options{Whole: true, Root: "/", Data: site.DataOptions{None: true}})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, loaded.Manifest.Convert(&out))
	return out.String()
}

// derivedTypes are the types that ship with ccm.
func derivedTypes(t *testing.T) model.Types {
	t.Helper()
	reg, err := site.NewRegistry(&site.TemplateEnv{})
	require.NoError(t, err)
	out := make(model.Types)
	for _, name := range reg.TypeNames() {
		f := reg.Type(name).Schema().Name()
		out[name] = model.Type{NameProperties: append([]string{f.Name}, f.Aliases...)}
	}
	return out
}

const manifest = `# the site
data: {port: 8080, on: true}
ccm:
  resources:
    - package:
        - zsh: {ensure: present}   # the shell
        - tar: {ensure: present}
        - vim:
    - file:
        - defaults: {owner: root, group: root, mode: 0644}
        # the message
        - /etc/motd:
            content: |
              Welcome
              to us
        - /etc/port: {content: "${ Data.port }", mode: "0600"}
        - /etc/hash: {content: "${ upper('x') }"}
        - /etc/only: {content: x, control: {if: Data.on}}
    - exec:
        - go:
            command: /bin/true
            environment: [B=2, "A=${ Data.port }"]
            returns: [0, 1]
            subscribe: [file#/etc/motd]
`

// typed applies replacements in the derived text of the manifest.
func typed(t *testing.T, text string, replace ...string) (*model.Model, []model.Mark) {
	t.Helper()
	base := converted(t, text)
	now := base
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, now, replace[i])
		now = strings.Replace(now, replace[i], replace[i+1], 1)
	}
	m, err := model.Read("site.yaml", text, derivedTypes(t))
	require.NoError(t, err)
	out, splices, marks, err := m.ApplyDerived(base, now)
	require.NoError(t, err, now)
	after, err := splice.Apply(text, splices)
	require.NoError(t, err)
	require.Equal(t, out.Text, after)
	if len(marks) == 0 {
		require.Equal(t, meaningOf(t, now), meaningOf(t, converted(t, out.Text)), "the text that follows from the file is what was typed")
	}
	return out, marks
}

// meaningOf returns the declarations of a derived text in order, without its layout.
func meaningOf(t *testing.T, text string) (out []string) {
	m, err := model.Read("x.lua", text, derivedTypes(t))
	require.NoError(t, err)
	for _, r := range m.Resources {
		names := r.Names
		if names == nil {
			names = []string{r.Name}
		}
		for _, name := range names {
			props := make(map[string]any)
			for _, p := range r.Props {
				if props[p.Name] = p.Value; !p.Literal {
					props[p.Name] = p.Text
				}
			}
			out = append(out, fmt.Sprint(r.Type, name, props))
		}
	}
	return out
}

func TestApplyDerivedToManifest(t *testing.T) {
	for _, c := range []struct {
		name     string
		typed    []string // pairs of old and new text in the derived text
		old, new string   // the expected replacement in the manifest
	}{
		{"nothing", nil, "# the site", "# the site"},
		{"layout", []string{`package "vim"`, "package {\n  \"vim\"\n}"}, "# the site", "# the site"},
		{"a value of two that share a call", []string{`{ "zsh", "tar", ensure = "present" }`, `{ "zsh", "tar", ensure = "latest" }`},
			"zsh: {ensure: present}   # the shell\n        - tar: {ensure: present}", "zsh: {ensure: latest}   # the shell\n        - tar: {ensure: latest}"},
		{"a value from defaults", []string{`owner = "root"`, `owner = "web"`}, "to us\n", "to us\n            owner: web\n"},
		{"lines", []string{"to us\n", "to them\nand us\n"}, "to us\n", "to them\n              and us\n"},
		{"a new property", []string{`command = "/bin/true"`, `command = "/bin/true", cwd = "/tmp"`}, "[file#/etc/motd]\n", "[file#/etc/motd]\n            cwd: /tmp\n"},
		{"a list", []string{`returns = { 0, 1 }`, `returns = { 0, 1, 2 }`}, "[0, 1]", "[0, 1, 2]"},
		{"an expression becomes a value", []string{`content = tostring(data.port)`, `content = "80"`}, `"${ Data.port }", mode`, `"80", mode`},
		{"a property that goes", []string{`  subscribe = { "file#/etc/motd" },`, ``}, "            subscribe: [file#/etc/motd]\n", ""},
		{"a new resource", []string{`package "vim"`, "package \"vim\"\nexec { \"new\", command = \"ls\" }"},
			"        - vim:\n", "        - vim:\n    - exec:\n        - new:\n            command: ls\n"},
		{"one that goes", []string{`package "vim"`, ""}, "        - vim:\n", ""},
		{"one of two that goes", []string{`{ "zsh", "tar",`, `{ "zsh",`}, "        - tar: {ensure: present}\n", ""},
		{"another name", []string{`package "vim"`, `package "emacs"`}, "vim:", "emacs:"},
		{"another order", []string{`package { "zsh", "tar", ensure = "present" }` + "\n" + `package "vim"`, `package "vim"` + "\n" + `package { "zsh", "tar", ensure = "present" }`},
			"        - zsh: {ensure: present}   # the shell\n        - tar: {ensure: present}\n        - vim:\n", "        - vim:\n        - zsh: {ensure: present}   # the shell\n        - tar: {ensure: present}\n"},
	} {
		out, marks := typed(t, manifest, c.typed...)
		require.Empty(t, marks, c.name)
		require.Equal(t, strings.Replace(manifest, c.old, c.new, 1), out.Text, c.name)
	}
}

// TestApplyDerivedMarks: changes that the manifest cannot express are marked and leave it as it is.
func TestApplyDerivedMarks(t *testing.T) {
	for _, c := range []struct {
		typed  []string
		reason string
	}{
		{[]string{`package "vim"`, `package "vim"` + "\nfor i = 1, 2 do package(\"p\" .. i) end"}, "requires a file in Lua"},
		{[]string{`ensure = "present"`, `ensure = facts.x`}, "ensure is an expression: requires a file in Lua"},
		{[]string{`package "vim"`, `local v = package "vim"`}, `a manifest cannot express "local v ="`},
		{[]string{`package "vim"`, "-- the editor\n" + `package "vim"`}, "comments are not copied"},
		{[]string{`"X",`, `"Y",`}, "the file computes content: \"${ upper('x') }\""},
		{[]string{`data.load "site.yaml"`, ``}, "represents parts of the manifest"},
		{[]string{`if data.on then`, `if not data.on then`}, "a manifest cannot express"},
		{[]string{"group = \"root\",\n", ""}, "comes from the defaults of the group"},
		{[]string{`environment = { "B=2", "A=" .. data.port }`, `environment = { "B=3", "A=" .. data.port }`}, "environment is an expression"},
	} {
		out, marks := typed(t, manifest, c.typed...)
		require.NotEmpty(t, marks, c.typed)
		var reasons []string
		for _, m := range marks {
			reasons = append(reasons, m.Reason)
		}
		require.Contains(t, strings.Join(reasons, "\n"), c.reason, c.typed)
		require.Equal(t, manifest, out.Text, c.typed)
	}
	m, err := model.Read("site.yaml", manifest, derivedTypes(t))
	require.NoError(t, err)
	_, _, _, err = m.ApplyDerived(converted(t, manifest), "package {")
	var r *model.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, 1, r.Line)
}

func TestApplyDerivedToScript(t *testing.T) {
	m, err := model.Read("site.lua", script, luaTypes())
	require.NoError(t, err)
	base, left, err := m.Manifest()
	require.NoError(t, err)
	require.Equal(t, `ccm:
  modules: [std.line]
  resources:
    - file:
        - /etc/motd:
            content: hi
            mode: "0644"
            owner: root
    - package:
        - vim:
            ensure: latest
        - zsh:
            ensure: latest
    - file:
        - /etc/issue:
            tags: [a, b]
    - line:
        - x:
            path: /etc/hosts
        - z:
            path: /etc/group
    - exec:
        - ls: {}
`, base)
	require.Len(t, left, 3) // an expression, a loop, a condition
	for _, c := range []struct{ typed, by, old, new, mark string }{
		{"content: hi", "content: ho", `"hi"`, `"ho"`, ""},
		{"owner: root", "owner: web", `mode = "0644" }`, `mode = "0644", owner = "web" }`, ""},
		{"            ensure: latest\n        - zsh", "            ensure: absent\n        - zsh", `package { "vim", "zsh", ensure = "latest" }`,
			"package { \"zsh\", ensure = \"latest\" }\npackage { \"vim\", ensure = \"absent\" }", ""},
		{"        - zsh:\n            ensure: latest\n", "", `"vim", "zsh"`, `"vim"`, ""},
		{"[a, b]", "[a, b, c]", `"b" }`, `"b", "c" }`, ""},
		{"    - exec:", "    - package:\n        - git: {ensure: latest}\n    - exec:", "local a", `package { "git", ensure = "latest" }` + "\nlocal a", ""},
		{"content: hi", "content: ${ Data.x }", "", "", "content is an expression: requires a file in YAML"},
		{"modules: [std.line]", "modules: [std.line, mine]", "", "", "is not copied"},
		{"tags: [a, b]", "tags: [a, b]\n            owner: me", "", "", "the file already has owner"},
	} {
		require.Contains(t, base, c.typed)
		out, splices, marks, err := m.ApplyDerived(base, strings.Replace(base, c.typed, c.by, 1))
		require.NoError(t, err)
		after, err := splice.Apply(script, splices)
		require.NoError(t, err)
		require.Equal(t, out.Text, after)
		require.Equal(t, strings.Replace(script, c.old, c.new, 1), out.Text)
		if c.mark == "" {
			require.Empty(t, marks)
		} else {
			require.Contains(t, marks[0].Reason, c.mark)
		}
	}
}

// TestEveryPropertyDerived: every property of all types that ship with ccm is converted from a manifest to a script,
// changed there, and converted back.
func TestEveryPropertyDerived(t *testing.T) {
	reg, err := site.NewRegistry(&site.TemplateEnv{})
	require.NoError(t, err)
	types := derivedTypes(t)
	tried := 0
	for _, name := range reg.TypeNames() {
		for _, property := range reg.Type(name).Schema().Names() {
			f := reg.Type(name).Schema().Field(property)
			if f == reg.Type(name).Schema().Name() {
				continue
			}
			for _, v := range values(f) {
				lua := fmt.Sprintf("%s { \"/x\", %s = %s }\n", name, f.Name, v.lua)
				base := fmt.Sprintf("%s \"/x\"\n", name)
				m, err := model.Read("site.yaml", fmt.Sprintf("ccm:\n  resources:\n    - %s:\n        - /x: {}\n", name), types)
				require.NoError(t, err)
				out, _, marks, err := m.ApplyDerived(base, lua)
				require.NoError(t, err)
				require.Empty(t, marks)
				require.Equal(t, v.value, out.Resources[0].Prop(f.Name).Value, "%s.%s: %s", name, f.Name, out.Text)
				other, _, marks, err := out.ApplyDerived(lua, base)
				require.NoError(t, err)
				require.Empty(t, marks)
				require.Empty(t, other.Resources[0].Props)
				tried++
			}
		}
	}
	require.Greater(t, tried, 300)
	t.Logf("%d values", tried)
}

type writtenForm struct {
	lua   string
	value any
}

// values returns test values for a property.
func values(f *schema.Field) []writtenForm {
	switch f.Kind {
	case schema.Bool:
		return []writtenForm{{"true", true}, {"false", false}}
	case schema.Int:
		return []writtenForm{{"12", int64(12)}}
	case schema.Float:
		return []writtenForm{{"1.5", 1.5}}
	case schema.List:
		return []writtenForm{{`{ "a", "b: c" }`, []any{"a", "b: c"}}, {`{ { a = 1 } }`, []any{map[string]any{"a": int64(1)}}}}
	case schema.Map:
		return []writtenForm{{`{ A = "1", ["b c"] = true }`, map[string]any{"A": "1", "b c": true}}}
	}
	return []writtenForm{{`"word"`, "word"}, {`"0644"`, "0644"}, {`"yes"`, "yes"}, {`"two\nlines\n"`, "two\nlines\n"}, {`"a: # b"`, "a: # b"}, {`" "`, " "}, {`""`, ""}}
}

// A declaration with an expression as a name is left out of the manifest of a script, wherever the name stands.
func TestManifestLeavesOutComputedNames(t *testing.T) {
	for script, reason := range map[string]string{
		`package { site.tools }`:                   "package#site.tools is omitted: the name is an expression",
		`package { "nginx", site.tools }`:          "package#nginx is omitted: one of the names is an expression",
		`package { site.tools, "nginx" }`:          "package#site.tools is omitted: one of the names is an expression",
		`file { path = site.path, mode = "0644" }`: "file#site.path is omitted: the name is an expression",
	} {
		m, err := model.Read("site.lua", script+"\n", luaTypes())
		require.NoError(t, err, script)
		text, left, err := m.Manifest()
		require.NoError(t, err, script)
		require.NotContains(t, text, "site.", script)
		require.Len(t, left, 1, script)
		require.Equal(t, reason, left[0].Reason, script)
	}
}
