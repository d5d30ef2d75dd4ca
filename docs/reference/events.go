package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/luaccm/ccm/runtime/report"
)

// An object is a JSON object that reports have.
type object struct {
	heading, intro string
	file, name     string // where the struct is declared
}

var objects = []object{
	{"Event", "What became of one resource. Its `protocol` is `" + report.EventProtocol + "`.", "runtime/report/json.go", "Event"},
	{"Difference", "An item of `diff`.", "runtime/resource/resource.go", "Delta"},
	{"Forecast", "The `forecast` of an unknown resource.", "runtime/report/forecast.go", "Forecast"},
	{"Health check", "An item of `health_checks`.", "runtime/report/json.go", "HealthCheck"},
	{"Pending refresh", "An item of `left_over` and of `dropped_refreshes`.", "runtime/report/json.go", "PendingRefresh"},
	{"Line of output", "With `--stream`, a line that a command has written. Its `protocol` is `" + report.OutputProtocol + "`.", "runtime/report/json.go", "Output"},
	{"Summary", "The last object. Its `protocol` is `" + report.SummaryProtocol + "`.", "runtime/report/json.go", "Summary"},
}

// eventsPage returns the page about the objects of reports.
func (s Source) eventsPage() (string, error) {
	p := page{root: "../"}
	p.printf("# Events")
	p.printf("`ccm run --output json`, `plan`, `drift`, `undo` and `restore` print one object per line: an event for each resource, then a summary.")
	p.console("$ ccm run --output json site.lua")
	p.printf("Optional fields are omitted if they are empty. `ccm docs --schema event` prints the [JSON Schema](schemas.md) of events. [ensure.md](../ensure.md#output-of-runs-for-programs) shows how programs use them.")
	for _, o := range objects {
		fields, err := fieldsOf(filepath.Join(s.Repository, filepath.FromSlash(o.file)), o.name)
		if err != nil {
			return "", err
		}
		p.printf("## %s", o.heading)
		p.printf("%s", o.intro)
		p.printf("| field | type | meaning |\n|---|---|---|\n%s", strings.Join(fields, ""))
	}
	return p.String(), nil
}

// fieldsOf returns the rows of a table of the fields of a struct in a file of Go.
func fieldsOf(file, name string) (rows []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != name {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			key, options, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			kind := jsonType(field.Type)
			if strings.Contains(options, "omit") {
				kind += ", or left out"
			}
			meaning := strings.Join(strings.Fields(field.Doc.Text()), " ")
			if meaning == "" {
				err = fmt.Errorf("%s: %s.%s has no comment", file, name, field.Names[0].Name)
			}
			meaning = strings.TrimPrefix(meaning, field.Names[0].Name+" ")
			meaning = strings.TrimPrefix(strings.TrimPrefix(meaning, "is "), "are ")
			rows = append(rows, "| `"+key+"` | "+kind+" | "+cell(prose(begun(meaning)))+" |\n")
		}
		return false
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s has no struct %s", file, name)
	}
	return rows, err
}

// jsonType describes in the words of the reference what a value of a Go type becomes in JSON.
func jsonType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return jsonType(e.X)
	case *ast.ArrayType:
		return "list of " + jsonType(e.Elt)
	case *ast.MapType:
		return "map of " + jsonType(e.Value)
	case *ast.SelectorExpr:
		switch e.Sel.Name {
		case "Time":
			return "time"
		case "Duration":
			return "int"
		}
		return "object"
	case *ast.Ident:
		if ast.IsExported(e.Name) {
			return "object"
		}
		return e.Name
	}
	return "any"
}
