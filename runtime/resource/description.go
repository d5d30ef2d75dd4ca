package resource

import "slices"

// A Description describes how a provider does its work, for the reference.
type Description struct {
	// Doc describes in a sentence or two how the provider looks and how it acts.
	Doc string
	// Commands are the names of the programs that it calls. An empty list means none; nil means
	// any, because properties of a resource name them.
	Commands []string
	// Live is set if the provider needs commands of the machine. Where these cannot enter a root
	// other than /, its resources fail before anything is looked at.
	Live bool
}

// Calls reports whether commands of that name may be run.
func (d Description) Calls(name string) bool {
	return d.Commands == nil || slices.Contains(d.Commands, name)
}

// Describe returns the description of the provider; the zero Description if there is none.
func (b Binding) Describe() Description {
	if d, ok := b.impl.(SelfDescriber); ok {
		return d.Describe()
	}
	return Description{}
}
