package converge_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// later gives a knob a value that is known only at its turn.
func later(c *catalog.Catalog, name string, value func() (string, error)) *catalog.Catalog {
	for _, r := range c.Resources {
		if r.ID.Name != name {
			continue
		}
		declared := *r.Spec.(*knob)
		r.LazyProperties = []string{"value"}
		r.Resolve = func(context.Context) (any, error) {
			spec := declared
			var err error
			spec.Value, err = value()
			return &spec, err
		}
	}
	return c
}

func TestKnownLater(t *testing.T) {
	for _, x := range []struct {
		name, lines string
		before      map[string]string // values at the start
		plan, run   string
	}{
		{"a value that something pending makes", "a=1;b=", nil, "a pending|b unknown: the value of value is known only after the run", "a changed|b changed"},
		{"all before is as wanted, so that it is known", "a=1;b=", map[string]string{"a": "1"}, "a stable|b pending", "a stable|b changed"},
		{"it is as wanted itself", "a=1;b=", map[string]string{"a": "1", "b": "<1>"}, "a stable|b stable", "a stable|b stable"},
		{"what comes after may change", "a=1;b=;c= subscribe=b", nil,
			"a pending|b unknown: the value of value is known only after the run|c unknown: knob#b is unknown", "a changed|b changed|c changed by [knob#b]"},
		{"nobody asks if it is skipped", "a=broken;b= require=a", nil, "a pending|b unknown: the value of value is known only after the run", "a failed: it broke|b skipped: knob#a failed"},
		{"nor if nothing is done about it", "a=1;b= skip", nil, "a pending|b skipped: control says so", "a changed|b skipped: control says so"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld()
			maps.Copy(w.values, x.before)
			c := later(cat(t, x.lines), "b", func() (string, error) { return "<" + w.values["a"] + ">", nil })
			tp := w.plan(t, c)
			require.Equal(t, x.plan, strings.Join(tp.lines, "|"))
			tp, _ = w.run(t, c)
			require.Equal(t, x.run, strings.Join(tp.lines, "|"))
			if tp.events[1].Outcome == event.Changed {
				require.Equal(t, "<1>", w.values["b"])
				require.Equal(t, "<1>", tp.events[1].Resource.Spec.(*knob).Value)
			}
			for _, r := range c.Resources {
				if r.ID.Name == "b" {
					require.Empty(t, r.Spec.(*knob).Value, "the catalog is not changed")
				}
			}
		})
	}
}

func TestKnownLaterPlanned(t *testing.T) {
	w := newWorld()
	tp := w.plan(t, later(cat(t, "a=1;b="), "b", func() (string, error) { return "", errors.New("nobody asks") }))
	require.Equal(t, []resource.Delta{{Property: "value", Want: "(known after run)"}}, tp.events[1].Diff)
}

func TestKnownLaterFails(t *testing.T) {
	w := newWorld()
	tp, _ := w.run(t, later(cat(t, "a=1;b=;c=1 require=b"), "b", func() (string, error) { return "", errors.New("no idea") }))
	require.Equal(t, "a changed|b failed: no idea|c skipped: knob#b failed", strings.Join(tp.lines, "|"))
}

// The cause of a change includes values that became known late: another value is another desired state.
func TestKnownLaterCause(t *testing.T) {
	w := newWorld()
	seen := make(map[string]resource.DesiredDigest)
	for _, value := range []string{"1", "2", "2"} {
		w.values["b"] = ""
		c := later(cat(t, "b="), "b", func() (string, error) { return value, nil })
		w.run(t, c, func(e *converge.Engine) {
			e.Cause = func(r *resource.Resource, wish resource.DesiredDigest, _ func() string) event.Cause {
				require.Same(t, c.Resources[0], r)
				if old, ok := seen[value]; ok {
					require.Equal(t, old, wish)
				}
				seen[value] = wish
				return event.Intended
			}
		})
	}
	require.NotEqual(t, seen["1"], seen["2"])
}

// Many lazy values among resources whose status is prefetched.
func TestKnownLaterAhead(t *testing.T) {
	b := &board{places: map[string]string{}}
	var builder catalog.Builder
	for i := range 300 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		r := &resource.Resource{Type: cellType.Type, ID: resource.ID{Type: "cell", Name: name}, Spec: &cell{Name: name, Place: name, Batch: i%3 == 0}, Common: new(resource.Common)}
		if b.places[name] = "old"; i%5 == 0 {
			r.LazyProperties = []string{"value"}
			r.Resolve = func(context.Context) (any, error) {
				return &cell{Name: name, Place: name, Value: "new", Batch: i%3 == 0}, nil
			}
		} else {
			r.Spec.(*cell).Value = "old"
		}
		_, err := builder.Add(r)
		require.NoError(t, err)
	}
	c, err := builder.Build()
	require.NoError(t, err)
	tp := new(tape)
	reg, err := resource.NewRegistry(cellType.Provide("board", resource.Always[cell](1), b))
	require.NoError(t, err)
	e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{tp}}
	sum := e.Run(t.Context(), host.New(host.Options{}), c)
	require.Equal(t, 60, sum.Of(event.Changed))
	require.Equal(t, 240, sum.Of(event.Stable))
}

// The output of a command is available to later resources.
func TestOutputs(t *testing.T) {
	tp := new(tape)
	reg, err := resource.NewRegistry(saidType.Provide("real", resource.Always[outputSpec](1), sayers{}))
	require.NoError(t, err)
	var b catalog.Builder
	_, err = b.Add(&resource.Resource{Type: saidType.Type, ID: resource.ID{Type: "said", Name: "x"}, Spec: &outputSpec{Name: "x"}, Common: new(resource.Common)})
	require.NoError(t, err)
	c, err := b.Build()
	require.NoError(t, err)
	e := converge.Engine{Registry: reg, Facts: facts.Static(nil), Reporters: []event.Reporter{tp}}
	e.Run(t.Context(), host.New(host.Options{}), c)
	require.Equal(t, event.Changed, tp.events[0].Outcome)
	require.Equal(t, "x", string(tp.events[0].Command.Stdout))
}

// outputSpec is a resource whose value is the output of a command.
type outputSpec struct {
	Name string `ccm:"name,name"`
}

type sayers struct{}

var saidType = resource.Define[outputSpec, struct{}, sayers]("said")

func (outputSpec) Validate() error         { return nil }
func (outputSpec) Traits() resource.Traits { return resource.Traits{VerifiesItself: true} }
func (outputSpec) Decide(struct{}) (d resource.Decision) {
	d.AddAction("Say", "said")
	return d
}
func (s outputSpec) Perform(ctx context.Context, h *host.Host, _ sayers, _ resource.Action) error {
	_, err := h.Run(ctx, host.Cmd{Argv: []string{"printf", s.Name}})
	return err
}
func (sayers) Status(context.Context, *host.View, outputSpec) (struct{}, error) {
	return struct{}{}, nil
}
