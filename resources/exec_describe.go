package resources

import "github.com/luaccm/ccm/runtime/resource"

var _ resource.Describer = ExecState{}

// ExecMetadata is the description of a command. The results of guards are present only if they
// were run.
type ExecMetadata struct {
	Name             string `json:"name"`
	Provider         string `json:"provider,omitempty"`
	CreatesSatisfied bool   `json:"creates_satisfied"`
	RemovesSatisfied bool   `json:"removes_satisfied,omitempty"`
	OnlyIfSatisfied  *bool  `json:"onlyif_satisfied,omitempty"`
	UnlessSatisfied  *bool  `json:"unless_satisfied,omitempty"`
	CheckSatisfied   *bool  `json:"check_satisfied,omitempty"`
}

// Describe implements resource.Describer.
func (s ExecState) Describe(name, provider string) any {
	return ExecMetadata{name, provider, s.CreatesSatisfied, s.RemovesSatisfied, s.OnlyIfSatisfied, s.UnlessSatisfied, s.CheckSatisfied}
}
