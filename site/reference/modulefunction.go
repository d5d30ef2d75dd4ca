package reference

import (
	"io"
	"slices"
	"strings"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/terminal"
)

// A ModuleFunction is a function of a module of a site, described by the comment above it.
type ModuleFunction struct {
	Module     string   `json:"module"`
	Name       string   `json:"name"` // nginx.vhost
	Parameters []string `json:"parameters"`
	Doc        string   `json:"doc"`
}

// FunctionsOf returns the functions of a module in order of name, given its functions by field.
func FunctionsOf(module string, functions map[string]luaapi.Function) (list []ModuleFunction) {
	for field, f := range functions {
		list = append(list, ModuleFunction{Module: module, Name: module + "." + field, Parameters: f.Parameters, Doc: f.Comment})
	}
	slices.SortFunc(list, func(a, b ModuleFunction) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// FindFunctions returns the reference of a function, or of all functions of a module. It is not
// ok if the topic is neither a module in the list nor a function of one.
func FindFunctions(list []ModuleFunction, topic string) (ref Reference, ok bool, err error) {
	var found []ModuleFunction
	var names []string
	within := ""
	for _, f := range list {
		if f.Name == topic || f.Module == topic {
			found = append(found, f)
		}
		if strings.HasPrefix(topic, f.Module+".") {
			within = f.Module
		}
		names = append(names, f.Name)
	}
	switch {
	case len(found) > 0:
		return Reference{func(w io.Writer) { WriteFunctions(w, found) }, found}, true, nil
	case within == "":
		return ref, false, nil
	}
	err = diag.At(diag.Pos{}, diag.None("function %q in module %s", strings.TrimPrefix(topic, within+"."), within))
	err.(*diag.Error).Hint = diag.DidYouMean(topic, names)
	return ref, true, err
}

// WriteFunctions writes the documentation of functions in the words of their authors.
func WriteFunctions(w io.Writer, list []ModuleFunction) {
	for i, f := range list {
		if i > 0 {
			terminal.Fprintf(w, "\n")
		}
		terminal.Fprintf(w, "%s(%s)\n", f.Name, strings.Join(f.Parameters, ", "))
		for line := range strings.Lines(f.Doc) { // lists in a comment stay lists
			terminal.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
}
