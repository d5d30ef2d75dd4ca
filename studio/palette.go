package studio

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/report/graph"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/reference"
	"github.com/luaccm/ccm/studio/model"
)

// A vocabulary has the types that ship with ccm, with their documentation. It is made once, because
// making it takes longer than an edit.
type vocabulary struct {
	palette *Types
	names   model.Types
}

// words returns the vocabulary.
var words = sync.OnceValue(func() *vocabulary {
	v, err := newVocabulary()
	if err != nil {
		return &vocabulary{palette: newTypes()} // the types of this program are declared wrongly: tests say so
	}
	return v
})

func newVocabulary() (*vocabulary, error) {
	reg, err := site.Documented()
	if err != nil {
		return nil, err
	}
	v := &vocabulary{palette: newTypes(), names: model.Types{}}
	builtIn, library := reg.Types(), []*resource.Type(nil)
	site.AddShipped(reg)
	for _, t := range reg.Types() {
		if !slices.Contains(builtIn, t) {
			library = append(library, t)
		}
		named := modelType(t)
		if !slices.Contains(builtIn, t) {
			named.Module = "std." + t.Name
		}
		v.names[t.Name] = named
	}
	v.palette.add("Built in", builtIn, func(*resource.Type) string { return "" })
	v.palette.add("Standard library", library, func(t *resource.Type) string { return "std." + t.Name })
	return v, nil
}

func modelType(t *resource.Type) model.Type {
	f := t.Schema().Name()
	if f == nil {
		return model.Type{}
	}
	return model.Type{NameProperties: slices.Concat([]string{f.Name}, f.Aliases)}
}

// shippedTypes returns the types that ship with ccm, in the form for models.
func shippedTypes() model.Types { return words().names }

// serveTypes answers GET /api/types.
func (s *Server) serveTypes(w http.ResponseWriter, r *http.Request) {
	var files []File // a directory that is not trusted has no modules
	if s.gate.isTrusted() {
		files, _ = s.directory.list()
	}
	respond(w)(s.evaluator.palette(r.Context(), files), nil)
}

// palette returns the types that ship with ccm, and those that modules of the site define.
func (e *evaluator) palette(ctx context.Context, files []File) *Types {
	shipped := words().palette
	out := &Types{Defs: maps.Clone(shipped.Defs), Groups: slices.Clone(shipped.Groups), Mistakes: []Mistake{}}
	var modules []siteModule
	for _, f := range files {
		if name, ok := moduleName(f); ok {
			modules = append(modules, siteModule{name, f.Name})
		}
	}
	if modules == nil {
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found, err := e.ask(ctx, &request{Modules: modules})
	if err != nil {
		out.Mistakes = append(out.Mistakes, Mistake{File: modules[0].File, Message: errText(err), Severity: "error"})
		return out
	}
	out.Mistakes = append(out.Mistakes, found.Palette.Mistakes...)
	for _, g := range found.Palette.Groups {
		g.Types = slices.DeleteFunc(g.Types, func(t TypeRow) bool { return shipped.Defs[t.Name] != nil })
		for _, t := range g.Types {
			out.Defs[t.Name] = found.Palette.Defs[t.Name]
		}
		if len(g.Types) > 0 {
			out.Groups = append(out.Groups, g)
		}
	}
	return out
}

func newTypes() *Types { return &Types{Defs: map[string]json.RawMessage{}, Mistakes: []Mistake{}} }

// add adds a group of the palette.
func (out *Types) add(title string, types []*resource.Type, module func(*resource.Type) string) {
	group := TypeGroup{Title: title, Types: []TypeRow{}}
	for _, t := range types {
		text, err := json.Marshal(t.Properties().JSONSchema())
		if err != nil {
			continue // a schema is plain data
		}
		out.Defs[t.Name] = text
		row := TypeRow{Name: t.Name, Hue: graph.Hue(t.Name), Short: reference.ShortOf(t), Module: module(t)}
		if f := t.Schema().Name(); f != nil {
			row.NameProperty, row.Example = f.Name, f.Example
		}
		group.Types = append(group.Types, row)
	}
	if len(group.Types) > 0 {
		out.Groups = append(out.Groups, group)
	}
}

// moduleName returns the name by which a script requires a file.
func moduleName(f File) (string, bool) {
	if f.Kind != "module" || strings.HasPrefix(f.Name, "meta/") {
		return "", false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(f.Name, "lib/"), ".lua")
	if path.Base(name) == "init" {
		name = path.Dir(name)
	}
	return terminal.Line(strings.ReplaceAll(name, "/", ".")), true
}
