// Package choria renders scaffolds with the scaffold library of the Choria
// project.
//
// The library renders to a scratch directory, which is then compared with the
// target; the files that differ get their places through the host. So a look
// changes nothing, each file is replaced in one step, and a scaffold converges
// below any root.
package choria

import (
	"context"
	"errors"
	"text/template"

	"github.com/CloudyKit/jet/v6"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// An Env has the data of templates.
type Env struct {
	Facts, Data map[string]any
	// Open returns a part of Data in which nothing is encrypted any more. It is called for the parts that
	// templates name. Nil if nothing in Data is encrypted.
	Open func(val any) (any, error)
	// SealedText is how a value prints that is still encrypted.
	SealedText string
	// Lookup returns what is at a path such as facts.os.family, or the fallback
	// if there is nothing.
	Lookup func(path string, fallback ...any) (any, error)
	// JetFunctions and GoFunctions are further functions of templates. Templates of Go have
	// those of Sprig besides.
	JetFunctions map[string]jet.Func
	GoFunctions  template.FuncMap
}

// lookup is the function of templates. They can change tables, so they are
// given copies.
func (e Env) lookup(path string, fallback ...any) (any, error) {
	if e.Lookup == nil {
		return nil, errors.New("there is nothing to look up")
	}
	val, err := e.Lookup(path, fallback...)
	return copied(val), err
}

// An Environment returns what templates see. It is called whenever a scaffold is
// rendered, and never otherwise, so that facts are gathered only where they are
// needed. Calls, and those of Lookup, do not overlap. What it returns is not
// changed.
type Environment func(ctx context.Context) (Env, error)

// Providers returns what this package provides.
func Providers(env Environment) []resource.Binding {
	return []resource.Binding{resources.ScaffoldType.Provide("choria", suits, &scaffolds{env: env})}
}

func suits(_ *facts.Facts, want resources.Scaffold) (int, error) {
	if want.SourceIsURL() {
		return 0, errors.New("want a directory as the source, got a URL")
	}
	return 1, nil
}

// runner runs a command of post: as a query where the machine is only looked at.
type runner func(ctx context.Context, c host.Cmd) (host.Result, error)
