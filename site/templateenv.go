package site

import (
	"context"
	"os"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/providers/choria"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/template"
)

// A TemplateEnv has the facts, data and clock for templates. They are known only after the
// providers were made, so providers hold a pointer to it.
type TemplateEnv struct {
	Facts *facts.Facts
	Data  map[string]any // data of the user; nil for none
	Clock host.Clock

	process *Process // for its providers; nil for none
	// servers completes the options of templates that may ask servers; nil if they must not.
	servers func(*template.Options)
	// shipped is the interpreter of shipped types, and what they were found for.
	shipped struct {
		in       *luaapi.Interp
		registry *resource.Registry
		facts    *facts.Facts
	}
}

// scaffold returns the facts, data and functions for the templates of scaffolds.
func (e *TemplateEnv) scaffold(context.Context) (choria.Env, error) {
	tree, err := e.Facts.Tree()
	if err != nil {
		return choria.Env{}, err
	}
	o := template.Options{Facts: e.Facts, Data: e.Data, Environ: Environ(), Now: e.Clock.Now}
	if e.servers != nil {
		e.servers(&o)
	}
	env := template.New(o)
	// Sprig has the other functions under the same names.
	more := make(map[string]any)
	for name, f := range env.GoFunctions() {
		switch name {
		case "to_json", "to_yaml", "kvGet", "registrations":
			more[name] = f
		}
	}
	out := choria.Env{Facts: tree, Data: e.Data, Lookup: env.Lookup, JetFunctions: env.JetFunctions(), GoFunctions: more}
	if data.HoldsSealed(e.Data) {
		out.Open, out.SealedText = data.Unseal, data.SealedText
	}
	return out, nil
}

// Environ returns the environment of this process.
func Environ() map[string]string {
	vars := make(map[string]string)
	for _, entry := range os.Environ() {
		key, val, _ := strings.Cut(entry, "=")
		vars[key] = val
	}
	return vars
}
