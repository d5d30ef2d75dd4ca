package site

import (
	"context"
	"os"
	"strings"

	"github.com/luaccm/ccm/providers/choria"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/template"
)

// A TemplateEnv has the facts, data and clock that templates read. It is known
// only after the providers have been made, so they hold a pointer to it.
type TemplateEnv struct {
	Facts *facts.Facts
	Data  map[string]any // what the user configured; nil if nothing
	Clock host.Clock

	substitutes []resource.Binding // see Process
}

// scaffold gathers the facts for the templates of scaffolds.
func (e *TemplateEnv) scaffold(context.Context) (choria.Env, error) {
	tree, err := e.Facts.Tree()
	if err != nil {
		return choria.Env{}, err
	}
	env := template.New(template.Options{Facts: e.Facts, Data: e.Data, Environ: Environ(), Now: e.Clock.Now})
	// Sprig has the others, under the same names.
	goFuncs := env.GoFunctions()
	more := map[string]any{"to_json": goFuncs["to_json"], "to_yaml": goFuncs["to_yaml"]}
	out := choria.Env{Facts: tree, Data: e.Data, Lookup: env.Lookup, JetFunctions: env.JetFunctions(), GoFunctions: more}
	if data.HoldsSealed(e.Data) {
		out.Open, out.Sealed = data.Unseal, data.SealedText
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
