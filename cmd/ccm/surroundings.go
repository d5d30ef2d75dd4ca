package main

import (
	"context"
	"os"
	"strings"

	"github.com/luaccm/ccm/providers/choria"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/template"
)

// surroundings are what templates see of the machine and of the site. They are
// known only after providers have been chosen from, so providers hold this.
type surroundings struct {
	facts *facts.Facts
	data  map[string]any // what the user configured; nil if nothing
	clock host.Clock
	// instead has providers that stand in for all others of their types; tests have
	// some.
	instead []resource.Factory
}

// environment gathers the facts for the templates of scaffolds.
func (s *surroundings) environment(context.Context) (choria.Env, error) {
	tree, err := s.facts.Tree()
	if err != nil {
		return choria.Env{}, err
	}
	env := template.New(template.Options{Facts: s.facts, Data: s.data, Environ: environ(), Now: s.clock.Now})
	return choria.Env{Facts: tree, Data: s.data, Lookup: env.Lookup}, nil
}

// environ returns the environment of this process.
func environ() map[string]string {
	vars := make(map[string]string)
	for _, entry := range os.Environ() {
		key, val, _ := strings.Cut(entry, "=")
		vars[key] = val
	}
	return vars
}
