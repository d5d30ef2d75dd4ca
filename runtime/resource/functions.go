package resource

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/schema"
)

// Functions define a type at run time, such as one of a script, and its only provider. They
// correspond to the methods of a [Spec] and a [Provider]. Schema, Decide, Status and Perform are
// required; the others may be nil.
//
// Their specs are *[Properties]. They are called only from the goroutine of the walk: such a type
// is never prefetched.
type Functions struct {
	Name string
	// Source is the Source of the type.
	Source string
	// Provider is the name of the provider.
	Provider string
	// Commands are the commands of the provider's [Description].
	Commands []string
	// Live is set if the provider works only on a running machine; see its [Description].
	Live bool
	// Schema is made by schema.Make. A property named ensure determines whether the
	// resource is to be there at all.
	Schema *schema.Schema

	Validate func(want *Properties) error
	// ResolvePaths returns want with absolute paths, given the directory of the script or
	// manifest.
	ResolvePaths func(want *Properties, dir string) *Properties
	Decide       func(want *Properties, have any) Decision
	// Refresh extends a decision after a change to which the resource subscribes.
	Refresh func(want *Properties, have any, d Decision) Decision
	Status  func(ctx context.Context, v *host.View, want *Properties) (have any, err error)
	Perform func(ctx context.Context, h *host.Host, want *Properties, a Action) error
	// Predict returns the error with which Perform is going to fail, if a plan can know; may be
	// nil.
	Predict func(ctx context.Context, v *host.View, want *Properties) error
	// Edits returns the path of the file that Perform edits, for types whose Perform does nothing
	// else.
	Edits func(want *Properties) string
	// Part returns the part of the file, for types with Edits; see [FileEditor]. May be nil.
	Part func(want *Properties) (part, wanted string)
	// Programs returns the programs that an action cannot do without, for [Decision].Programs; may be nil.
	Programs func(want *Properties, have any, a Action) ([]host.Cmd, error)
	// Recreate returns the declarations that make a thing again that is removed; see
	// [Binding.Recreation]. May be nil.
	Recreate func(ctx context.Context, v *host.View, want *Properties, have any) ([]Declaration, error)
	// Export returns the properties of a state for an import, nil if there is nothing to import. A name among them is
	// the one that was found. It is nil if states cannot be imported.
	Export func(have any) *schema.Table
	// Effects returns the effects of Perform. Have is nil if the state is not known.
	Effects func(want *Properties, have any) (list []overlay.PathEffect, more OtherEffects, err error)
}

// OtherEffects describes effects that are not in the list of effects.
type OtherEffects uint8

// The values of OtherEffects.
const (
	NoOtherEffects OtherEffects = iota
	CommandEffects              // only commands report it (Decision.FilesComplete)
	ServiceEffects              // services start or stop (Decision.OnlyServices)
	UnknownEffects
)

// Properties are the spec of a type that is made of [Functions].
type Properties struct {
	functions *Functions
	fields    any // a pointer to the struct that the schema describes
}

var (
	_ schema.Holder  = (*Properties)(nil)
	_ EnsureReporter = (*Properties)(nil)
	_ FileEditor     = (*Properties)(nil)
	_ EffectBound    = (*Properties)(nil)
	_ WholeSetter    = (*Properties)(nil)
)

// Held implements schema.Holder.
func (p *Properties) Held() any { return p.fields }

// Table returns the properties that are set or have a default.
func (p *Properties) Table() *schema.Table { return schema.Union{p.functions.Schema}.Encode(p) }

// Name returns the name of the resource.
func (p *Properties) Name() string { return p.functions.Schema.NameOf(p) }

// Value returns the value of a property; given is false if it was left out.
func (p *Properties) Value(property string) (v schema.Value, given bool) {
	return p.functions.Schema.Value(p, property)
}

// Text returns the text of a property, "" if it was left out.
func (p *Properties) Text(property string) string { return p.functions.Schema.Text(p, property) }

// ReportedBy reports whether a command, given by the name of its program, may report what the
// actions change besides files: one that the type calls itself.
func (p *Properties) ReportedBy(program string) bool { return p.functions.Describe().Calls(program) }

// With returns a copy of p in which a property has the value v.
func (p *Properties) With(property string, v schema.Value) (*Properties, error) {
	t := p.Table()
	t.Set(property, v)
	c := p.functions.properties()
	return c, p.functions.Schema.Decode(t, c)
}

// WantedEnsure implements [EnsureReporter].
func (p *Properties) WantedEnsure() string { return p.Text("ensure") }

// EditedFile implements [FileEditor].
func (p *Properties) EditedFile() string {
	if p.functions.Edits == nil {
		return ""
	}
	return p.functions.Edits(p)
}

// EditedPart implements [FileEditor].
func (p *Properties) EditedPart() (part, wanted string) {
	if p.functions.Part == nil {
		return "", ""
	}
	return p.functions.Part(p)
}

// ConfinedTo implements [EffectBound].
func (p *Properties) ConfinedTo() (paths []string, tree bool) {
	if file := p.EditedFile(); file != "" {
		return []string{path.Clean(file)}, false
	}
	if p.functions.Effects == nil {
		return nil, false
	}
	list, more, err := p.functions.Effects(p, nil)
	if err != nil || more != NoOtherEffects {
		return nil, false
	}
	for _, x := range list {
		if x.Account != nil { // others too have their entries in the files of accounts
			return nil, false
		}
		if x.Path != "" {
			paths, tree = append(paths, x.Path), tree || x.Open
		}
	}
	return paths, tree
}

// EffectsWithoutState returns the effects that the actions may have whatever the state is. onlyCommands means that only
// commands report others.
func (p *Properties) EffectsWithoutState() (list []overlay.PathEffect, onlyCommands bool) {
	if p.functions.Effects == nil {
		return nil, false
	}
	list, more, err := p.functions.Effects(p, nil)
	return list, err == nil && more == CommandEffects
}

// SetsWhole implements [WholeSetter]: the effects have a content or the target of a link, and do not
// depend on the state.
func (p *Properties) SetsWhole(isNew bool) bool {
	if p.functions.Effects == nil {
		return false
	}
	list, _, err := p.functions.Effects(p, nil)
	return err == nil && slices.ContainsFunc(list, func(x overlay.PathEffect) bool {
		return x.Content != nil || x.Target != "" || isNew && x.Source != ""
	})
}

// decide calls Decide and adds the effects of the actions, and the programs that they call.
func (f *Functions) decide(want *Properties, have any) Decision {
	d := f.Decide(want, have)
	if d.Err != nil || len(d.Actions) == 0 {
		return d
	}
	for _, a := range d.Actions {
		if f.Programs == nil {
			break
		}
		list, err := f.Programs(want, have, a)
		if err != nil {
			d.Err = err
			return d
		}
		d.Programs = append(d.Programs, list...)
	}
	if f.Effects == nil {
		return d
	}
	list, more, err := f.Effects(want, have)
	if err != nil {
		d.Err = err
		return d
	}
	d.Effects, d.Complete, d.FilesComplete = list, more == NoOtherEffects, more == CommandEffects
	d.OnlyServices = more == ServiceEffects
	return d
}

func (f *Functions) properties() *Properties {
	return &Properties{f, reflect.New(f.Schema.GoType).Interface()}
}

// Bind returns the provider, with its type. Each call makes another type.
func (f Functions) Bind() (Binding, error) {
	switch {
	case f.Name == "" || f.Provider == "":
		return Binding{}, diag.Required("the name of a type and of its provider")
	case f.Schema == nil || f.Schema.Name() == nil:
		return Binding{}, fmt.Errorf("type %s: %w", f.Name, diag.None("property names the resource"))
	case f.Decide == nil || f.Status == nil || f.Perform == nil:
		return Binding{}, fmt.Errorf("type %s: decide, status and perform are required", f.Name)
	}
	for i := range CommonSchema().Fields {
		if own := f.Schema.Field(CommonSchema().Fields[i].Name); own != nil {
			return Binding{}, fmt.Errorf("type %s: every type has a property %s", f.Name, CommonSchema().Fields[i].Name)
		}
	}
	t := &Type{
		Name:     f.Name,
		Source:   f.Source,
		schema:   func() *schema.Schema { return f.Schema },
		union:    sync.OnceValue(func() schema.Union { return schema.Union{f.Schema, commonSchema()} }),
		new:      func() any { return f.properties() },
		validate: func(any) error { return nil },
		decide:   func(spec, state any) Decision { return (&f).decide(spec.(*Properties), state) },
		status: func(ctx context.Context, v *host.View, _, spec any) (any, error) {
			return f.Status(ctx, v, spec.(*Properties))
		},
		perform: func(ctx context.Context, h *host.Host, _, spec any, a Action) error {
			return f.Perform(ctx, h, spec.(*Properties), a)
		},
		recall:  func(context.Context, *host.View, any, any, DesiredDigest) (any, bool, error) { return nil, false, nil },
		predict: func(context.Context, *host.View, any, any) (string, error) { return "", nil },
	}
	t.inspect, t.importState = t.status, (&f).importState
	if f.Validate != nil {
		t.validate = func(spec any) error { return f.Validate(spec.(*Properties)) }
	}
	if f.ResolvePaths != nil {
		t.resolvePaths = func(spec any, dir string) any { return f.ResolvePaths(spec.(*Properties), dir) }
	}
	if f.Predict != nil {
		t.predict = func(ctx context.Context, v *host.View, _, spec any) (string, error) {
			return "", f.Predict(ctx, v, spec.(*Properties))
		}
	}
	if f.Refresh != nil {
		t.refresh = func(spec, state any, d Decision) Decision {
			n := len(d.Actions)
			if d = f.Refresh(spec.(*Properties), state, d); len(d.Actions) > n {
				d.Complete, d.FilesComplete = false, false
			}
			return d
		}
	}
	if f.Recreate != nil {
		t.recreate = func(ctx context.Context, v *host.View, _ string, spec, state any) ([]Declaration, error) {
			return f.Recreate(ctx, v, spec.(*Properties), state)
		}
	}
	suits := func(*facts.Facts, any) (int, error) { return 1, nil }
	return Binding{Name: f.Provider, Type: t, suits: suits, impl: &f, bulk: new(Bulk[any, any])}, nil
}

// Describe implements [SelfDescriber].
func (f *Functions) Describe() Description { return Description{Commands: f.Commands, Live: f.Live} }

// importState makes properties of a state.
func (f *Functions) importState(state any, im Import) (any, error) {
	if f.Export == nil {
		return nil, ErrNotImportable
	}
	t := f.Export(state)
	if t == nil {
		return nil, diag.Missing("", "")
	}
	name := f.Schema.Name().Name
	if i := slices.IndexFunc(f.Schema.Fields, func(x schema.Field) bool { return x.Name == "ensure" }); i >= 0 {
		now, ok := t.Get("ensure")
		if values := f.Schema.Fields[i].Values; ok && values != nil && !slices.Contains(values, now.S) {
			return nil, diag.SubjectCannot("ensure", "be %q", now.S)
		}
	}
	if found, ok := t.Get(name); ok && found.S != im.Name {
		return nil, diag.Expected("%s", im.Name).Found("%s", found.S)
	}
	t.Set(name, schema.StringValue(im.Name))
	p := f.properties()
	return p, f.Schema.Decode(t, p)
}
