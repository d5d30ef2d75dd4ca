package lint

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/template"
)

// template reports a Jet template with the delimiters that Jet uses by default, if the text or the
// path of its file is literal.
func (s *scan) template(e *ast.FuncCallExpr) {
	if len(e.Args) == 0 {
		return
	}
	arg, engine := e.Args[0], ""
	if len(e.Args) > 2 {
		options, ok := e.Args[2].(*ast.TableExpr)
		if !ok || len(options.Fields) != 1 {
			return // the options may set delimiters
		}
		key, _ := options.Fields[0].Key.(*ast.StringExpr)
		value, _ := options.Fields[0].Value.(*ast.StringExpr)
		if key == nil || key.Value != "engine" || value == nil {
			return
		}
		engine = value.Value
	}
	text, _ := arg.(*ast.StringExpr)
	switch s.library(e) {
	case "template.jet":
		if text != nil {
			s.delims(arg, "the template", text.Value)
		} else if read, ok := arg.(*ast.FuncCallExpr); ok && s.library(read) == "fs.read" && len(read.Args) > 0 {
			if path, ok := read.Args[0].(*ast.StringExpr); ok {
				s.delimsOf(path, fromScript(s.p.Name, path.Value))
			}
		}
	case "template.render":
		if text != nil && (engine == "jet" || engine == "" && strings.HasSuffix(text.Value, ".jet")) {
			s.delimsOf(arg, fromScript(s.p.Name, text.Value))
		}
	}
}

// library returns the library function that e calls, such as fs.read, or "".
func (s *scan) library(e *ast.FuncCallExpr) string {
	if get, ok := e.Func.(*ast.AttrGetExpr); ok {
		if key, ok := get.Key.(*ast.StringExpr); ok {
			return s.global(get.Object) + "." + key.Value
		}
	}
	return ""
}

// fromScript returns a path with relative paths beginning at the directory of the script.
func fromScript(script, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(script), path)
}

// delimsOf reports a file that is a template with such delimiters. An unreadable file is no
// mistake: it may exist on another machine.
func (s *scan) delimsOf(at ast.PositionHolder, file string) {
	if s.l.ReadFile == nil {
		return
	}
	if text, err := s.l.ReadFile(file); err == nil {
		s.delims(at, file, string(text))
	}
}

func (s *scan) delims(at ast.PositionHolder, what, text string) {
	if err, ok := errors.AsType[*diag.Error](template.CheckDelims(what, text)); ok {
		s.report(Template, s.p.Pos(at), err.Hint, "%w", err.Err)
	}
}

// scaffold reports the templates of a scaffold that have the default delimiters of
// Jet, which a scaffold does not use.
func (d *declaration) scaffold() {
	table := d.s.p.Properties(d.call)
	if d.t.Name != "scaffold" || table == nil || slices.Contains(d.properties, "left_delimiter") {
		return
	}
	var source *ast.StringExpr
	for _, f := range table.Fields {
		key, _ := f.Key.(*ast.StringExpr)
		value, literal := f.Value.(*ast.StringExpr)
		switch {
		case key == nil:
		case key.Value == "engine" && (!literal || value.Value != "jet"):
			return
		case key.Value == "source" && literal:
			source = value
		}
	}
	if source == nil {
		return
	}
	files, _ := FilesBelow(fromScript(d.s.p.Name, source.Value), "", nil)
	for _, file := range files {
		d.s.delimsOf(source, file)
	}
}
