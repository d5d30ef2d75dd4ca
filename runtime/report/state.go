package report

import (
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/terminal"
)

// State is the JSON of the present state of a resource.
type State struct {
	Protocol     string `json:"protocol"`
	ResourceType string `json:"resource_type"`
	Name         string `json:"name"`
	// Ensure is the state as a value of the property ensure, "" if there is no such value.
	Ensure   string `json:"ensure"`
	Provider string `json:"provider"`
	// Metadata is a struct of the type with json tags; may be nil.
	Metadata any `json:"metadata,omitempty"`
}

// StateProtocol returns the protocol of states of a type.
func StateProtocol(typ string) string { return "io.choria.ccm.v1.resource." + typ + ".state" }

// StateOf returns the JSON form of a state.
func StateOf(id resource.ID, provider string, state any) State {
	s := State{Protocol: StateProtocol(id.Type), ResourceType: id.Type, Name: id.Name, Provider: provider}
	if e, ok := state.(resource.StateEnsure); ok {
		s.Ensure = e.CurrentEnsure()
	}
	if d, ok := state.(resource.Describer); ok {
		s.Metadata = d.Describe(id.Name, provider)
	}
	return s
}

// Text formats the state for people: without the fields that only programs need, and without
// repetition.
func (s State) Text() (string, error) {
	tab := new(schema.Table)
	if s.Ensure != "" {
		tab.Set("ensure", schema.StringValue(s.Ensure))
	}
	tab.Set("provider", schema.StringValue(s.Provider))
	if s.Metadata != nil {
		metadata, err := schema.TableOf(s.Metadata)
		if err != nil {
			return "", err
		}
		for _, m := range metadata.Entries {
			if m.Key != "name" && m.Key != "provider" {
				tab.Entries = append(tab.Entries, m)
			}
		}
	}
	return schema.NamedTree(terminal.Line(s.ResourceType+"#"+s.Name), schema.MapValue(tab)), nil
}
