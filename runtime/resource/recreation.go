package resource

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Declaration is the properties of a resource of a type, its name among them.
type Declaration struct {
	Type       string        `json:"type"`
	Properties *schema.Table `json:"properties"`
	// Otherwise are the properties to use if Properties cannot be applied, such as those without a
	// version that is no longer available; nil if there are none.
	Otherwise *schema.Table `json:"otherwise,omitempty"`
	// Secrets are the texts in Properties that are secret, whatever they look like.
	Secrets []string `json:"-"`
	// Lost is the reason why the thing cannot be made again, or "".
	Lost string `json:"lost,omitempty"`
	// Note names what differs from the thing before its removal, or is "".
	Note string `json:"note,omitempty"`
}

// A Recreator is a spec of a thing that is not only files, such as a package. Recreate returns the spec
// that makes the thing of a state again, and one to use if the first cannot be applied, nil for none. The
// note names what will differ. Without a Recreator, undo restores the removed files and nothing else.
type Recreator[D, S any] interface {
	Recreate(have S) (want, otherwise *D, note string)
}

// Recreation returns the declarations that make a thing of that spec and state again after its removal,
// in their order. There are none for a thing that is only files, or that is absent.
func (b Binding) Recreation(ctx context.Context, v *host.View, spec, state any) (list []Declaration, err error) {
	defer b.recoverError(&err)
	if b.Type.recreate == nil {
		return nil, nil
	}
	return b.Type.recreate(ctx, v, b.Name, spec, state)
}

// CanRecreate reports whether undo makes removed things of the type again, besides their files.
func (t *Type) CanRecreate() bool { return t.recreate != nil }

// defineRecreation sets the recreate of t if its specs are Recreators.
func defineRecreation[D, S any](t *Type) {
	if _, ok := any(*new(D)).(Recreator[D, S]); !ok {
		return
	}
	t.recreate = func(_ context.Context, _ *host.View, provider string, spec, state any) ([]Declaration, error) {
		want, otherwise, note := any(*spec.(*D)).(Recreator[D, S]).Recreate(state.(S))
		if want == nil {
			return nil, nil
		}
		table := func(spec *D) *schema.Table {
			tab := t.Properties().Encode(spec, EmptyCommon)
			tab.Set("provider", schema.StringValue(provider))
			return tab
		}
		d := Declaration{Type: t.Name, Properties: table(want), Note: note}
		if otherwise != nil {
			d.Otherwise = table(otherwise)
		}
		return []Declaration{d}, nil
	}
}
