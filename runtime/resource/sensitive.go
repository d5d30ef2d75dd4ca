package resource

import (
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/secret"
)

// AddSecrets adds the values of secret properties, such as a password, to a keeper. Values that
// are too short to mask everywhere are not added.
func (r *Resource) AddSecrets(k *secret.Keeper) {
	if r.Skip != "" || !r.Type.Properties().HoldsSecrets() {
		return
	}
	for _, p := range r.Type.Properties().Secrets(r.Type.Properties().Encode(r.Spec, r.Common)) {
		for _, text := range p.Texts {
			_ = k.Add(text)
		}
	}
}

// secretSources returns the properties that the user marked as secret, or that refer to secrets.
func (r *Resource) secretSources() []string {
	return slices.Concat(r.SecretProperties, TraitsOf(r.Spec).SecretProperties)
}

// Mark marks properties as secret, and adds their texts to a keeper. Texts that are too short to
// mask everywhere are masked only in these properties.
func (r *Resource) Mark(k *secret.Keeper, properties ...string) error {
	if len(properties) == 0 {
		return nil // most resources: their texts need not be gathered
	}
	mix := r.Type.Properties()
	var tab *schema.Table
	if r.Skip == "" {
		tab = mix.Encode(r.Spec, r.Common)
	}
	for _, name := range properties {
		f := mix.Field(name)
		switch {
		case f == nil:
			return diag.At(diag.Pos{}, fmt.Errorf("sensitive: type %s: %w", r.ID.Type, diag.Unknown("property", name, mix.Names())))
		case f.IsName:
			return fmt.Errorf("sensitive: %w", diag.SubjectCannot("the name of a resource", "be secret, because reports show it"))
		}
		r.SecretProperties = append(r.SecretProperties, f.Name)
		if tab == nil {
			continue
		}
		for i := range tab.Entries {
			if e := &tab.Entries[i]; mix.Field(e.Key) == f {
				for _, text := range e.Val.Texts() {
					_ = k.Keep(text)
				}
			}
		}
	}
	return nil
}

// HoldsSecrets reports whether a property is declared as secret, or refers to a secret.
func (r *Resource) HoldsSecrets() bool {
	return r.Type.Properties().HoldsSecrets() || len(r.secretSources()) > 0
}

// MarkSensitive sets r.Sensitive to the properties that hold secrets of the keeper, or are
// declared as secret. It returns an error if a secret is where everybody can read it: in the
// name, which reports show, or in the arguments of a command.
func (r *Resource) MarkSensitive(k *secret.Keeper) error {
	mix := r.Type.Properties()
	own := r.secretSources()
	if r.Skip != "" || !k.Any() && !mix.HoldsSecrets() && len(own) == 0 {
		return nil
	}
	tab := mix.Encode(r.Spec, r.Common)
	r.Sensitive = own
	for _, p := range mix.Secrets(tab) {
		r.Sensitive = append(r.Sensitive, p.Name)
	}
	if k.Any() && TraitsOf(r.Spec).DependsOnData {
		r.Sensitive = append(r.Sensitive, "data")
	}
	var errs diag.List
	if name := r.Type.Schema().Name(); k.Contains(r.ID.Name) {
		errs.Add(r.Errorf(schema.Path{name.Name}, "%s: %w", name.Name, diag.Contains("", "a secret, but reports show the name of a resource")).WithHint("%s", nameHint(name)))
	}
	for i := range tab.Entries {
		e := &tab.Entries[i]
		f := mix.Field(e.Key)
		if f == nil || f.IsName || !containsSecret(k, e.Val) {
			continue
		}
		if !slices.Contains(r.Sensitive, f.Name) {
			r.Sensitive = append(r.Sensitive, f.Name)
		}
		if path, ok := secretInArgv(k, f, e.Val, schema.Path{f.Name}); ok {
			errs.Add(r.Errorf(path, "%s: %w", path, diag.Contains("", "a secret, but every user can read the arguments of a command")).WithHint(argvHint))
		}
	}
	return errs.Err()
}

// argvHint is the hint for a secret in the arguments of a command.
const argvHint = "pass it to the command in its environment, on standard input or in a file"

func nameHint(name *schema.Field) string {
	return fmt.Sprintf("if this is a coincidence, choose a less common secret, or another %s", name.Name)
}

// secretInArgv returns the path to a secret in a value that becomes an argument of a
// command.
func secretInArgv(k *secret.Keeper, f *schema.Field, v schema.Value, path schema.Path) (schema.Path, bool) {
	if f.Argv {
		return path, containsSecret(k, v)
	}
	switch {
	case v.Kind == schema.List && f.Elem != nil:
		for i, item := range v.Items() {
			if at, ok := secretInArgv(k, f.Elem, item, append(slices.Clip(path), i)); ok {
				return at, true
			}
		}
	case v.Kind == schema.Map && f.Object != nil:
		for _, e := range v.Table().Entries {
			if sub := f.Object.Field(e.Key); sub != nil {
				if at, ok := secretInArgv(k, sub, e.Val, append(slices.Clip(path), e.Key)); ok {
					return at, true
				}
			}
		}
	}
	return path, false
}

// containsSecret reports whether a value holds a secret.
func containsSecret(k *secret.Keeper, v schema.Value) bool {
	return slices.ContainsFunc(v.Texts(), k.Contains)
}
