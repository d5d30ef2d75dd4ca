package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/studio/model"
)

const groups = `# the site
data: {port: 80}
ccm:
  resources:
    # files of the message
    - file:
        - defaults: {owner: root, mode: 0644}   # for all
        # the message
        - /etc/motd:
            content: "hi"   # short
        - /etc/issue: {mode: "0600", tags: [a, b]}
        - "/etc/${ Data.port }":
            content: |
              port = {{ Data.port }}
    - package:
        - vim:
        - zsh: {ensure: latest}
    - exec:
        command: echo a
        cwd: /tmp
    - file:
        - /etc/app.conf: {content: x}
`

var types = model.Types{"exec": {NameProperties: []string{"command", "name"}}, "file": {NameProperties: []string{"name", "path"}}, "package": {NameProperties: []string{"name"}}}

func read(t *testing.T, file, text string) *model.Model {
	t.Helper()
	m, err := model.Read(file, text, types)
	require.NoError(t, err)
	return m
}

// apply makes an edit, and checks that the splices lead to the new text.
func apply(t *testing.T, m *model.Model, e model.Edit) *model.Model {
	t.Helper()
	out, splices, err := m.Apply(e)
	require.NoError(t, err, "%+v of\n%s", e, m.Text)
	after, err := splice.Apply(m.Text, splices)
	require.NoError(t, err)
	require.Equal(t, out.Text, after)
	again := read(t, m.File, after)
	require.Equal(t, again.Resources, out.Resources)
	return out
}

func keys(m *model.Model) []string {
	var out []string
	for _, r := range m.Resources {
		out = append(out, r.Key)
	}
	return out
}

func TestReadYAML(t *testing.T) {
	m := read(t, "site.yaml", groups)
	require.Equal(t, []string{"file#/etc/motd", "file#/etc/issue", "file#/etc/${ Data.port }", "package#vim", "package#zsh", "exec#echo a", "file#/etc/app.conf"}, keys(m))
	motd := m.Resources[0]
	require.Equal(t, []any{"ccm", "resources", 0, "file", 1, "/etc/motd"}, motd.Path)
	require.Equal(t, 9, motd.Line)
	require.Equal(t, 11, motd.Column)
	require.Equal(t, model.Literal, motd.Form)
	require.Equal(t, "hi", motd.Prop("content").Value)
	require.Equal(t, `"hi"`, motd.Prop("content").Text)
	require.Equal(t, []string{"owner", "mode"}, []string{motd.Defaults[0].Name, motd.Defaults[1].Name})
	require.Equal(t, "0644", motd.Defaults[1].Value)
	issue := m.Resources[1]
	require.Equal(t, []any{"a", "b"}, issue.Prop("tags").Value)
	require.Len(t, issue.Defaults, 1)
	port := m.Resources[2]
	require.Equal(t, model.Partly, port.Form)
	require.Equal(t, "port = {{ Data.port }}\n", port.Prop("content").Value)
	run := m.Resources[5]
	require.Equal(t, "echo a", run.Name)
	require.Equal(t, []any{"ccm", "resources", 2, "exec"}, run.Path)
	require.Nil(t, run.Prop("command"))
	require.Equal(t, "/tmp", run.Prop("cwd").Value)
}

func TestReadYAMLForms(t *testing.T) {
	m := read(t, "site.yaml", `x: &x {owner: root}
ccm:
  resources:
    - file:
        - /a: *x
        - /b: &b {<<: *x, mode: "1"}
        - /c: {tags: &t [1], owner: *t}
        - /d: *b
        - /a: {}
        - [no, name]
        - {two: {}, names: {}}
        - /e: 12
    - oops
`)
	require.Equal(t, []string{"file#/a", "file#/b", "file#/c", "file#/d", "file#/a~2", "file#/e"}, keys(m))
	for i, want := range []model.Form{model.None, model.Partly, model.Partly, model.None, model.Literal, model.None} {
		require.Equal(t, want, m.Resources[i].Form, m.Resources[i].Key)
		require.Equal(t, want == model.Literal, m.Resources[i].Reason == "")
	}
	require.Equal(t, 1, m.Resources[1].Shared) // /d changes too
	_, _, err := m.Apply(model.Edit{Op: model.Set, Resource: "file#/a", Property: "owner", Value: "x"})
	require.ErrorIs(t, err, model.ErrShared)
	var r *model.Refusal
	require.True(t, errors.As(err, &r))
	require.Equal(t, 1, r.Line) // where it stands
	own := apply(t, m, model.Edit{Op: model.Split, Resource: "file#/a"})
	require.Equal(t, "root", own.Resources[0].Prop("owner").Value)
	own = apply(t, own, model.Edit{Op: model.Set, Resource: "file#/a", Property: "owner", Value: "x"})
	require.Contains(t, own.Text, "- /a: {owner: x}\n")
	require.Contains(t, own.Text, "x: &x {owner: root}\n")
}

func TestApplyYAML(t *testing.T) {
	for _, c := range []struct {
		e        model.Edit
		old, new string
	}{
		{model.Edit{Op: model.Set, Resource: "file#/etc/motd", Property: "content", Value: "ho"}, `"hi"`, `"ho"`},
		{model.Edit{Op: model.Set, Resource: "file#/etc/motd", Property: "content", Expression: "${ Data.port }"}, `"hi"`, `"${ Data.port }"`},
		{model.Edit{Op: model.Set, Resource: "package#vim", Property: "ensure", Value: "latest"}, "vim:\n", "vim:\n            ensure: latest\n"},
		{model.Edit{Op: model.Set, Resource: "file#/etc/issue", Path: []any{"tags", 1}, Value: "c"}, "[a, b]", "[a, c]"},
		{model.Edit{Op: model.Set, Path: []any{"data", "port"}, Value: int64(81)}, "port: 80", "port: 81"},
		{model.Edit{Op: model.Unset, Resource: "file#/etc/issue", Property: "tags"}, `"0600", tags: [a, b]`, `"0600"`},
		{model.Edit{Op: model.Insert, Resource: "file#/etc/issue", Property: "tags", Index: 0, Value: "x"}, "[a, b]", "[x, a, b]"},
		{model.Edit{Op: model.Order, Resource: "file#/etc/issue", Property: "tags", Index: 0, To: 1}, "[a, b]", "[b, a]"},
		{model.Edit{Op: model.Rename, Resource: "package#zsh", Name: "fish"}, "zsh:", "fish:"},
		{model.Edit{Op: model.Rename, Resource: "exec#echo a", Name: "echo b"}, "echo a", "echo b"},
		{model.Edit{Op: model.Remove, Resources: []string{"file#/etc/motd"}}, "        # the message\n        - /etc/motd:\n            content: \"hi\"   # short\n", ""},
		{model.Edit{Op: model.Remove, Resources: []string{"package#zsh", "package#vim"}}, "    - package:\n        - vim:\n        - zsh: {ensure: latest}\n", ""},
		{model.Edit{Op: model.Remove, Resources: []string{"exec#echo a"}}, "    - exec:\n        command: echo a\n        cwd: /tmp\n", ""},
		{model.Edit{Op: model.Copy, Resources: []string{"package#zsh"}}, "latest}\n", "latest}\n        - zsh-2: {ensure: latest}\n"},
		{model.Edit{Op: model.Add, Type: "package", Name: "git", At: "package#zsh"}, "        - zsh", "        - git: {}\n        - zsh"},
		{model.Edit{Op: model.Add, Type: "package", Name: "git", At: "exec#echo a", Props: []model.Prop{{Name: "ensure", Value: "latest", Literal: true}}}, "latest}\n", "latest}\n        - git:\n            ensure: latest\n"},
		{model.Edit{Op: model.Add, Type: "file", Name: "/x", Props: []model.Prop{{Name: "mode", Value: "0644", Literal: true}}}, "{content: x}\n", "{content: x}\n        - /x:\n            mode: \"0644\"\n"},
		{model.Edit{Op: model.Add, Type: "exec", Name: "ls"}, "{content: x}\n", "{content: x}\n    - exec:\n        - ls: {}\n"},
		{model.Edit{Op: model.Add, Type: "exec", Name: "ls", At: "package#zsh"}, "        - zsh", "    - exec:\n        - ls: {}\n    - package:\n        - zsh"},
		{model.Edit{Op: model.Move, Resources: []string{"package#zsh"}, At: "package#vim"}, "        - vim:\n        - zsh: {ensure: latest}\n", "        - zsh: {ensure: latest}\n        - vim:\n"},
		{model.Edit{Op: model.Move, Resources: []string{"file#/etc/app.conf"}, At: "exec#echo a"},
			"    - exec:\n        command: echo a\n        cwd: /tmp\n    - file:\n        - /etc/app.conf: {content: x}\n",
			"    - file:\n        - /etc/app.conf: {content: x}\n    - exec:\n        command: echo a\n        cwd: /tmp\n"},
		{model.Edit{Op: model.Split, Resource: "package#zsh"}, "        - zsh", "    - package:\n        - zsh"},
		{model.Edit{Op: model.Paste, Text: "file:\n  - /p:\n"}, "{content: x}\n", "{content: x}\n    - file:\n        - /p:\n"},
	} {
		out := apply(t, read(t, "site.yaml", groups), c.e)
		require.Equal(t, strings.Replace(groups, c.old, c.new, 1), out.Text, "%+v", c.e)
	}
}

// TestMoveOutOfGroup: a resource that leaves its group takes the properties from the group's defaults along.
func TestMoveOutOfGroup(t *testing.T) {
	m := apply(t, read(t, "site.yaml", groups), model.Edit{Op: model.Move, Resources: []string{"file#/etc/motd"}, At: "exec#echo a"})
	require.Contains(t, m.Text, `    - file:
        - defaults: {owner: root, mode: 0644}   # for all
        # the message
        - /etc/motd:
            content: "hi"   # short
    - exec:`)
}

func TestApplyYAMLToNothing(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "ccm:\n  resources:\n    - package:\n        - vim: {}\n",
		"# mine\n":                      "# mine\nccm:\n  resources:\n    - package:\n        - vim: {}\n",
		"ccm:\n  resources: []\n":       "ccm:\n  resources:\n    - package:\n        - vim: {}\n",
		"ccm:\n  resources:\n":          "ccm:\n  resources:\n    - package:\n        - vim: {}\n",
		"ccm: {fail_on_error: true}\n":  "ccm: {fail_on_error: true, resources: [{package: [{vim: {}}]}]}\n",
		"data: {}\nccm:\n  modules: []": "data: {}\nccm:\n  modules: []\n  resources:\n    - package:\n        - vim: {}",
	} {
		m := apply(t, read(t, "site.yaml", text), model.Edit{Op: model.Add, Type: "package", Name: "vim"})
		require.Equal(t, want, m.Text)
		require.Equal(t, []string{"package#vim"}, keys(m))
		m = apply(t, m, model.Edit{Op: model.Remove, Resources: []string{"package#vim"}})
		require.Empty(t, m.Resources)
	}
	m := apply(t, read(t, "site.yaml", ""), model.Edit{Op: model.Paste, Text: groups})
	require.Len(t, m.Resources, 7)
}

func TestSourceYAML(t *testing.T) {
	m := read(t, "site.yaml", groups)
	text, err := m.Source("file#/etc/motd", "exec#echo a")
	require.NoError(t, err)
	require.Equal(t, `- file:
    - defaults: {owner: root, mode: 0644}   # for all
    # the message
    - /etc/motd:
        content: "hi"   # short
- exec:
    command: echo a
    cwd: /tmp
`, text)
	out := apply(t, m, model.Edit{Op: model.Paste, Text: text, At: "package#zsh"})
	require.Equal(t, []string{"package#vim", "file#/etc/motd~2", "exec#echo a", "package#zsh"}, keys(out)[3:7])
}

// meaning returns a resource with its defaults, as text.
func meaning(r model.Resource) string {
	props := map[string]any{}
	for _, p := range slices.Concat(r.Defaults, r.Props) {
		props[p.Name] = p.Value
	}
	return fmt.Sprint(r.ID, props)
}

// TestMovesYAML: after random moves the order is right, each resource has its old properties, and all comments are
// there.
func TestMovesYAML(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	refused := 0
	for range 100 {
		m := read(t, "site.yaml", groups)
		for range 4 {
			var moved []string
			rest := slices.Clone(keys(m))
			for range 1 + random.IntN(2) {
				i := random.IntN(len(rest))
				moved = append(moved, rest[i])
				rest = slices.Delete(rest, i, i+1)
			}
			slices.SortFunc(moved, func(a, b string) int { return slices.Index(keys(m), a) - slices.Index(keys(m), b) })
			at := random.IntN(len(rest) + 1)
			want := slices.Insert(slices.Clone(rest), at, moved...)
			before := ""
			if at < len(rest) {
				before = rest[at]
			}
			next, _, err := m.Apply(model.Edit{Op: model.Move, Resources: moved, At: before})
			if errors.Is(err, model.ErrShape) {
				refused++
				t.Logf("refused: %v before %q of\n%s", moved, before, m.Text)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, keys(next), "%v before %q of\n%s\n%s", moved, before, m.Text, next.Text)
			for _, r := range m.Resources {
				require.Equal(t, meaning(r), meaning(*next.Resource(r.Key)))
			}
			for _, comment := range []string{"# the site", "# for all", "# the message", "# short"} {
				require.Contains(t, next.Text, comment)
			}
			m = next
		}
	}
	require.Zero(t, refused)
}
