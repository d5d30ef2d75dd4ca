package contract_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/contract"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/schema"
)

// A paper keeps the file /d/paper. It has every ability, and promises by it what the
// fields say.
type paper struct {
	Name string `ccm:"name,name,required"`

	looksAhead bool
	looksAt    string
	bounds     string
	edited     string
	confined   []string
	leaves     []overlay.PathEffect
	closed     bool
}

type paperState struct{ There bool }

type paperProvider interface {
	Status(ctx context.Context, v *host.View, want paper) (paperState, error)
	Write(h *host.Host, want paper) error
}

var paperType = resource.Define[paper, paperState, paperProvider]("paper")

func (paper) Validate() error { return nil }
func (p paper) Traits() resource.Traits {
	return resource.Traits{MayPrefetch: p.looksAhead, ProviderIgnoresSpec: true}
}
func (p paper) Bounds() (path string, looks, acts bool) {
	return cmp.Or(p.looksAt, p.bounds), p.looksAt != "", p.bounds != ""
}
func (p paper) EditedFile() string                  { return p.edited }
func (p paper) EditedPart() (string, string)        { return "", "" }
func (p paper) ConfinedTo() (list []string, _ bool) { return p.confined, false }

func (p paper) Decide(have paperState) (d resource.Decision) {
	if !have.There {
		d.Add("name", "", p.Name)
		d.AddAction("Write", "written")
		d.Effects, d.Complete = p.leaves, p.closed
	}
	return d
}

func (p paper) Perform(_ context.Context, h *host.Host, w paperProvider, _ resource.Action) error {
	return w.Write(h, p)
}

// writer is a correct provider, except for the changed functions.
type writer struct {
	asks  bool // Status runs a command
	blind bool // Status does not see what a plan assumes
	more  bool // Write makes another file
	plans bool // Status reports something else in plans
	many  func(state paperState) []paperState
	calls []string

	predict  error
	predicts []error // PredictAll; nil if it is like Predict
	names    []string
	recalls  bool   // Recall says that the paper is there
	touches  string // the question that changes the machine
}

// touch makes a file if the provider is to change the machine in that method.
func (w writer) touch(v *host.View, question string) {
	if w.touches == question {
		_ = os.WriteFile(v.Root()+"/touched", nil, 0o644)
	}
}

func (w writer) Predict(_ context.Context, v *host.View, _ paper) (string, error) {
	w.touch(v, "Predict")
	return "", w.predict
}

// Bulk implements resource.BulkProvider.
func (w writer) Bulk() resource.Bulk[paper, paperState] {
	return resource.Bulk[paper, paperState]{Status: w.statusAll, Predict: w.predictAll}
}

func (w writer) predictAll(_ context.Context, v *host.View, wants []paper) (list []resource.Prediction) {
	w.touch(v, "PredictAll")
	if w.predicts == nil {
		return make([]resource.Prediction, len(wants))
	}
	for _, err := range w.predicts {
		list = append(list, resource.Prediction{Err: err})
	}
	return list
}

func (w writer) Inspect(ctx context.Context, v *host.View, want paper) (paperState, error) {
	w.touch(v, "Inspect")
	return w.Status(ctx, v, want)
}

func (w writer) Names(_ context.Context, v *host.View, _ string) ([]string, error) {
	w.touch(v, "Names")
	return w.names, nil
}

func (w writer) Recall(ctx context.Context, v *host.View, want paper, _ resource.DesiredDigest) (paperState, error) {
	if w.recalls {
		return paperState{true}, nil
	}
	return w.Status(ctx, v, want)
}

func (w writer) Describe() resource.Description { return resource.Description{Commands: w.calls} }

func (w writer) Status(ctx context.Context, v *host.View, _ paper) (paperState, error) {
	if w.asks {
		if _, err := v.Query(ctx, host.Cmd{Argv: []string{"true"}}); err != nil {
			return paperState{}, err
		}
	}
	if kind, _ := v.Overlay().Assumed("/d/paper"); w.blind && kind != safepath.Missing {
		return paperState{}, nil
	}
	if v.IsPlan() && w.plans {
		return paperState{true}, nil
	}
	there, err := v.Exists("/d/paper")
	return paperState{there}, err
}

func (w writer) statusAll(ctx context.Context, v *host.View, wants []paper) ([]paperState, []error) {
	state, _ := w.Status(ctx, v, wants[0])
	if w.many != nil {
		list := w.many(state)
		return list, make([]error, len(list))
	}
	return []paperState{state, state}, make([]error, 2)
}

func (w writer) Write(h *host.Host, _ paper) error {
	attr := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o644}
	err := h.MakeDirectory("/d", safepath.Attr{UID: attr.UID, GID: attr.GID, Mode: 0o755})
	if w.more {
		err = errors.Join(err, h.WriteFile("/more", strings.NewReader(""), attr))
	}
	return errors.Join(err, h.WriteFile("/d/paper", strings.NewReader("text"), attr))
}

// TestLies: each promise that the engine relies on is compared with the behaviour.
func TestLies(t *testing.T) {
	text := "text"
	attr := &safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: 0o644}
	leaves := []overlay.PathEffect{{Path: "/d/paper", Kind: safepath.Regular, Content: &text, Attr: attr}}
	other := "other"
	for name, x := range map[string]struct {
		p    paper
		w    writer
		want string
	}{
		"honest":               {paper{looksAhead: true, confined: []string{"/d/paper"}, leaves: leaves, closed: true}, writer{}, ""},
		"may ask":              {paper{}, writer{asks: true}, ""},
		"bounds, and a parent": {paper{bounds: "/d/paper"}, writer{}, "/d was changed, outside of the bounds /d/paper"},
		"bounds":               {paper{bounds: "/d"}, writer{more: true}, "/more was changed, outside of the bounds /d"},
		"edited":               {paper{edited: "/d/paper"}, writer{}, "/d was changed, outside of the edited file /d/paper"},
		"confined":             {paper{confined: []string{"/d/paper"}}, writer{more: true}, "/more was changed, outside of /d/paper"},
		"ahead":                {paper{looksAhead: true}, writer{asks: true}, "Status, which may be called ahead, ran a command: true"},
		"declared":             {paper{}, writer{asks: true, calls: []string{"true"}}, ""},
		"undeclared":           {paper{}, writer{asks: true, calls: []string{}}, "it calls true, which is not among its declared commands"},
		"closed":               {paper{leaves: leaves, closed: true}, writer{more: true}, "after written, /more was changed, of which a plan expects nothing"},
		"closed, and nothing":  {paper{closed: true}, writer{}, "was changed, of which a plan expects nothing"},
		"open, and wrong":      {paper{leaves: []overlay.PathEffect{{Path: "/d/paper", Kind: safepath.Regular, Content: &other, Attr: attr}}}, writer{}, "expected the content \"other\" of /d/paper"},
		"open":                 {paper{leaves: leaves}, writer{more: true}, ""},
		"blind in a plan":      {paper{leaves: leaves, closed: true}, writer{blind: true}, "in a plan, written leaves something to do: name:  → n"},
		"otherwise in a plan":  {paper{}, writer{plans: true}, "Status reports something else in a plan in which nothing is pending: name:  → n (written) and  (nothing)"},
		"too few answers": {paper{}, writer{many: func(s paperState) []paperState { return []paperState{s} }},
			"StatusAll has 1 answers and 1 errors for 2 questions"},
		"looks at its path": {paper{looksAt: "/d/paper"}, writer{}, ""},
		"looks elsewhere":   {paper{looksAt: "/paper"}, writer{}, "Status, which is to depend on /paper only, looked at /d/paper"},
		"predicts failure":  {paper{}, writer{predict: errors.New("no ink")}, "a plan predicts that written fails, but it does not: no ink"},
		"predicts failures": {paper{}, writer{predicts: []error{errors.New("no ink")}}, "PredictAll has 1 answers for 2 questions"},
		"predicts twice":    {paper{}, writer{predicts: []error{nil, errors.New("no ink")}}, "PredictAll has two answers to one question: <nil> and no ink"},
		"needs root":        {paper{}, writer{predict: overlay.ErrNeedsRoot}, ""},
		"Predict":           {paper{}, writer{touches: "Predict"}, "Predict changed the machine: /touched is new"},
		"PredictAll":        {paper{}, writer{touches: "PredictAll"}, "PredictAll changed the machine: /touched is new"},
		"Inspect":           {paper{}, writer{touches: "Inspect"}, "Inspect changed the machine: /touched is new"},
		"Names":             {paper{}, writer{touches: "Names", names: []string{"a"}}, "Names changed the machine: /touched is new"},
		"names":             {paper{}, writer{names: []string{"a", "ab"}}, ""},
		"names in disorder": {paper{}, writer{names: []string{"b", "a"}}, `Names are not in order: ["b" "a"]`},
		"other names":       {paper{}, writer{names: []string{"a", "b"}}, "Names that are to begin with a have b"},
		"recalls":           {paper{}, writer{recalls: true}, "Recall and Status differ:  (nothing) and name:  → n (written)"},
		"other answers":     {paper{}, writer{many: func(s paperState) []paperState { return []paperState{s, {true}} }}, "StatusAll and Status differ"},
	} {
		t.Run(name, func(t *testing.T) {
			x.p.Name = "n"
			trial := contract.Trial{
				Binding: paperType.Provide("writer", resource.Always[paper](1), x.w), Want: &x.p,
				Start: func(string) (host.Runner, error) { return successRunner{}, nil },
			}
			err := trial.Run(t.Context(), t.TempDir(), hosttest.Clock{})
			if x.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, x.want)
			}
		})
	}
}

// TestSuits: a choice that depends on the properties is found, if the type says that it does not.
func TestSuits(t *testing.T) {
	wants := []any{&paper{Name: "a"}, &paper{Name: "b"}}
	require.NoError(t, contract.CheckSuits(paperType.Provide("writer", resource.Always[paper](1), writer{}), nil, wants))
	byName := func(_ *facts.Facts, p paper) (int, error) { return len(p.Name + p.edited), nil }
	wants = append(wants, &paper{Name: "c", edited: "/d/paper"})
	require.EqualError(t, contract.CheckSuits(paperType.Provide("writer", byName, writer{}), nil, wants),
		"the choice of provider writer depends on the properties: priority 1 (error: <nil>) and 9 (error: <nil>)")
}

// A successRunner runs nothing.
type successRunner struct{}

func (successRunner) Run(context.Context, host.Cmd) (host.Result, error) { return host.Result{}, nil }

// TestRemovals: a type that removes what it has not created is found, also if it hides the removal
// from the engine.
func TestRemovals(t *testing.T) {
	for name, x := range map[string]struct {
		effects []overlay.PathEffect
		data    bool // in the directory before the trial
		all     bool // whether all that is in the directory is removed
		single  bool // whether it is removed entry by entry
		made    bool // whether there is something else in the directory
		want    string
	}{
		"empty":          {effects: []overlay.PathEffect{{Path: "/d"}}},
		"kept":           {effects: []overlay.PathEffect{{Path: "/d"}}, data: true, all: true, want: "no record of a run that created /d/data, 4 B"},
		"careful":        {effects: []overlay.PathEffect{{Path: "/d", Keeps: []string{}}}},
		"claims all":     {effects: []overlay.PathEffect{{Path: "/d", Keeps: []string{}}}, all: true, want: "removed the note removed /d/not-of-ccm, which no run has created"},
		"names nothing":  {all: true, data: true, single: true, want: "removed the note removed /d/data, which its effects do not name"},
		"names the rest": {effects: []overlay.PathEffect{{Path: "/other"}}, all: true, data: true, single: true, want: "removed /d/data, which its effects do not name"},
		"names data":     {effects: []overlay.PathEffect{{Path: "/d", Keeps: []string{"data"}}}, data: true, single: true, all: true, want: "no record of a run that created /d/data, 4 B"},
		// The host refuses a tree that the effects do not name, so nothing is lost.
		"hides the tree": {all: true, data: true, want: "/d is not removed: no record of a run that created /d/data, 4 B"},
		// What runs have made goes, and the rest stays.
		"some": {effects: []overlay.PathEffect{{Path: "/d", Keeps: []string{"data", "not-of-ccm"}}}, data: true, made: true, all: true},
		"some, singly": {
			effects: []overlay.PathEffect{{Path: "/d", Keeps: []string{"data"}}}, data: true, made: true, single: true, all: true,
			want: "removed the note removed /d/data, which its effects do not name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Make("", []schema.Property{
				{Name: "name", Type: reflect.TypeFor[string](), IsName: true}, {Name: "ensure", Type: reflect.TypeFor[string]()},
			})
			require.NoError(t, err)
			f := resource.Functions{
				Name: "note", Provider: "test", Schema: s,
				Status: func(_ context.Context, v *host.View, _ *resource.Properties) (any, error) { return v.Exists("/d") },
				Decide: func(_ *resource.Properties, have any) (d resource.Decision) {
					if have == true {
						d.Add("ensure", "present", "absent")
						d.AddAction("remove", "removed the note")
					}
					return d
				},
				Effects: func(*resource.Properties, any) ([]overlay.PathEffect, resource.OtherEffects, error) {
					return x.effects, resource.UnknownEffects, nil
				},
				Perform: func(_ context.Context, h *host.Host, _ *resource.Properties, _ resource.Action) error {
					switch {
					case x.all && x.single:
						return errors.Join(h.Remove("/d/data"), h.RemoveTree("/d"))
					case x.all:
						return h.RemoveTree("/d")
					}
					return h.Remove("/d")
				},
			}
			binding, err := f.Bind()
			require.NoError(t, err)
			r, err := binding.Type.Decode(&schema.Table{Entries: []schema.Entry{
				{Key: "name", Val: schema.StringValue("n")}, {Key: "ensure", Val: schema.StringValue("absent")},
			}}, resource.Origin{})
			require.NoError(t, err)
			trial := contract.Trial{Binding: binding, Want: r.Spec, Start: func(root string) (host.Runner, error) {
				err := os.Mkdir(root+"/d", 0o755)
				if x.made {
					err = errors.Join(err, os.WriteFile(root+"/d/made", []byte("made"), 0o644))
				}
				if x.data {
					err = errors.Join(err, os.WriteFile(root+"/d/data", []byte("data"), 0o644))
				}
				return successRunner{}, err
			}}
			err = trial.Run(t.Context(), t.TempDir(), hosttest.Clock{})
			if x.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, x.want)
			}
		})
	}
}
