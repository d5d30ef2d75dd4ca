package resource_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

func note(t *testing.T, change func(*resource.Functions)) (resource.Binding, error) {
	t.Helper()
	s, err := schema.Make("A note.", []schema.Property{
		{Name: "name", Type: reflect.TypeFor[string](), IsName: true},
		{Name: "ensure", Type: reflect.TypeFor[string](), Values: []string{"present", "absent"}, Default: "present"},
		{Name: "text", Type: reflect.TypeFor[string]()},
	})
	require.NoError(t, err)
	f := resource.Functions{
		Name: "note", Provider: "test", Schema: s,
		Validate: func(want *resource.Properties) error {
			if want.Text("text") == "bad" {
				return resource.PropertyErrorf("text", "expected something good")
			}
			return nil
		},
		ResolvePaths: func(want *resource.Properties, dir string) *resource.Properties {
			located, err := want.With("text", schema.StringValue(dir+"/"+want.Text("text")))
			require.NoError(t, err)
			return located
		},
		Status: func(_ context.Context, _ *host.View, want *resource.Properties) (any, error) {
			return "state of " + want.Name(), nil
		},
		Decide: func(want *resource.Properties, have any) (d resource.Decision) {
			d.AddAction("do", "noted "+want.Name()+" in the "+have.(string))
			return d
		},
		Perform: func(context.Context, *host.Host, *resource.Properties, resource.Action) error {
			return errors.New("performed")
		},
		Edits: func(want *resource.Properties) string { return "/" + want.Name() },
	}
	if change != nil {
		change(&f)
	}
	return f.Bind()
}

func decode(t *testing.T, b resource.Binding, dir, text string) (*resource.Resource, error) {
	t.Helper()
	tab := &schema.Table{Entries: []schema.Entry{{Key: "name", Val: schema.StringValue("a")}, {Key: "text", Val: schema.StringValue(text)}}}
	return b.Type.Decode(tab, resource.Origin{Pos: diag.Pos{File: "x", Line: 1}, Dir: dir})
}

func TestFunctions(t *testing.T) {
	b, err := note(t, nil)
	require.NoError(t, err)
	r, err := decode(t, b, "/dir", "x")
	require.NoError(t, err)
	want := r.Spec.(*resource.Properties)
	require.Equal(t, "/dir/x", want.Text("text"))
	require.Equal(t, resource.ID{Type: "note", Name: "a"}, r.ID)
	require.Equal(t, "present", want.WantedEnsure())
	require.Equal(t, "/a", want.EditedFile())
	require.False(t, resource.TraitsOf(r.Spec).MayPrefetch)
	require.False(t, b.Type.Refreshable())

	state, err := b.Status(t.Context(), nil, r.Spec)
	require.NoError(t, err)
	d := b.Type.Decide(r.Spec, state, true)
	require.Equal(t, "Would have noted a in the state of a", d.Actions[0].Would())
	require.EqualError(t, b.Perform(t.Context(), nil, r.Spec, d.Actions[0]), "performed")
	require.False(t, b.HasBulkStatus())
	caveat, err := b.Predict(t.Context(), nil, r.Spec)
	require.NoError(t, err)
	require.Empty(t, caveat)
	inspected, err := b.Inspect(t.Context(), nil, r.Spec)
	require.NoError(t, err)
	require.Equal(t, state, inspected)

	same, err := decode(t, b, "/dir", "x")
	require.NoError(t, err)
	require.Equal(t, r.Spec, same.Spec)
	_, err = decode(t, b, "", "bad")
	require.EqualError(t, err, "x:1: note#a: text: expected something good")
}

func TestImportOfWhatNoDeclarationSays(t *testing.T) {
	b, err := note(t, func(f *resource.Functions) {
		f.Export = func(have any) *schema.Table {
			return &schema.Table{Entries: []schema.Entry{{Key: "ensure", Val: schema.StringValue(have.(string))}}}
		}
	})
	require.NoError(t, err)
	r, err := b.Type.Import("present", resource.Import{Name: "a"})
	require.NoError(t, err)
	require.Equal(t, "present", r.Spec.(*resource.Properties).WantedEnsure())
	_, err = b.Type.Import("half there", resource.Import{Name: "a"})
	require.EqualError(t, err, `ensure cannot be "half there"`)
}

func TestFunctionsThatAreNone(t *testing.T) {
	for want, change := range map[string]func(*resource.Functions){
		"the name of a type and of its provider is required": func(f *resource.Functions) { f.Provider = "" },
		"type note: decide, status and perform are required": func(f *resource.Functions) { f.Perform = nil },
		"type note: no property names the resource":          func(f *resource.Functions) { f.Schema, _ = schema.Make("", nil) },
		"type note: every type has a property alias": func(f *resource.Functions) {
			f.Schema, _ = schema.Make("", []schema.Property{{Name: "alias", IsName: true, Type: reflect.TypeFor[string]()}})
		},
	} {
		_, err := note(t, change)
		require.EqualError(t, err, want)
	}
}

// TestModel: a layer for an imagined machine changes the functions of a type, and no other layer.
func TestModel(t *testing.T) {
	base, err := resource.NewRegistry()
	require.NoError(t, err)
	b, err := note(t, nil)
	require.NoError(t, err)
	layer := base.WithModel(func(f *resource.Functions) {
		f.Status = func(context.Context, *host.View, *resource.Properties) (any, error) { return "model", nil }
	})
	typ, err := layer.Add(b)
	require.NoError(t, err)
	require.NotSame(t, b.Type, typ)
	r, err := decode(t, layer.Bindings(typ)[0], "", "x")
	require.NoError(t, err)
	state, err := layer.Bindings(typ)[0].Status(t.Context(), nil, r.Spec)
	require.NoError(t, err)
	require.Equal(t, "model", state)
	state, err = b.Status(t.Context(), nil, r.Spec)
	require.NoError(t, err)
	require.Equal(t, "state of a", state)
}

func TestLayers(t *testing.T) {
	base, err := resource.NewRegistry()
	require.NoError(t, err)
	b, err := note(t, func(f *resource.Functions) { f.Source = "a.lua:1" })
	require.NoError(t, err)
	_, err = base.Add(b)
	require.EqualError(t, err, "the type note cannot be defined here")

	layer := base.Layer()
	before := layer.Types()
	got, err := layer.Add(b)
	require.NoError(t, err)
	require.Same(t, b.Type, got)
	require.Empty(t, base.Types())
	require.Empty(t, before)
	require.Equal(t, []string{"note"}, layer.TypeNames())

	again, err := note(t, func(f *resource.Functions) { f.Source = "a.lua:1" })
	require.NoError(t, err)
	got, err = layer.Add(again)
	require.NoError(t, err, "another script of the run defines the same")
	require.Same(t, b.Type, got)

	other, err := note(t, func(f *resource.Functions) { f.Source = "b.lua:1" })
	require.NoError(t, err)
	_, err = layer.Add(other)
	require.EqualError(t, err, "type note already exists")
	r, err := decode(t, b, "", "x")
	require.NoError(t, err)
	got, err = layer.Replace(other)
	require.NoError(t, err)
	require.Same(t, other.Type, layer.Type("note"))
	require.Same(t, other.Type, got)
	chosen, err := layer.Select(r, nil)
	require.NoError(t, err, "what is of the old type keeps it")
	require.Same(t, b.Type, chosen.Type)

	asked := 0
	finding := base.WithFinder(func(reg *resource.Registry, name string) {
		asked++
		if name == "note" {
			require.Nil(t, reg.Type("note"), "it does not ask for itself")
			_, err := reg.Add(b)
			require.NoError(t, err)
		}
	})
	require.Nil(t, finding.Layer().Type("nope"))
	require.Same(t, b.Type, finding.Layer().Type("note"))
	require.Empty(t, finding.TypeNames())
	require.Same(t, b.Type, finding.Type("note"))
	require.Same(t, b.Type, finding.Type("note"))
	require.Equal(t, 3, asked)
}
