package converge_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// group stands for a resource that applies others, such as apply.
type group struct {
	Name string `ccm:"name,name"`
}

type groups struct{}

func (groups) Status(context.Context, *host.View, group) (string, error) { return "", nil }

func (group) Validate() error                                                    { return nil }
func (group) Decide(string) (d resource.Decision)                                { return d }
func (group) Perform(context.Context, *host.Host, groups, resource.Action) error { return nil }

func (group) Traits() resource.Traits {
	return resource.Traits{VerifiesItself: true, Child: func() resource.Child { return resource.Child{} }}
}

func (group) Refresh(_ string, d resource.Decision) resource.Decision {
	d.AddAction("Apply", "applied changes")
	d.Complete = true
	return d
}

var groupType = resource.Define[group, string, groups]("group")

// scoped is a catalog in which group#g applies the knobs of a scope.
func scoped(t *testing.T, scope *resource.Scope, before, applied, after []knob, subscribe bool) *catalog.Catalog {
	t.Helper()
	var b catalog.Builder
	add := func(k knob, s *resource.Scope, refs ...resource.Reference) {
		_, err := b.Add(&resource.Resource{
			Type: knobType.Type, ID: resource.ID{Type: "knob", Name: k.Name}, Spec: &k, Scope: s,
			Common: &resource.Common{Subscribe: refs}, Pos: diag.Pos{File: "x"},
		})
		require.NoError(t, err)
	}
	for _, k := range before {
		add(k, scope.Parent)
	}
	for _, k := range applied {
		add(k, scope)
	}
	_, err := b.Add(&resource.Resource{Type: groupType.Type, ID: scope.Apply, Spec: &group{Name: "g"}, Scope: scope.Parent, Common: new(resource.Common)})
	require.NoError(t, err)
	for _, k := range after {
		if subscribe {
			add(k, scope.Parent, resource.Reference(scope.Apply))
		} else {
			add(k, scope.Parent)
		}
	}
	c, err := b.Build()
	require.NoError(t, err)
	return c
}

func (w *world) runScoped(t *testing.T, c *catalog.Catalog) []string {
	t.Helper()
	reg, err := resource.NewRegistry(
		knobType.Provide("world", resource.Always[knob](1), w), groupType.Provide("groups", resource.Always[group](1), groups{}))
	require.NoError(t, err)
	tp := new(tape)
	e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{tp}}
	e.Run(t.Context(), host.New(host.Options{}), c)
	return tp.lines
}

func newScope(change func(*resource.Scope)) *resource.Scope {
	s := &resource.Scope{File: "child.yaml", Apply: resource.ID{Type: "group", Name: "g"}, Parent: &resource.Scope{File: "site.yaml"}}
	change(s)
	return s
}

func TestScopes(t *testing.T) {
	k := func(name, value string) knob { return knob{Name: name, Value: value} }
	for _, tt := range []struct {
		name                   string
		scope                  func(*resource.Scope)
		before, applied, after []knob
		subscribe              bool
		want                   []string
	}{
		{
			"what is applied has changed if any of it has", func(*resource.Scope) {},
			nil, []knob{k("a", ""), k("b", "1")}, []knob{k("z", "")}, true,
			[]string{"a stable", "b changed", "g changed by [knob#b]", "z changed by [group#g]"},
		},
		{
			"and is stable if all of it is", func(*resource.Scope) {},
			nil, []knob{k("a", "")}, []knob{k("z", "")}, true,
			[]string{"a stable", "g stable", "z stable"},
		},
		{
			"and has failed if any of it has", func(*resource.Scope) {},
			nil, []knob{k("a", "impossible"), k("b", "1")}, []knob{k("y", "1")}, true,
			[]string{"a failed: cannot be had", "b changed", "g failed: 1 of its resources failed or were skipped: knob#a failed", "y skipped: group#g failed"},
		},
		{
			"fail_on_error of a child ends the child", func(s *resource.Scope) { s.FailOnError = true },
			nil, []knob{k("a", "impossible"), k("b", "1")}, []knob{k("z", "1")}, false,
			[]string{"a failed: cannot be had", "b skipped: fail_on_error is set in child.yaml and knob#a failed",
				"g failed: 1 of its resources failed or were skipped: knob#a failed", "z changed"},
		},
		{
			"fail_on_error of the parent ends both when the child has failed", func(s *resource.Scope) { s.Parent.FailOnError = true },
			nil, []knob{k("a", "impossible"), k("b", "1")}, []knob{k("z", "1")}, false,
			[]string{"a failed: cannot be had", "b changed", "g failed: 1 of its resources failed or were skipped: knob#a failed",
				"z skipped: fail_on_error is set in site.yaml and group#g failed"},
		},
		{
			"noop of a child leaves the rest alone", func(s *resource.Scope) { s.Restraint = resource.Noop },
			[]knob{k("x", "1")}, []knob{k("a", "1")}, []knob{k("z", "")}, true,
			[]string{"x changed", "a pending", "g stable", "z stable"},
		},
		{
			"health checks only", func(s *resource.Scope) { s.Restraint = resource.MonitorOnly },
			[]knob{k("x", "1")}, []knob{k("a", "1")}, nil, false,
			[]string{"x changed", "a stable", "g stable"},
		},
	} {
		w := newWorld()
		s := newScope(tt.scope)
		got := w.runScoped(t, scoped(t, s, tt.before, tt.applied, tt.after, tt.subscribe))
		require.Equal(t, tt.want, got, tt.name)
		if s.Restraint != resource.Unrestrained {
			require.Equal(t, map[string]string{"x": "1"}, w.values, tt.name)
		}
	}
}
