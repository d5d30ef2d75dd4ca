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
//	kvGet(bucket, key)                a value of a key-value bucket of NATS
//	registrations(cluster, protocol, service, address)   services of the registry
//
// Facts are gathered only where an expression asks for them.
//
// Begin with [New] and [Env.Expand].
package template

import (
	"errors"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// Options are the environment of expressions. All of them are optional.
type Options struct {
	Facts   *facts.Facts
	Data    map[string]any
	Environ map[string]string
	// Vars are further variables, by name.
	Vars map[string]any
	// Dir is the start of relative paths.
	Dir string
	// ReadFile reads a file of the user. Without it, expressions have no
	// functions that read files.
	ReadFile func(path string) ([]byte, error)
	// KVGet returns the value of a key in a key-value bucket. Without it, there is no kvGet().
	KVGet func(bucket, key string) (string, error)
	// Registrations finds services in the registry, as a value for templates. Without it, there is no
	// registrations().
	Registrations func(cluster, protocol, service, address string) (any, error)
	// Now is the time that now() gives.
	Now func() time.Time
	// Check is called regularly during an evaluation; its error ends the evaluation. May be nil.
	Check func() error
}

// An Env evaluates expressions. It is not safe for concurrent use.
type Env struct {
	o     Options
	trees *trees
	files userFiles
	vars  map[string]any // see variables
	depth int            // of templates that read templates
	usage usage
	known *knownNames
}

// New returns an Env.
func New(o Options) *Env {
	if o.Facts == nil {
		o.Facts = facts.Static(nil)
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	return makeEnv(o, new(knownNames))
}

func makeEnv(o Options, known *knownNames) *Env {
	return &Env{
		o: o, trees: &trees{facts: o.Facts, data: o.Data, environ: o.Environ}, files: userFiles{dir: o.Dir, fileReader: o.ReadFile},
		usage: usage{check: o.Check}, known: known,
	}
}

// With returns a copy of e that sees other data, and in which relative paths
// begin at dir.
func (e *Env) With(data map[string]any, dir string) *Env {
	o := e.o
	o.Data, o.Dir = data, dir
	c := makeEnv(o, e.known)
	c.depth = e.depth
	return c
}

// ForData returns an Env for the expressions in data files, which see no data and read
// no files.
func (e *Env) ForData() *Env {
	o := e.o
	o.Data, o.ReadFile = nil, nil
	return New(o)
}

// Limited returns a copy of e that sees the environment only if environ is set, asks servers
// only if servers is, and reads only the files that mayRead has nothing against; nil is for all.
func (e *Env) Limited(environ, servers bool, mayRead func(path string) error) *Env {
	o, known := e.o, e.known
	if !servers {
		o.KVGet, o.Registrations = nil, nil
		known = known.variant("no servers")
	}
	if !environ {
		o.Environ = map[string]string{}
	}
	if read := o.ReadFile; read != nil && mayRead != nil {
		o.ReadFile = func(path string) ([]byte, error) {
			if err := mayRead(path); err != nil {
				return nil, err
			}
			return read(path)
		}
	}
	c := makeEnv(o, known)
	c.depth = e.depth
	return c
}

// Data returns the data that expressions see.
func (e *Env) Data() map[string]any { return e.o.Data }

// An Error is a mistake in a text, in the Length bytes from Offset on.
type Error struct {
	Offset, Length int
	Err            *diag.Error // has a place only if that is in another file
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
