package resource

import (
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/secret"
)

// Reveal makes secrets of the values of properties that are declared to hold
// some, such as a password. What is too short to be hidden is left alone.
func (r *Resource) Reveal(k *secret.Keeper) {
	if r.Skip != "" || !r.Type.Properties().HoldsSecrets() {
		return
	}
	for _, p := range r.Type.Properties().Secrets(r.Type.Properties().Encode(r.Spec, r.Common)) {
		for _, text := range p.Texts {
			_ = k.Add(text)
		}
	}
}

// Hide notes which properties of r hold secrets, of those that a Keeper knows and
// of those that are declared to be some. It is an error if one is where everybody
// can read it: in the name, which every report tells, or in the arguments of a
// command.
func (r *Resource) Hide(k *secret.Keeper) error {
	mix := r.Type.Properties()
	if r.Skip != "" || !k.Any() && !mix.HoldsSecrets() {
		return nil
	}
	tab := mix.Encode(r.Spec, r.Common)
	r.Sensitive = nil
	for _, p := range mix.Secrets(tab) {
		r.Sensitive = append(r.Sensitive, p.Name)
	}
	if k.Any() && DependsOnData(r.Spec) {
		r.Sensitive = append(r.Sensitive, "data")
	}
	var errs diag.List
	if name := r.Type.Schema().Name(); k.Contains(r.ID.Name) {
		errs.Add(r.Errorf(schema.Path{name.Name}, "%s: it holds a secret, and every report tells the name of a resource", name.Name).WithHint("%s", nameHint(name)))
	}
	for i := range tab.Entries {
		e := &tab.Entries[i]
		f := mix.Field(e.Key)
		if f == nil || f.IsName || !holds(k, e.Val) {
			continue
		}
		if !slices.Contains(r.Sensitive, f.Name) {
			r.Sensitive = append(r.Sensitive, f.Name)
		}
		if path, ok := inArgv(k, f, e.Val, schema.Path{f.Name}); ok {
			errs.Add(r.Errorf(path, "%s: it holds a secret, and every user of the machine can read the arguments of a command", path).WithHint(argvHint))
		}
	}
	return errs.Err()
}

// argvHint says what to do instead.
const argvHint = "give it to the command in its environment, on its standard input or in a file"

func nameHint(name *schema.Field) string {
	return fmt.Sprintf("if that is by chance, the secret is too common a word to be hidden; choose another %s, or another secret", name.Name)
}

// inArgv returns where in a value a secret is that becomes an argument of a
// command.
func inArgv(k *secret.Keeper, f *schema.Field, v schema.Value, path schema.Path) (schema.Path, bool) {
	if f.Argv {
		return path, holds(k, v)
	}
	switch {
	case v.Kind == schema.List && f.Elem != nil:
		for i, item := range v.Items() {
			if at, ok := inArgv(k, f.Elem, item, append(slices.Clip(path), i)); ok {
				return at, true
			}
		}
	case v.Kind == schema.Map && f.Object != nil:
		for _, e := range v.Table().Entries {
			if sub := f.Object.Field(e.Key); sub != nil {
				if at, ok := inArgv(k, sub, e.Val, append(slices.Clip(path), e.Key)); ok {
					return at, true
				}
			}
		}
	}
	return path, false
}

// holds reports whether there is a secret in a value.
func holds(k *secret.Keeper, v schema.Value) bool {
	return slices.ContainsFunc(v.Texts(), k.Contains)
}
