// Package std is the standard library of scripts: text, tables, files, data
// formats, versions, addresses. It looks at the machine through the
// [host.View] that it is given and changes nothing; what it looked at is
// recorded as an input of the run.
//
//	str.split("a,b", ",")        json.decode(fs.read("users.json"))
//	data.load("site.yaml")       capture { "uname", "-r" }
//
// Each library is a global table, and a module: str is also what
// require "std.str" returns. It is made when a script first asks for it.
//
// A function is declared once, by a [Func] that stands beside its code: the
// types of its arguments are checked by the signature from which its reference
// is written, and its example is run as a test. [Libraries] has all of them.
//
// Begin with [Options.Extend].
package std

import (
	"log/slog"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/runtime/template"
)

// Options are the environment of the library.
type Options struct {
	// View is the machine to converge. Absolute paths are on it.
	View *host.View
	// ScriptView is the machine with the script. Relative paths are on it. Nil means View.
	ScriptView *host.View
	// Cwd is the working directory, for ccm.abs and ccm.cwd.
	Cwd string
	// Log takes the messages of log.info and similar functions; nil drops them.
	Log *slog.Logger
	// Record is called with the inputs of the script; may be nil.
	Record func(Input)
	// Data is the data of the script, for the table data.
	Data map[string]any
	// Resolve returns the data of a hierarchy document. Nil refuses data.load.
	Resolve func(file, text string) (map[string]any, error)
	// Decrypt returns the content of an encrypted file. Nil refuses secret.age.
	Decrypt func(name string, text []byte) ([]byte, error)
	// Open decrypts a text of a document. Nil leaves encrypted texts unchanged.
	Open data.Opener
	// CheckTrust returns the reason why a document beside the script is not trusted. Nil trusts all.
	CheckTrust func(path string) error
	// Templates returns the environment of expressions and templates that see the given data, with
	// relative paths beginning at dir. Nil refuses them.
	Templates func(data map[string]any, dir string) *template.Env
	// Registrations finds services in the registry. Nil refuses registrations.
	Registrations func(cluster, protocol, service, address string) (registration.Entries, error)
}

// An Input is a source outside of the script that the script's result depends on.
type Input struct {
	// Kind is file, stat, list, glob, command, http or data.
	Kind string
	// Name is the path, the pattern, the command or the URL.
	Name string
	// Value is what was found: a SHA-256 of what was read, or the result of a look.
	Value string
	// Text is what was read or given, for Record to search for secrets.
	Text string
	// Secret is set if the whole input is a secret. It has no Value.
	Secret bool
}

// Limits on single values. A script that exceeds them likely has a mistake.
const (
	maxString = 64 << 20 // bytes in one string
	maxItems  = 4 << 20  // values that one call makes
	maxDepth  = 1000     // tables inside one another
)

// An instance is the library in one interpreter.
type instance struct {
	Options
	in       *luaapi.Interp
	null     *lua.LUserData // json.null
	array    *lua.LTable    // the metatable of tables that are lists even if empty
	patterns map[string]*pattern
	marks    *pathMarks
	tree     map[string]any    // the content of data
	branches *lua.LTable       // of data, values that were read already
	sops     map[string]string // outputs of sops, by its command
}

// Extend adds the library to an interpreter. It is for luaapi.Options.Extend.
func (o Options) Extend(in *luaapi.Interp) {
	if o.ScriptView == nil {
		o.ScriptView = o.View
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Record == nil {
		o.Record = func(Input) {}
	}
	s := &instance{Options: o, in: in, tree: o.Data}
	for _, l := range index {
		in.Define(l.name, "std."+l.name, func(L *lua.LState) lua.LValue { return l.open(s, L) })
	}
	s.fields()
}
