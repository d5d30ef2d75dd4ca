package resource

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host/command"
)

// TestSelect: what the machine is decides, never the alphabet.
func TestSelect(t *testing.T) {
	typ := &Type{Name: "thing"}
	suits := func(priority int, err error) func(*facts.Facts, any) (int, error) {
		return func(*facts.Facts, any) (int, error) { return priority, err }
	}
	for _, x := range []struct {
		provider  string
		factories []Binding
		want, err string
	}{
		{"", []Binding{{Name: "b", suits: suits(1, nil)}, {Name: "a", suits: suits(2, nil)}}, "b", ""},
		{"", []Binding{{Name: "c", suits: suits(2, nil)}, {Name: "b", suits: suits(1, nil)}, {Name: "a", suits: suits(1, nil)}},
			"", `a and b work equally well on this machine: choose one, as provider = "a"`},
		{"b", []Binding{{Name: "b", suits: suits(1, nil)}, {Name: "a", suits: suits(1, nil)}}, "b", ""},
		{"", []Binding{{Name: "b", suits: suits(1, nil)}, {Name: "a", suits: suits(1, errors.New("no"))}}, "b", ""},
		{"", []Binding{{Name: "b", suits: suits(0, errors.New("not here"))}, {Name: "a", suits: suits(0, errors.New("nor here"))}},
			"", "no provider of thing works on this machine: a: nor here; b: not here"},
		{"", []Binding{{Name: "b", suits: suits(0, &command.NotFoundError{Name: "two"})}, {Name: "a", suits: suits(0, errors.New("no"))}, {Name: "c", suits: suits(0, &command.NotFoundError{Name: "one"})}},
			"", "no provider of thing works on this machine: a: no; there is no command one, two"},
	} {
		reg := &Registry{bindings: map[*Type][]Binding{typ: x.factories}}
		b, err := reg.Select(&Resource{Type: typ, Common: &Common{Provider: x.provider}}, nil)
		if x.err != "" {
			require.EqualError(t, err, x.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, x.want, b.Name)
	}
}
