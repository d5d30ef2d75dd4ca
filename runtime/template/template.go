// Package template evaluates the expressions in manifests and data: ${ ... }
// and {{ ... }} in any text, in the language of expr-lang, and whole templates
// in Jet.
//
// A text that is one expression has the value of the expression, with its type. In any
// other text the values are inserted as text. Results are not evaluated again. A name
// that does not exist is an error, unless there is a default: lookup(path, default),
// Data.x ?? default, Data?.x.
//
// Expressions see
//
//	Facts, facts                      the facts of the machine
//	Data, data                        the data of the user
//	Environ, environ, env             the environment and ./.env
//	lookup(path, default)             any of them by a GJSON path: facts.os.family
//	file(path), readFile(path)        the content of a file beside the manifest
//	template(text), template("x.templ")
//	jet(text), jet("x.jet"), jet(text, left, right)
//	now()                             the time at which the run began
//
// Facts are gathered only where an expression asks for them.
//
// Begin with [New] and [Env.Expand].
package template

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// Options are what expressions see. All of them may be left out.
type Options struct {
	Facts   *facts.Facts
	Data    map[string]any
	Environ map[string]string
	// Vars are further variables, by name.
	Vars map[string]any
	// Dir is where relative paths begin.
	Dir string
	// ReadFile reads a file of the user. Without it, expressions have no
	// functions that read files.
	ReadFile func(path string) ([]byte, error)
	// Now is the time that now() gives.
	Now func() time.Time
	// Check is called regularly during an evaluation, which ends with its error. May be
	// nil.
	Check func() error
}

// An Env evaluates expressions. It is not safe for use by several goroutines.
type Env struct {
	o     Options
	vars  map[string]any
	depth int // of templates that read templates
	usage usage
	json  map[string]string
	// programs are shared by all copies of an Env that know the same names.
	programs map[string]*vm.Program
}

// New returns an Env.
func New(o Options) *Env {
	if o.Facts == nil {
		o.Facts = facts.Static(nil)
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	e := &Env{o: o, programs: make(map[string]*vm.Program)}
	e.vars = e.variables()
	return e
}

// With returns a copy of e that sees other data, and in which relative paths
// begin at dir.
func (e *Env) With(data map[string]any, dir string) *Env {
	o := e.o
	o.Data, o.Dir = data, dir
	c := &Env{o: o, programs: e.programs, depth: e.depth}
	c.vars = c.variables()
	return c
}

// ForData returns an Env for the expressions in data files, which see no data and read
// no files.
func (e *Env) ForData() *Env {
	o := e.o
	o.Data, o.ReadFile = nil, nil
	return New(o)
}

// Data returns the data that expressions see.
func (e *Env) Data() map[string]any { return e.o.Data }

// An Error is a mistake in a text: in the bytes from Offset on, Length of them.
type Error struct {
	Offset, Length int
	Err            *diag.Error // has a place only if it lies in another file
}

// Error returns the message.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its offset.
func (e *Error) Unwrap() error { return e.Err }

// Span returns the bytes of the text that are to blame.
func (e *Error) Span() (offset, length int) { return e.Offset, e.Length }

// asDiag returns err as a diag.Error.
func asDiag(err error) *diag.Error {
	if d, ok := errors.AsType[*diag.Error](err); ok {
		return d
	}
	return &diag.Error{Err: err}
}

// A root is a tree that paths begin with.
type root string

const (
	factsRoot   root = "facts"
	dataRoot    root = "data"
	environRoot root = "env"
)

// roots are the names of the trees, in paths and as variables.
var roots = map[string]root{
	"facts": factsRoot, "Facts": factsRoot,
	"data": dataRoot, "Data": dataRoot,
	"env": environRoot, "environ": environRoot, "Environ": environRoot,
}

// tree returns a whole tree.
func (e *Env) tree(r root) (map[string]any, error) {
	switch r {
	case factsRoot:
		return e.o.Facts.Tree()
	case dataRoot:
		if e.o.Data == nil {
			return map[string]any{}, nil
		}
		return e.o.Data, nil
	}
	env := make(map[string]any, len(e.o.Environ))
	for k, v := range e.o.Environ {
		env[k] = v
	}
	return env, nil
}

// A notFoundError says that there is nothing at a path.
type notFoundError struct {
	what  string // "no fact os.familly"
	part  string
	known []string
}

func (e *notFoundError) Error() string { return e.what }

// IsMissing reports whether an error says that there is nothing at a path.
func IsMissing(err error) bool {
	_, ok := errors.AsType[*notFoundError](err)
	return ok
}

func notFound(r root, path []string, n int, known []string) error {
	kind := map[root]string{factsRoot: "fact", dataRoot: "data", environRoot: "environment variable"}[r]
	return &notFoundError{fmt.Sprintf("no %s %q", kind, strings.Join(path, ".")), path[n], known}
}

// get returns what is at a path in a tree. Of the facts it gathers only the
// branch that is asked for.
func (e *Env) get(r root, path []string) (any, error) {
	if len(path) == 0 {
		return e.tree(r)
	}
	var val any
	switch r {
	case factsRoot:
		v, err := e.o.Facts.Branch(path[0])
		if nf, ok := errors.AsType[*facts.NotFoundError](err); ok {
			return nil, notFound(r, path, 0, nf.Known)
		}
		if err != nil {
			return nil, err
		}
		val = v
	case dataRoot:
		v, ok := e.o.Data[path[0]]
		if !ok {
			return nil, notFound(r, path, 0, slices.Sorted(maps.Keys(e.o.Data)))
		}
		val = v
	default:
		v, ok := e.o.Environ[path[0]]
		if !ok {
			return nil, notFound(r, path, 0, slices.Sorted(maps.Keys(e.o.Environ)))
		}
		val = v
	}
	for i, step := range path[1:] {
		next, known, ok := child(val, step)
		if !ok {
			return nil, notFound(r, path, i+1, known)
		}
		val = next
	}
	return val, nil
}

// child returns the value under one name or number of a tree, or what is there
// instead.
func child(val any, step string) (next any, known []string, ok bool) {
	switch x := val.(type) {
	case map[string]any:
		if next, ok = x[step]; !ok {
			known = slices.Sorted(maps.Keys(x))
		}
	case []any:
		if i, isNumber := index(step); isNumber && i < len(x) {
			next, ok = x[i], true
		}
	}
	return next, known, ok
}

// index reads a position in a list, counted from 0.
func index(s string) (int, bool) {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// readFile reads a file, relative to the directory of the manifest.
func (e *Env) readFile(path string) (string, error) { return e.open("file", e.path(path)) }

func (e *Env) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.o.Dir, path)
}
