package resources

import "github.com/luaccm/ccm/runtime/resource"

var _ resource.Describer = ScaffoldState{}

// ScaffoldMetadata is the description of a scaffold. The lists have absolute paths.
type ScaffoldMetadata struct {
	Name         string         `json:"name"`
	Provider     string         `json:"provider,omitempty"`
	TargetExists bool           `json:"target_exists"`
	Changed      []string       `json:"changed"`
	Purged       []string       `json:"purged"`
	Stable       []string       `json:"stable"`
	Engine       ScaffoldEngine `json:"engine,omitempty"`
}

// Describe implements resource.Describer.
func (s ScaffoldState) Describe(name, provider string) any {
	return ScaffoldMetadata{
		Name: name, Provider: provider, TargetExists: s.TargetExists, Engine: s.Engine,
		Changed: list(s.Changed), Purged: list(s.Purged), Stable: list(s.Stable),
	}
}

// list returns l, but never nil, because JSON would have null.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}
