package model_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/studio/model"
)

// fuzzed returns the name of the file.
func fuzzed(lua bool) string {
	if lua {
		return "site.lua"
	}
	return "site.yaml"
}

// mostFuzzed limits the texts in bytes: longer ones are slower and find nothing new.
const mostFuzzed = 1 << 12

// FuzzApply makes each edit in any text. It is refused, or the new text has the resources of the returned model, and
// the other resources are unchanged.
func FuzzApply(f *testing.F) {
	f.Add(groups, false, 0, 1, "content", "two\nlines\n")
	f.Add(groups, false, 1, 5, "exec", "x: y")
	f.Add(script, true, 0, 2, "owner", "]] \\ é")
	f.Add(script, true, 3, 0, "package", "fish")
	f.Add("ccm: {resources: [{file: [{a: &x {b: 1}}, {c: *x}]}]}\n", false, 1, 0, "b", "- z")
	f.Add("file\"a\"{b=1}file'a'{}", true, 0, 1, "b", "\r\n")
	f.Fuzz(func(t *testing.T, text string, lua bool, i, j int, name, value string) {
		m, err := model.Read(fuzzed(lua), text, types)
		if err != nil || len(text) > mostFuzzed {
			return
		}
		key := func(i int) string {
			if len(m.Resources) == 0 {
				return name
			}
			return m.Resources[int(uint(i)%uint(len(m.Resources)))].Key
		}
		one, other := key(i), key(j)
		props := []model.Prop{{Name: name, Value: value, Literal: true}}
		for _, e := range []model.Edit{
			{Op: model.Set, Resource: one, Property: name, Value: value},
			{Op: model.Set, Resource: one, Property: name, Value: []any{value, int64(i), true}},
			{Op: model.Set, Resource: one, Property: name, Expression: value},
			{Op: model.Unset, Resource: one, Property: name},
			{Op: model.Rename, Resource: one, Name: value},
			{Op: model.Add, Type: "package", Name: value, Props: props, At: other},
			{Op: model.Add, Type: name, Name: value},
			{Op: model.Remove, Resources: []string{one}},
			{Op: model.Remove, Resources: slices.Compact([]string{one, other})},
			{Op: model.Move, Resources: []string{one}, At: other},
			{Op: model.Move, Resources: []string{one}},
			{Op: model.Copy, Resources: []string{one}},
			{Op: model.Paste, Text: value, At: other},
			{Op: model.Split, Resource: one, Name: name},
			{Op: model.Set, Path: []any{name, i}, Value: value},
			{Op: model.Insert, Resource: one, Property: name, Index: j, Value: value},
			{Op: model.Order, Resource: one, Property: name, Index: i, To: j},
		} {
			out, splices, err := m.Apply(e)
			if err != nil {
				_, ok := errors.AsType[*model.Refusal](err)
				require.True(t, ok, "%+v: %v", e, err)
				continue
			}
			after, err := splice.Apply(text, splices)
			require.NoError(t, err, "%+v", e)
			require.Equal(t, out.Text, after, "%+v", e)
			again, err := model.Read(m.File, after, types)
			require.NoError(t, err, "%+v makes\n%s", e, after)
			require.Equal(t, again.Resources, out.Resources, "%+v", e)
			requireOthers(t, e, m, out)
		}
		_, _ = m.Source(one, other)
	})
}

// requireOthers fails if an edit of a property changes another resource, or if a move or a removal changes the
// properties of any resource.
func requireOthers(t *testing.T, e model.Edit, before, after *model.Model) {
	t.Helper()
	switch e.Op {
	case model.Set, model.Unset:
		if e.Resource == "" || before.Resource(e.Resource).Shared > 0 {
			return
		}
		require.Len(t, after.Resources, len(before.Resources), "%+v", e)
		for i := range before.Resources {
			if r := &before.Resources[i]; r.Key != e.Resource {
				requireProps(t, e, r, &after.Resources[i])
			} else if s, ok := e.Value.(string); ok && e.Property != "" && e.Expression == "" && e.Op == model.Set {
				p := after.Resources[i].Prop(e.Property)
				if p != nil && p.Literal {
					require.Equal(t, s, p.Value, "%+v", e)
				}
			}
		}
	case model.Move:
		require.Len(t, after.Resources, len(before.Resources), "%+v", e)
	case model.Remove:
		require.Less(t, len(after.Resources), len(before.Resources), "%+v", e)
	}
}

func requireProps(t *testing.T, e model.Edit, want, have *model.Resource) {
	t.Helper()
	require.Equal(t, want.ID, have.ID, "%+v", e)
	require.Len(t, have.Props, len(want.Props), "%+v of %s", e, want.ID)
	for i, p := range want.Props {
		require.True(t, p.Name == have.Props[i].Name && p.Literal == have.Props[i].Literal && reflect.DeepEqual(p.Value, have.Props[i].Value), "%+v changes %s of %s", e, p.Name, want.ID)
	}
}

// FuzzApplyDerived replaces the derived text by any text. The result can be read, the splices lead to it, and an
// unchanged derived text changes nothing.
func FuzzApplyDerived(f *testing.F) {
	f.Add(groups, false, script, script+"package \"git\"\n")
	f.Add(groups, false, "package { \"vim\" }\npackage { \"zsh\", ensure = \"latest\" }\n", "package { \"zsh\", ensure = \"present\" }\npackage { \"vim\" }\n")
	f.Add(script, true, groups, "ccm:\n  resources:\n    - package:\n        - vim: {ensure: absent}\n")
	f.Add(script, true, "", "ccm: {resources: [{file: [{/etc/motd: {content: \"a\\nb\"}}]}]}\n")
	f.Fuzz(func(t *testing.T, text string, lua bool, base, typed string) {
		m, err := model.Read(fuzzed(lua), text, types)
		if err != nil || len(text)+len(base)+len(typed) > mostFuzzed {
			return
		}
		try := func(base, typed string) {
			out, splices, marks, err := m.ApplyDerived(base, typed)
			if err != nil {
				_, ok := errors.AsType[*model.Refusal](err)
				require.True(t, ok, "%v", err)
				return
			}
			after, err := splice.Apply(text, splices)
			require.NoError(t, err)
			require.Equal(t, out.Text, after)
			again, err := model.Read(m.File, after, types)
			require.NoError(t, err)
			require.Equal(t, again.Resources, out.Resources)
			if base == typed {
				require.Equal(t, text, after)
				require.Empty(t, marks)
			}
		}
		try(base, typed)
		try(base, base)
		if made, _, err := m.Manifest(); err == nil {
			try(made, typed)
			try(made, made)
		}
	})
}
