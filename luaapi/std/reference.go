package std

// A Param is one argument or result of a Func, for references.
type Param struct {
	// Name may be "" for a result. It is ... for any number of arguments.
	Name string `json:"name,omitempty"`
	// Type is in the notation of LuaLS.
	Type     string `json:"type"`
	Optional bool   `json:"optional,omitempty"`
}

// Params returns the arguments of f.
func (f *Func) Params() []Param { return publicParams(mustParse(f.Signature).Params) }

// Results returns the results of f.
func (f *Func) Results() []Param { return publicParams(mustParse(f.Signature).Returns) }

func publicParams(list []param) []Param {
	out := make([]Param, len(list))
	for i, p := range list {
		out[i] = Param{Name: p.Name, Type: p.Type.Text, Optional: p.Optional}
	}
	return out
}
