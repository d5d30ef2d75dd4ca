package resource

import "slices"

// A Description says how a provider does its work, for the reference.
type Description struct {
	// Doc says in a sentence or two how it looks and how it acts.
	Doc string
	// Commands are the names of the programs that it calls. Nil says that this is not known,
	// because the properties of a resource name them; an empty list that it calls none.
	Commands []string
}

// Calls reports whether commands of that name may be run.
func (d Description) Calls(name string) bool {
	return d.Commands == nil || slices.Contains(d.Commands, name)
}

// Describe returns what the provider says of its work; the zero Description if it says nothing.
func (b Binding) Describe() Description {
	if d, ok := b.impl.(SelfDescriber); ok {
		return d.Describe()
	}
	return Description{}
}
