package template

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/CloudyKit/jet/v6"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
	"github.com/luaccm/ccm/runtime/template/blocks"
)

// An Output is the text that a template has written.
type Output struct {
	Text string
	// Lines has for each line of the text the line of the template that wrote it.
	Lines []Line
}

// A Line is a line of a template.
type Line struct {
	File string
	Line int
}

// Inert is inserted behind each $ and { of a value that is rendered into a manifest, so that data
// does not become an expression. It is a noncharacter of Unicode, which texts do not contain. See
// [Clean].
const Inert = "\uFDD2"

// Clean removes every [Inert] from a text.
func Clean(text string) string { return strings.ReplaceAll(text, Inert, "") }

// RenderManifest renders the Jet template of resources_jet_file.
func (e *Env) RenderManifest(file, text string) (Output, error) {
	return e.render(file, text, "[[", "]]", func(w io.Writer, b []byte) {
		for i, c := range b {
			_, _ = w.Write(b[i : i+1])
			if c == '$' || c == '{' {
				_, _ = io.WriteString(w, Inert)
			}
		}
	})
}

// jet is the function jet(text), jet(path), jet(text, left, right) of
// expressions.
func (e *Env) jet(text string, delims ...string) (string, error) {
	left, right := JetLeft, JetRight
	switch len(delims) {
	case 0:
	case 2:
		left, right = delims[0], delims[1]
	default:
		return "", fmt.Errorf("jet: %w", diag.Expected("a template and optionally both delimiters").Got("%d values", len(delims)+1))
	}
	file := ""
	if strings.HasSuffix(text, ".jet") {
		file = e.files.path(text)
		body, err := e.files.open("jet", file)
		if err != nil {
			return "", err
		}
		text = body
	}
	if len(delims) == 0 {
		if err := CheckDelims("the template", text); err != nil {
			return "", err
		}
	}
	out, err := e.render(file, text, left, right, func(w io.Writer, b []byte) { _, _ = w.Write(b) })
	return out.Text, err
}

// inline is the path of a template that has no file.
const inline = "/template"

func (e *Env) render(file, text, left, right string, put jet.SafeWriter) (out Output, err error) {
	leave, err := e.enterTemplate(file)
	if err == nil {
		err = errors.Join(CheckTemplate(text), checkActions(text, left, right))
	}
	if err != nil {
		return out, err
	}
	defer leave()
	defer e.usage.begin()()
	r := &renderer{env: e, sealed: e.trees.isSealed(), out: new(output)}
	defer func() { // Jet lets the panics of reflection pass
		if p := recover(); p != nil {
			out, err = Output{}, r.explain(file, panicError(p))
		}
	}()
	set := jet.NewSet(loader{e}, jet.WithDelims(left, right), jet.WithSafeWriter(put), jet.WithCache(r))
	r.globals(set)
	name := inline
	if file != "" {
		name = path.Join("/", file)
	}
	t, err := set.Parse(name, text)
	if err == nil {
		r.add(name, text, t)
		vars, verr := r.variables(text)
		if verr != nil {
			return out, verr
		}
		err = t.Execute(r.out, vars, nil)
	} else {
		err = blocks.Unclosed(err, text, left, right)
	}
	if err != nil {
		return out, r.explain(file, err)
	}
	return Output{r.out.String(), r.lines(file)}, nil
}

// A loader lets templates include others, by path.
type loader struct{ env *Env }

// Exists implements jet.Loader.
func (l loader) Exists(path string) bool {
	_, err := l.env.o.ReadFile(path)
	return err == nil
}

// Open implements jet.Loader.
func (l loader) Open(path string) (io.ReadCloser, error) {
	text, err := l.env.o.ReadFile(path)
	return io.NopCloser(bytes.NewReader(text)), err
}

// A renderer runs one template and maps its output to lines of the template. It is the
// cache of the template set, through which Jet passes every template that it reads.
type renderer struct {
	env       *Env
	sealed    bool // some data is encrypted
	templates map[string]*jet.Template
	out       *output
	at        Line // the running line
	marks     []mark
}

// Get implements jet.Cache.
func (r *renderer) Get(path string) *jet.Template { return r.templates[path] }

// Put implements jet.Cache.
func (r *renderer) Put(path string, t *jet.Template) {
	text, err := r.env.o.ReadFile(path)
	if err != nil {
		text = nil // otherwise the lines of its own text are unknown
	}
	r.add(path, string(text), t)
}

func (r *renderer) add(path, text string, t *jet.Template) {
	if r.templates == nil {
		r.templates = make(map[string]*jet.Template)
	}
	r.templates[path] = t
	(&instrument{path, text}).list(t.Root)
	if r.sealed {
		openList(t.Root)
	}
}

// variables returns the variables of a template. It gathers facts only if the text, or the text of
// a template that may be included, names them.
func (r *renderer) variables(text string) (jet.VarMap, error) {
	vars := jet.VarMap{}
	for name, tree := range roots {
		if tree == factsRoot && !strings.Contains(text, name) && !strings.Contains(text, "include") && !strings.Contains(text, "import") && !strings.Contains(text, "extends") {
			continue
		}
		val, err := r.env.trees.sealedTree(tree)
		if err != nil {
			return nil, err
		}
		vars.Set(name, val)
	}
	for name, val := range r.env.o.Vars {
		vars.Set(name, val)
	}
	return vars, nil
}

var (
	jetParse   = lazyregexp.New(`(?s)^template: (.*?):(\d+): (.*)$`)
	jetUnknown = lazyregexp.New(`(?s)^identifier "(.*?)" not available in current`)
	jetRun     = lazyregexp.New(`(?s)^Jet Runtime Error \("(.*?)":(\d+)\): (.*)$`)
)

// jetNames are the variables of templates, for "did you mean".
var jetNames = []string{"facts", "Facts", "data", "Data", "environ", "Environ", "env", "lookup"}

// explain gives an error of Jet its place.
func (r *renderer) explain(file string, err error) error {
	at, text := r.at, err.Error()
	whole := text
	text = text[:min(len(text), maxError)]
	for _, re := range []*regexp.Regexp{jetParse(), jetRun()} {
		if m := re.FindStringSubmatch(text); m != nil {
			line, _ := strconv.Atoi(m[2])
			at, text = Line{m[1], line}, m[3]
		}
	}
	if text == whole {
		if d, ok := errors.AsType[*diag.Error](err); ok && !d.Pos.IsZero() {
			return d
		}
	}
	e := &diag.Error{Err: errors.New(text)}
	if strings.HasPrefix(text, "cannot index slice/array/string with type string") || strings.Contains(text, "data.Sealed") {
		text = "field of a string or list"
		e.Err = errors.New(text)
	}
	if strings.Contains(text, "in <invalid reflect.Value>") { // Jet has no value for the dot
		text = "names do not begin with a dot here"
		e.Err, e.Hint = errors.New(text), "remove the dot: [[ os.family ]]"
	}
	if m := jetUnknown().FindStringSubmatch(text); m != nil {
		// Jet's message continues with all variables and their values.
		text = fmt.Sprintf("%q is not defined", m[1])
		e.Err, e.Hint = errors.New(text), diag.DidYouMean(m[1], slices.Concat(jetNames, slices.Sorted(maps.Keys(r.env.o.Vars))))
	}
	if m, ok := errors.AsType[*notFoundError](err); ok {
		e.Hint = m.hint()
	}
	switch {
	case at.File == inline || at.File == "" && file == "":
		if at.Line > 0 {
			e.Err = fmt.Errorf("line %d of the template: %s", at.Line, text)
		}
	case at.File == "":
		e.Pos = diag.Pos{File: file, Line: at.Line}
	default:
		e.Pos = diag.Pos{File: fileOf(at.File, file), Line: at.Line}
	}
	return e
}

// repeated returns the arguments of repeat: a text and a number.
func repeated(name string, args []any) (string, int, error) {
	s, ok := args[0].(string)
	if !ok {
		return "", 0, fmt.Errorf("%s: %w", name, diag.Expected("a text").Got("%s", describe(args[0])))
	}
	n, err := plain(args[1])
	if f, ok := n.(float64); ok {
		n = int64(f)
	}
	i, ok := n.(int64)
	if err != nil || !ok {
		return "", 0, fmt.Errorf("%s: %w", name, diag.Expected("a number").Got("%s", describe(args[1])))
	}
	return s, int(i), nil
}

// fileOf returns the path of a template as the user gave it; Jet adds a slash.
func fileOf(name, given string) string {
	if name == path.Join("/", given) {
		return given
	}
	return name
}

// callFromJet calls a function with the arguments of Jet, which takes an error as a panic.
func callFromJet(a jet.Arguments, f func(args []any) (any, error)) reflect.Value {
	args := make([]any, a.NumOfArguments())
	for i := range args {
		if v := a.Get(i); v.IsValid() {
			args[i] = v.Interface()
		}
	}
	val, err := f(args)
	if err != nil {
		panic(err)
	}
	return reflect.ValueOf(val)
}

// globals adds the functions that templates see.
func (r *renderer) globals(set *jet.Set) {
	e := r.env
	add := func(name string, low, high int, f func(args []any) (any, error)) {
		set.AddGlobalFunc(name, func(a jet.Arguments) reflect.Value {
			a.RequireNumOfArguments(name, low, high)
			return callFromJet(a, f)
		})
	}
	text := func(name string, f func(string) (any, error)) func([]any) (any, error) {
		return func(args []any) (any, error) {
			s, ok := args[0].(string)
			if !ok {
				return nil, fmt.Errorf("%s: %w", name, diag.Expected("a text").Got("%s", describe(args[0])))
			}
			return f(s)
		}
	}
	add("lookup", 1, 2, func(args []any) (any, error) { return e.trees.lookup(args...) })
	if e.o.ReadFile != nil {
		for _, name := range []string{"file", "readFile"} {
			add(name, 1, 1, text(name, func(s string) (any, error) { return e.files.readFile(s) }))
		}
		add("template", 1, 1, text("template", e.template))
	}
	add(atFunc, 3, 3, func(args []any) (any, error) {
		r.at = Line{args[0].(string), int(args[1].(int64))}
		if n := len(r.marks); n > 0 && r.marks[n-1].offset == r.out.Len() {
			r.marks = r.marks[:n-1] // the code there wrote nothing
		}
		r.marks = append(r.marks, mark{r.out.Len(), r.at, args[2].(bool)})
		return nil, e.usage.step()
	})
	for _, name := range []string{"slice", "array"} {
		add(name, 0, -1, func(args []any) (any, error) {
			_, err := plain(args) // a list that occurs twice is printed twice
			return args, err
		})
	}
	add("json", 1, 1, func(args []any) (any, error) {
		text, err := marshal(args[0])
		return text, err
	})
	add("writeJson", 1, 1, func(args []any) (any, error) {
		text, err := marshal(args[0])
		return jet.RendererFunc(func(r *jet.Runtime) { _, _ = r.Write(append(text, '\n')) }), err
	})
	add("split", 2, 2, func(args []any) (any, error) {
		list, _, err := texts("split", args, 2, 2)
		if err != nil {
			return nil, err
		}
		return strings.Split(list[0], list[1]), nil
	})
	add("repeat", 2, 2, func(args []any) (any, error) {
		s, n, err := repeated("repeat", args)
		if err != nil || n <= 0 || s == "" {
			return "", err
		}
		return repeat(s, n)
	})
	add("replace", 4, 4, func(args []any) (any, error) { return replace(args...) })
	for name, f := range e.JetFunctions() {
		set.AddGlobalFunc(name, f)
	}
	set.AddGlobalFunc(openFunc, func(a jet.Arguments) reflect.Value { return opened(a.Get(0)) })
	set.AddGlobalFunc(sortFunc, func(a jet.Arguments) reflect.Value { return ordered(a.Get(0)) })
	set.AddGlobalFunc(hasValueFunc, func(a jet.Arguments) reflect.Value {
		v := a.Get(0)
		if !v.IsValid() || v.Kind() == reflect.Interface && v.IsNil() {
			panic(e.trees.undefined(a.Get(1).String()))
		}
		if a.Get(2).Bool() && v.CanInterface() {
			if err := CheckPrinted(v.Interface()); err != nil {
				panic(err)
			}
		}
		return v
	})
}
