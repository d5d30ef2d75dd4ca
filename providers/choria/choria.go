// Package choria renders scaffolds with the scaffold library of the Choria
// project.
//
// The library renders to a scratch directory, which is then compared with the target. Files that
// differ are written to the target through the host. So a look changes nothing, each file is
// replaced in one step, and a scaffold converges below any root.
package choria

import (
	"context"
	"text/template"

	"github.com/CloudyKit/jet/v6"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// An Env has the data of templates.
type Env struct {
	Facts, Data map[string]any
	// Open returns a decrypted part of Data. It is called for the parts that templates name. Nil
	// if nothing in Data is encrypted.
	Open func(val any) (any, error)
	// SealedText is the printed form of a value that is still encrypted.
	SealedText string
	// Lookup returns the value at a path such as facts.os.family, or the fallback if there is
	// none.
	Lookup func(path string, fallback ...any) (any, error)
	// JetFunctions and GoFunctions are further functions of templates. Go templates also have
	// those of Sprig.
	JetFunctions map[string]jet.Func
	GoFunctions  template.FuncMap
}

// lookup is the function lookup of templates. Templates can change tables, so they get copies.
func (e Env) lookup(path string, fallback ...any) (any, error) {
	if e.Lookup == nil {
		return nil, diag.None("data or facts are available here")
	}
	val, err := e.Lookup(path, fallback...)
	return copied(val), err
}

// An Environment returns the data of templates. It is called only when a scaffold is rendered, so
// that facts are gathered only if needed. Calls of it and of Lookup do not overlap. Its result is
// not changed.
type Environment func(ctx context.Context) (Env, error)

// Providers returns what this package provides.
func Providers(env Environment) []resource.Binding {
	return []resource.Binding{resources.ScaffoldType.Provide("choria", suits, &scaffolds{env: env})}
}

func suits(_ *facts.Facts, want resources.Scaffold) (int, error) {
	if want.SourceIsURL() {
		return 0, diag.Expected("a directory as the source").Got("a URL")
	}
	return 1, nil
}

// runner runs a command of post; as a query if the machine must not change.
type runner func(ctx context.Context, c host.Cmd) (host.Result, error)
