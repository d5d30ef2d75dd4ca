package template

import "io"

// WithVars returns a copy of e with vars as further variables.
func (e *Env) WithVars(vars map[string]any) *Env {
	o := e.o
	o.Vars = vars
	return makeEnv(o, e.known.variant(signature(vars)))
}

// Jet renders a Jet template whose delimiters are left and right. File is the path of the text, ""
// without one. ReadFile reads included templates.
func (e *Env) Jet(file, text, left, right string) (string, error) {
	out, err := e.render(file, text, left, right, func(w io.Writer, b []byte) { _, _ = w.Write(b) })
	return out.Text, err
}
