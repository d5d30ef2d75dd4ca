// Package resourcetest checks that a provider keeps its contract. A test of a provider lists initial states of a
// machine and desired states; the suite tries every desired state from every initial state.
package resourcetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/systembus"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/contract"
)

// A Suite is the cases for one provider.
type Suite[D resource.Spec[S, P], S any, P resource.Provider[D, S]] struct {
	Type     resource.TypeDef[D, S, P]
	Provider P
	// Starts make the initial state of the machine below root. The Runner simulates the commands of that machine; nil
	// runs real ones. If it is a host.Bus too, it is the machine's system bus.
	Starts map[string]func(t *testing.T, root string) host.Runner
	// Wants are the desired states, with all defaults filled in. They may depend on the root.
	Wants map[string]D
	// Fails lists the pairs, as start/want, that must end in an error, with a
	// part of its text. Every other pair must succeed.
	Fails map[string]string
	// Phrases has the expected plans of pairs, as start/want: the phrases of the actions in order, without "Would
	// have". Other pairs are not compared; an empty list means stable.
	Phrases map[string][]string
	// Imagined is Imagined of [contract.Trial].
	Imagined bool
}

// Run tries every want from every start and checks what [contract.Trial.Check] lists.
func (s Suite[D, S, P]) Run(t *testing.T) {
	starts, wants := slices.Sorted(maps.Keys(s.Starts)), slices.Sorted(maps.Keys(s.Wants))
	pairs := make(map[string]bool)
	for _, start := range starts {
		for _, want := range wants {
			name := start + "/" + want
			pairs[name] = true
			t.Run(name, func(t *testing.T) { s.one(t, name, s.Starts[start], s.Wants[want]) })
		}
	}
	for name := range s.Fails {
		require.True(t, pairs[name], "no pair %s", name)
	}
	for name := range s.Phrases {
		require.True(t, pairs[name], "no pair %s", name)
	}
}

func (s Suite[D, S, P]) one(t *testing.T, name string, start func(*testing.T, string) host.Runner, want D) {
	require.NoError(t, want.Validate())
	root := t.TempDir()
	x := contract.Trial{
		Name: name, Binding: s.Type.Provide("suite", resource.Always[D](1), s.Provider), Want: &want,
		Fails: s.Fails[name], Phrases: s.Phrases[name], Imagined: s.Imagined,
	}
	runner := start(t, root)
	bus, _ := runner.(systembus.Bus)
	require.NoError(t, x.Check(t.Context(), host.New(host.Options{Root: root, Runner: x.Watch(runner), Bus: bus, Clock: hosttest.Clock{}})))
}
