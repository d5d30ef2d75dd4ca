package template

import (
	"fmt"
	"reflect"

	"github.com/CloudyKit/jet/v6"
	"github.com/nikolalohinski/gonja/v2/exec"

	"github.com/luaccm/ccm/runtime/diag"
)

// A remoteFunction asks a server. Its name and arguments are the same in all languages.
type remoteFunction func(args []any) (any, error)

// remoteFunctions returns the functions of expressions and templates that ask servers, as far as
// the options have them.
func (e *Env) remoteFunctions() map[string]remoteFunction {
	funcs := make(map[string]remoteFunction)
	if e.o.KVGet != nil {
		funcs["kvGet"] = e.kvGet
	}
	if e.o.Registrations != nil {
		funcs["registrations"] = e.registrations
	}
	return funcs
}

// kvGet reads a value of a key-value bucket.
func (e *Env) kvGet(args []any) (any, error) {
	text, err := textArguments("kvGet", args, "a bucket", "a key")
	if err != nil {
		return nil, err
	}
	val, err := e.o.KVGet(text[0], text[1])
	if err != nil {
		return nil, fmt.Errorf("kvGet: %w", err)
	}
	return val, nil
}

// registrations finds services in the registry.
func (e *Env) registrations(args []any) (any, error) {
	text, err := textArguments("registrations", args, "a cluster or *", "a protocol or *", "a service or *", "an address or *")
	if err != nil {
		return nil, err
	}
	list, err := e.o.Registrations(text[0], text[1], text[2], text[3])
	if err != nil {
		return nil, fmt.Errorf("registrations: %w", err)
	}
	return list, nil
}

// textArguments returns the arguments of a function as texts. Want names the arguments for
// messages.
func textArguments(name string, args []any, want ...string) ([]string, error) {
	if len(args) != len(want) {
		return nil, fmt.Errorf("%s: %w", name, diag.Expected("%s", enumerate(want)).Got("%d values", len(args)))
	}
	list := make([]string, len(args))
	for i, what := range want {
		s, ok := args[i].(string)
		if !ok || s == "" {
			return nil, fmt.Errorf("%s: %w", name, diag.Expected("%s", what).Got("%s", describe(args[i])))
		}
		list[i] = s
	}
	return list, nil
}

// enumerate joins words as a sentence does.
func enumerate(words []string) (text string) {
	for i, w := range words {
		switch i {
		case 0:
		case len(words) - 1:
			text += " and "
		default:
			text += ", "
		}
		text += w
	}
	return text
}

// jetRemote returns the functions that ask servers, for Jet.
func (e *Env) jetRemote() map[string]jet.Func {
	funcs := make(map[string]jet.Func)
	for name, f := range e.remoteFunctions() {
		funcs[name] = func(a jet.Arguments) reflect.Value { return callFromJet(a, f) }
	}
	return funcs
}

// JinjaFunctions returns the functions that ask servers, as variables of a Jinja template.
func (e *Env) JinjaFunctions() map[string]any {
	vars := make(map[string]any)
	for name, f := range e.remoteFunctions() {
		vars[name] = func(_ *exec.Evaluator, params *exec.VarArgs) *exec.Value {
			args := make([]any, len(params.Args))
			for i, v := range params.Args {
				args[i] = v.Interface()
			}
			val, err := f(args)
			if err != nil {
				return exec.AsValue(err)
			}
			return exec.AsValue(val)
		}
	}
	return vars
}
