package ccm

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Type is a resource type of this program, for Options.Types. [NewType] makes one.
type Type struct {
	binding resource.Binding
	err     error
}

// A Provider manages the resources of a type whose properties are the struct D. All methods are called from the
// goroutine that loads, plans or runs the site.
//
// It may have these methods besides:
//
//	Validate(want D) error                                   // mistakes that the tags of D do not exclude
//	Files(want D) []string                                   // Apply changes these files and nothing else
//	Refresh(ctx context.Context, m *Machine, want D) error   // after a change of a resource that it subscribes to
//
// Without Files, a plan does not know what Apply changes, and reports later resources as unknown where that may
// matter.
type Provider[D any] interface {
	// Status returns the properties as they are on the machine. It changes nothing.
	Status(ctx context.Context, v *View, want D) (have D, err error)
	// Apply makes the machine as want. Changes lists what differs. Status is called again
	// afterwards; if anything still differs, the resource has failed.
	Apply(ctx context.Context, m *Machine, want D, changes []Change) error
}

// NewType makes a resource type with one provider. Each property is a field of the struct D with a tag:
//
//	type Note struct {
//		Name   string  `ccm:"name,name"`
//		Ensure string  `ccm:"ensure,default=present"`
//		Text   *string `ccm:"text"`
//	}
//
// A tag has the name of the property, and options: name (it names the resource), required, secret, default=VALUE.
// Fields are of the kinds string, bool, int, int64 and float64, slices and maps of these, or pointers. A string type
// with a method Values() []string has only these values. A property that is left out is a nil pointer, which is not
// compared, or the zero value, which is.
//
// If there is a property ensure, its value absent means that there is nothing, and so does an empty Ensure in what
// Status returns. A mistake in D is an error of [Load].
func NewType[D any](name string, p Provider[D]) Type {
	f := &functions[D]{name: name, provider: p}
	b, err := f.bind()
	if err != nil {
		err = fmt.Errorf("type %s: %w", name, err)
	}
	return Type{b, err}
}

// functions makes a type of a provider.
type functions[D any] struct {
	name     string
	schema   *schema.Schema
	fields   map[string]int // the fields of D by the names of their properties
	provider Provider[D]
}

const absent = "absent"

func (f *functions[D]) bind() (b resource.Binding, err error) {
	defer func() {
		if x := recover(); x != nil { // a malformed tag
			err = fmt.Errorf("%v", x)
		}
	}()
	t := reflect.TypeFor[D]()
	if t.Kind() != reflect.Struct {
		return b, diag.Not(t.String(), "a struct")
	}
	f.schema, f.fields = schema.Of(t), make(map[string]int)
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("ccm"), ",")
		if name != "" && !field.IsExported() {
			return b, diag.Not("property "+field.Name, "exported")
		}
		f.fields[name] = i
	}
	if n := f.schema.Name(); n != nil && t.Field(f.fields[n.Name]).Type.Kind() != reflect.String {
		return b, diag.With("property "+n.Name, diag.MustBe("a string, because it names the resource"))
	}
	all := resource.Functions{
		Name: f.name, Provider: "go", Schema: f.schema,
		Decide: f.decide,
		Status: func(ctx context.Context, v *host.View, want *resource.Properties) (any, error) {
			have, err := f.provider.Status(ctx, &View{v}, f.want(want))
			return have, err
		},
		Perform: f.perform,
	}
	if v, ok := f.provider.(interface{ Validate(want D) error }); ok {
		all.Validate = func(want *resource.Properties) error { return v.Validate(f.want(want)) }
	}
	if x, ok := f.provider.(interface{ Files(want D) []string }); ok {
		all.Effects = func(want *resource.Properties, _ any) (list []overlay.PathEffect, more resource.OtherEffects, err error) {
			kind := safepath.Regular
			if want.WantedEnsure() == absent {
				kind = safepath.Missing
			}
			for _, file := range x.Files(f.want(want)) {
				list = append(list, overlay.PathEffect{Path: path.Clean(file), Kind: kind})
			}
			return list, resource.NoOtherEffects, nil
		}
	}
	if _, ok := f.provider.(refresher[D]); ok {
		all.Refresh = f.refresh
	}
	return all.Bind()
}

// A refresher is a [Provider] that acts on changes of other resources.
type refresher[D any] interface {
	Refresh(ctx context.Context, m *Machine, want D) error
}

func (f *functions[D]) want(p *resource.Properties) D { return *p.Held().(*D) }

// decide compares the properties with those that the provider found.
func (f *functions[D]) decide(want *resource.Properties, have any) (d resource.Decision) {
	found, wants := reflect.ValueOf(have), reflect.ValueOf(want.Held()).Elem()
	verb, past := "update", "updated"
	if f.schema.Field("ensure") != nil {
		is, wanted := absent, want.WantedEnsure()
		if text := textOf(found.Field(f.fields["ensure"])); text != "" {
			is = text
		}
		switch {
		case wanted == absent && is == absent:
			return d
		case wanted == absent:
			verb, past = "remove", "removed"
		case is == absent:
			verb, past = "create", "created"
		}
		if wanted != "" && wanted != is {
			d.Add("ensure", is, wanted)
		}
	}
	for i := range f.schema.Fields {
		property := &f.schema.Fields[i]
		at := f.fields[property.Name]
		w, h := wants.Field(at), found.Field(at)
		if verb == "remove" || property.IsName || property.Name == "ensure" || w.Kind() == reflect.Pointer && w.IsNil() {
			continue
		}
		switch {
		case reflect.DeepEqual(w.Interface(), h.Interface()) || w.Kind() != reflect.Pointer && w.IsZero() && h.IsZero():
		case property.Secret:
			d.Add(property.Name, "(secret)", "(another secret)")
		case verb == "create":
			d.Add(property.Name, "", textOf(w))
		default:
			d.Add(property.Name, textOf(h), textOf(w))
		}
	}
	if len(d.Diff) > 0 {
		d.AddAction(verb, past+" the "+strings.ReplaceAll(f.name, "_", " "))
	}
	return d
}

// textOf returns a value as text, "" for a nil pointer.
func textOf(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	return fmt.Sprint(v.Interface())
}

const refresh = "refresh"

// refresh adds the refresh to a decision. What is created or removed needs none.
func (f *functions[D]) refresh(want *resource.Properties, _ any, d resource.Decision) resource.Decision {
	created := slices.ContainsFunc(d.Actions, func(a resource.Action) bool { return a.Verb != "update" })
	if !created && want.WantedEnsure() != absent {
		d.AddAction(refresh, "refreshed the "+strings.ReplaceAll(f.name, "_", " "))
	}
	return d
}

func (f *functions[D]) perform(ctx context.Context, h *host.Host, want *resource.Properties, a resource.Action) error {
	m, spec := &Machine{View{&h.View}, h}, f.want(want)
	if a.Verb == refresh {
		return f.provider.(refresher[D]).Refresh(ctx, m, spec)
	}
	have, err := f.provider.Status(ctx, &m.View, spec)
	if err != nil {
		return err
	}
	var changes []Change
	for _, x := range f.decide(want, have).Diff {
		changes = append(changes, Change(x))
	}
	if len(changes) == 0 { // somebody else has changed it meanwhile
		return nil
	}
	return f.provider.Apply(ctx, m, spec, changes)
}

// A View looks at the machine. Paths are absolute, below Options.Root.
type View struct{ view *host.View }

// ReadFile returns the content of a file. If there is none, the error is fs.ErrNotExist.
func (v *View) ReadFile(file string) ([]byte, error) { return v.view.ReadFile(file) }

// Exists reports whether there is a file, directory or link at the path.
func (v *View) Exists(file string) (bool, error) { return v.view.Exists(file) }

// Query runs a command that changes nothing, and returns its standard output. A command that does not exit with 0 is
// an error. Options.Root is the root of the command, which needs Linux; elsewhere it must be /.
func (v *View) Query(ctx context.Context, argv ...string) (string, error) {
	return output(argv, func(c host.Cmd) (host.Result, error) { return v.view.Query(ctx, c) })
}

// A Machine is a [View] that can change the machine. All changes are recorded, so that ccm undo can take those of
// files back.
type Machine struct {
	View
	host *host.Host
}

// WriteFile replaces the content of a file in one step, or creates it for the user of this process.
func (m *Machine) WriteFile(file string, content []byte, mode fs.FileMode) error {
	attr := host.NewAttr(&m.host.View, file, safepath.Regular)
	attr.Mode = uint32(mode.Perm())
	return m.host.WriteFile(file, bytes.NewReader(content), attr)
}

// MakeDirectory creates a directory, and those above it, for the user of this process. An existing one stays as it
// is.
func (m *Machine) MakeDirectory(dir string) error {
	if ok, err := m.view.IsDirectory(dir); ok || err != nil {
		return err
	}
	return m.host.MakeDirectory(dir, host.NewAttr(&m.host.View, dir, safepath.Directory))
}

// Remove removes a file, a link or an empty directory.
func (m *Machine) Remove(file string) error { return m.host.Remove(file) }

// Run runs a command that changes the machine, and returns its standard output. A command that does not exit with 0
// is an error. Options.Root is the root of the command, as in [View.Query].
func (m *Machine) Run(ctx context.Context, argv ...string) (string, error) {
	return output(argv, func(c host.Cmd) (host.Result, error) { return m.host.Run(ctx, c) })
}

func output(argv []string, run func(host.Cmd) (host.Result, error)) (string, error) {
	if len(argv) == 0 {
		return "", diag.None("command was given")
	}
	c := host.Cmd{Argv: argv}
	res, err := run(c)
	if err == nil {
		err = res.Err(c)
	}
	return string(res.Stdout), err
}
