package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// Document fills in the documentation of each schema from the doc comments in
// src, the embedded source of the package that declares them. One comment thus
// serves the reader of the code, the reference, the JSON Schema and the editor.
// Objects inside a schema are documented from the same source. Those that were
// made at run time have theirs already.
func Document(src fs.FS, schemas ...*Schema) error {
	names, err := fs.Glob(src, "*.go")
	if err != nil {
		return err
	}
	structs := make(map[string]*ast.GenDecl)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(src, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			gd, ok := d.(*ast.GenDecl)
			if !ok || gd.Tok != token.TYPE {
				continue
			}
			if spec, ok := gd.Specs[0].(*ast.TypeSpec); ok {
				if _, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = gd
				}
			}
		}
	}
	for _, s := range schemas {
		if s.IsDynamic() {
			continue
		}
		if err := s.document(structs); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) document(structs map[string]*ast.GenDecl) error {
	gd, ok := structs[s.GoType.Name()]
	if !ok {
		return fmt.Errorf("schema: %w", diag.None("source for %v", s.GoType))
	}
	s.Doc = strings.TrimSpace(gd.Doc.Text())
	for _, af := range gd.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
		for i := range s.Fields {
			f := &s.Fields[i]
			if len(af.Names) != 1 || f.goName != af.Names[0].Name {
				continue
			}
			f.Doc = userDoc(f, af.Doc.Text())
			for _, obj := range []*Schema{f.Object, f.ElemObject()} {
				if obj != nil {
					if err := obj.document(structs); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// ElemObject returns the properties of the objects in a List or Map, or nil.
func (f *Field) ElemObject() *Schema {
	if f.Elem == nil {
		return nil
	}
	return f.Elem.Object
}

// userDoc converts a Go doc comment, which begins with the name of the Go field, to one that begins
// with the name of the property.
func userDoc(f *Field, text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, f.goName+" "); ok {
		return f.Name + " " + rest
	}
	return text
}

// Describe describes the values of f in a few words, for the reference.
func (f *Field) Describe() string {
	switch {
	case f.Values != nil:
		return strings.Join(f.Values, " | ")
	case f.Pairs:
		return "list of KEY=VALUE, or map"
	case f.Words:
		return "string, or list of words"
	case f.Scalar && f.Kind == String:
		return "string, integer or boolean"
	case f.Kind == List:
		return "list of " + f.Elem.Describe()
	case f.Kind == Map:
		return "map of " + f.Elem.Describe()
	case f.Object != nil:
		return "table"
	case f.Kind == String && elemType(f.goType).Name() != "string":
		return strings.ToLower(elemType(f.goType).Name())
	}
	return f.Kind.String()
}
