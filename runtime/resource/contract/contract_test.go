package contract_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/contract"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// note keeps a text in the file /note.
func note(t *testing.T, change func(*resource.Functions)) (resource.Binding, any) {
	t.Helper()
	s, err := schema.Make("", []schema.Property{
		{Name: "name", Type: reflect.TypeFor[string](), IsName: true}, {Name: "text", Type: reflect.TypeFor[string](), Required: true},
	})
	require.NoError(t, err)
	f := resource.Functions{
		Name: "note", Provider: "test", Schema: s,
		Status: func(_ context.Context, v *host.View, _ *resource.Properties) (any, error) {
			text, err := v.ReadFile("/note")
			if errors.Is(err, os.ErrNotExist) {
				return "", nil
			}
			return string(text), err
		},
		Decide: func(want *resource.Properties, have any) (d resource.Decision) {
			if want.Text("text") == "never" {
				d.Err = errors.New("that cannot be had")
			} else if have != want.Text("text") {
				d.Add("text", have.(string), want.Text("text"))
				d.AddAction("write", "kept the note")
			}
			return d
		},
		Perform: func(_ context.Context, h *host.Host, want *resource.Properties, _ resource.Action) error {
			attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o644}
			return h.WriteFile("/note", strings.NewReader(want.Text("text")), attr)
		},
	}
	if change != nil {
		change(&f)
	}
	factory, err := f.Bind()
	require.NoError(t, err)
	want := &schema.Table{Entries: []schema.Entry{{Key: "name", Val: schema.StringValue("n")}, {Key: "text", Val: schema.StringValue("new")}}}
	r, err := factory.Type.Decode(want, resource.Origin{})
	require.NoError(t, err)
	return factory, r.Spec
}

// guesser lets every command succeed, and counts them.
type guesser struct{ n int }

// Run implements host.Runner.
func (g *guesser) Run(context.Context, host.Cmd) (host.Result, error) {
	g.n++
	return host.Result{}, nil
}

// Guesses implements contract.Guesser.
func (g *guesser) Guesses() int { return g.n }

// TestGuesses: after commands that the runner cannot simulate the state is not checked, and only then.
func TestGuesses(t *testing.T) {
	for command, wrong := range map[string]string{"true": "", "": "not up to date after kept the note"} {
		b, want := note(t, func(f *resource.Functions) {
			f.Commands = []string{"true"}
			f.Perform = func(ctx context.Context, h *host.Host, _ *resource.Properties, _ resource.Action) error {
				if command == "" {
					return nil
				}
				_, err := h.Run(ctx, host.Cmd{Argv: []string{command}})
				return err
			}
		})
		x := contract.Trial{Binding: b, Want: want, Start: func(string) (host.Runner, error) { return new(guesser), nil }}
		err := x.Run(t.Context(), t.TempDir(), hosttest.Clock{})
		if wrong == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, wrong)
		}
	}
}

// TestBreaches: the suite detects each breach of the contract.
func TestBreaches(t *testing.T) {
	calls := 0
	for want, change := range map[string]func(*resource.Functions){
		"": nil,
		"Status changed the machine: /x is new": func(f *resource.Functions) {
			f.Status = func(_ context.Context, v *host.View, _ *resource.Properties) (any, error) {
				return "", os.WriteFile(v.Root()+"/x", nil, 0o644)
			}
		},
		"Status gave two answers: 1 and 2": func(f *resource.Functions) {
			f.Status = func(context.Context, *host.View, *resource.Properties) (any, error) { calls++; return calls, nil }
		},
		"not up to date after kept the note: text: old → new (actions left: kept the note)": func(f *resource.Functions) {
			f.Perform = func(context.Context, *host.Host, *resource.Properties, resource.Action) error { return nil }
		},
		"after kept the note, /note was changed, of which a plan expects nothing": func(f *resource.Functions) {
			f.Effects = func(*resource.Properties, any) ([]overlay.PathEffect, resource.OtherEffects, error) {
				return nil, resource.CommandEffects, nil
			}
		},
		`left otherwise than a plan expects after kept the note: expected the content "old" of /note, found "new"`: func(f *resource.Functions) {
			f.Effects = func(*resource.Properties, any) ([]overlay.PathEffect, resource.OtherEffects, error) {
				return []overlay.PathEffect{{Path: "/note", Kind: safepath.Regular, Content: new("old")}}, resource.UnknownEffects, nil
			}
		},
		"color is reported to differ, but is not a property": func(f *resource.Functions) {
			f.Decide = func(*resource.Properties, any) (d resource.Decision) { d.Add("color", "a", "b"); return d }
		},
		`text is reported to differ, but is "a" and "a"`: func(f *resource.Functions) {
			f.Decide = func(*resource.Properties, any) (d resource.Decision) { d.Add("text", "a", "a"); return d }
		},
		"a difference without an action: text: a → b": func(f *resource.Functions) {
			f.Decide = func(*resource.Properties, any) (d resource.Decision) { d.Add("text", "a", "b"); return d }
		},
		`expected an action whose phrase reads well after Would have, got "writes"`: func(f *resource.Functions) {
			f.Decide = func(*resource.Properties, any) (d resource.Decision) { d.AddAction("write", "writes"); return d }
		},
	} {
		f, spec := note(t, change)
		x := contract.Trial{Binding: f, Want: spec, Start: func(root string) (host.Runner, error) {
			return nil, os.WriteFile(root+"/note", []byte("old"), 0o644)
		}}
		err := x.Run(t.Context(), t.TempDir(), hosttest.Clock{})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, want)
	}
}

func TestSuite(t *testing.T) {
	f, spec := note(t, nil)
	start := func(string) (host.Runner, error) { return nil, nil }
	s := contract.Suite{
		Binding: f, Starts: map[string]func(string) (host.Runner, error){"b": start, "a": start}, Wants: map[string]any{"w": spec},
		Fails: map[string]string{"a/w": "no luck"}, Phrases: map[string][]string{"b/w": {"kept it"}},
	}
	trials, err := s.Trials()
	require.NoError(t, err)
	require.Len(t, trials, 2)
	require.EqualError(t, trials[0].Run(t.Context(), t.TempDir(), nil), `expected an error with "no luck", got none`)
	require.EqualError(t, trials[1].Run(t.Context(), t.TempDir(), nil), `expected it to be ["kept it"], got ["kept the note"]`)
	s.Fails["c/w"] = "x"
	_, err = s.Trials()
	require.EqualError(t, err, "no start and want are called c/w")
	x := contract.Trial{Binding: f, Want: spec}
	require.EqualError(t, x.Check(t.Context(), host.New(host.Options{})), "a trial needs a root of its own")
}
