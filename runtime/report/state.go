package report

import (
	"github.com/luaccm/ccm/runtime/resource"
)

// State is what a resource was found to be, as programs read it.
type State struct {
	Protocol     string `json:"protocol"`
	ResourceType string `json:"resource_type"`
	Name         string `json:"name"`
	// Ensure is what it is in the words of the ensure property, "" if that has
	// none for it.
	Ensure   string `json:"ensure"`
	Provider string `json:"provider"`
	// Metadata is a struct of the type with json tags; nil if there is nothing
	// more to say.
	Metadata any `json:"metadata,omitempty"`
}

// StateProtocol returns the protocol of states of a type.
func StateProtocol(typ string) string { return "io.choria.ccm.v1.resource." + typ + ".state" }

// StateOf returns a state as programs read it.
func StateOf(id resource.ID, provider string, state any) State {
	s := State{Protocol: StateProtocol(id.Type), ResourceType: id.Type, Name: id.Name, Provider: provider}
	if e, ok := state.(resource.StateEnsure); ok {
		s.Ensure = e.CurrentEnsure()
	}
	if d, ok := state.(resource.Described); ok {
		s.Metadata = d.Describe(id.Name, provider)
	}
	return s
}
