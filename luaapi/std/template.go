package std

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	gotemplate "text/template"
	"text/template/parse"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/template"
)

func templateLibrary() *Library {
	return &Library{
		Name: "template",
		Doc: "Fills in templates. They see the values that are given, each by its name, and besides them facts, data, env and lookup(path, default). " +
			"What is not there is a mistake, which says in which line of the template. " +
			"So is a template of more than 1 MiB, one that writes more than 64 MiB, one that calls itself without end, and an expression of more than 64 KiB.",
		Funcs: []Func{{
			Signature: `jet(text: string, values?: table<string, any>, options?: { left?: string, right?: string }): string`,
			Doc:       "Fills in a Jet template. The delimiters are [[ and ]], unless left and right say otherwise. Templates that it includes are read beside the script.",
			Example:   `template.jet("listen [[ port ]];", { port = 80 })`, Result: `"listen 80;"`,
			Fn: func(c *call) int {
				return c.giveStr(c.jet("", c.str(1)))
			},
		}, {
			Signature: `go(text: string, values?: table<string, any>, options?: { left?: string, right?: string }): string`,
			Doc:       "Fills in a template of Go's text/template. The values are fields: {{ .port }}; facts, data and env are functions: {{ facts.os.family }}.",
			Example:   `template.go("listen {{ .port }};", { port = 80 })`, Result: `"listen 80;"`,
			Fn: func(c *call) int {
				return c.giveStr(c.goTemplate("template", c.str(1)))
			},
		}, {
			Signature: `expand(text: string, values?: table<string, any>): string`,
			Doc:       "Evaluates the expressions ${ } and {{ }} in text, as manifests do.",
			Example:   `template.expand("listen ${ port + 1 };", { port = 80 })`, Result: `"listen 81;"`,
			Fn: func(c *call) int {
				return c.giveStr(c.expand("", c.str(1)))
			},
		}, {
			Signature: `render(path: string, values?: table<string, any>, options?: { engine?: "jet"|"go"|"expand", left?: string, right?: string }): string`,
			Doc: "Fills in a template file, found as fs.read finds it. The language is that of the suffix: .jet is Jet, .tmpl and .gotmpl are Go's, .templ has expressions. " +
				"For any other suffix the engine must be given.",
			Example: `template.render("motd.tmpl", { name = "web01" })`, Result: `"This is web01.\n"`,
			Fn: templateRender,
		}},
	}
}

func templateRender(c *call) int {
	engine := c.optionStr(3, "engine", "")
	if engine == "" {
		switch path.Ext(c.str(1)) {
		case ".jet":
			engine = "jet"
		case ".tmpl", ".gotmpl":
			engine = "go"
		case ".templ":
			engine = "expand"
		default:
			c.failWith(`for instance { engine = "jet" }`, "want a file that ends in .jet, .tmpl, .gotmpl or .templ, or an engine, got %q", c.str(1))
		}
	}
	name, text := c.file(1, "file")
	switch engine {
	case "jet":
		text = c.jet(name, text)
	case "go":
		text = c.goTemplate(name, text)
	default:
		text = c.expand(name, text)
	}
	return c.giveStr(text)
}

// templateEnv returns what evaluates templates that see argument 2.
func (c *call) templateEnv() *template.Env {
	return c.env().WithVars(c.templateValues()).WithCheck(c.in.Context().Err)
}

// env returns what evaluates expressions and templates.
func (c *call) env() *template.Env {
	if c.Templates == nil {
		c.fail("not available here")
	}
	return c.Templates(c.tree, c.in.Dir(c.L))
}

// templateValues returns argument 2 as plain data.
func (c *call) templateValues() map[string]any {
	if !c.given(2) {
		return map[string]any{}
	}
	values, ok := c.plain(2).(map[string]any)
	if !ok {
		c.fail("want a table with names as argument 2, got a list")
	}
	for _, name := range []string{"facts", "data", "env"} {
		if _, taken := values[name]; taken {
			c.fail("a template sees the %s already: give the value another name", name)
		}
	}
	return values
}

func (c *call) jet(file, text string) string {
	left := c.optionStr(3, "left", "")
	if left == "" {
		c.failTemplate(template.CheckDelims(text))
		left = template.JetLeft
	}
	out, err := c.templateEnv().Jet(file, text, left, c.optionStr(3, "right", template.JetRight))
	c.failTemplate(err)
	return out
}

func (c *call) expand(file, text string) string {
	v, err := c.templateEnv().Expand(text)
	if m, ok := errors.AsType[*template.Error](err); ok {
		before := text[:min(m.Offset, len(text))]
		pos := diag.Pos{File: file, Line: strings.Count(before, "\n") + 1, Col: len(before) - strings.LastIndexByte(before, '\n')}
		e := *m.Err
		if e.Pos.IsZero() {
			e.Pos = pos
		}
		err = &e
	}
	c.failTemplate(err)
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

// failTemplate throws what is wrong with a template.
func (c *call) failTemplate(err error) {
	e, ok := errors.AsType[*diag.Error](err)
	if !ok {
		c.must(err)
		return
	}
	at := ""
	switch {
	case e.Pos.File != "":
		at = e.Pos.String() + ": "
	case !e.Pos.IsZero():
		at = placeIn(e.Pos)
	}
	c.failWith(e.Hint, "%s%w", at, e.Err)
}

// goTemplate fills in a template of text/template that messages call name.
func (c *call) goTemplate(name, text string) string {
	env := c.env()
	root := func(path string) func() (any, error) {
		return func() (any, error) { return env.Lookup(path) }
	}
	t := gotemplate.New(name).Option("missingkey=error").Delims(c.optionStr(3, "left", ""), c.optionStr(3, "right", "")).
		Funcs(gotemplate.FuncMap{"facts": root("facts"), "data": root("data"), "env": root("env"), "lookup": env.Lookup, stepFunc: c.step}).
		Funcs(limitPrinters())
	var out limitedWriter
	err := template.CheckTemplate(text)
	if err == nil {
		t, err = t.Parse(text)
	}
	if err == nil {
		countSteps(t)
		err = t.Execute(&out, c.templateValues())
	}
	if err == nil {
		return out.String()
	}
	if errors.Is(err, errTooLong) {
		c.room(maxString + 1)
	}
	c.fail("%s", goProblem(name, err))
	return ""
}

// limitPrinters returns the functions of text/template that make texts. Together
// they make maxString bytes at most, so that none that is made of itself again and
// again becomes too long.
func limitPrinters() gotemplate.FuncMap {
	made := 0
	bounded := func(print func(args ...any) string) func(args ...any) (string, error) {
		return func(args ...any) (string, error) {
			for _, arg := range args {
				if s, ok := arg.(string); ok {
					made += len(s)
				}
			}
			if made > maxString {
				return "", errTooLong
			}
			text := print(args...)
			if made += len(text); made > maxString {
				return "", errTooLong
			}
			return text, nil
		}
	}
	printf := bounded(func(args ...any) string { return fmt.Sprintf(args[0].(string), args[1:]...) })
	return gotemplate.FuncMap{
		"print": bounded(fmt.Sprint), "println": bounded(fmt.Sprintln),
		"html": bounded(gotemplate.HTMLEscaper), "js": bounded(gotemplate.JSEscaper), "urlquery": bounded(gotemplate.URLQueryEscaper),
		"printf": func(format string, args ...any) (string, error) {
			if made += widths(format, args); made > maxString {
				return "", errTooLong
			}
			return printf(append([]any{format}, args...)...)
		},
	}
}

// widths returns the sum of the numbers in a format, and of those that it may take
// from its arguments: what fmt may fill up with blanks.
func widths(format string, args []any) int {
	sum, n := 0, 0
	for _, ch := range []byte(format) {
		if ch < '0' || ch > '9' {
			n = 0
			continue
		}
		sum, n = sum-n, min(n*10+int(ch-'0'), maxString)
		sum += n
	}
	if strings.Contains(format, "*") {
		for _, arg := range args {
			if v, ok := arg.(int64); ok {
				sum += int(min(max(v, -v), maxString))
			}
		}
	}
	return sum
}

// stepFunc is a function of templates that countSteps alone writes.
const stepFunc = "ccm_step"

// step ends a template when the script has to end.
func (c *call) step() (string, error) { return "", c.in.Context().Err() }

// countSteps has every template and every item of a loop call stepFunc: a
// template that does not come to an end stops for nobody else.
func countSteps(t *gotemplate.Template) {
	step := gotemplate.Must(gotemplate.New("").Funcs(gotemplate.FuncMap{stepFunc: func() string { return "" }}).Parse("{{" + stepFunc + "}}")).Root.Nodes[0]
	var walk func(list *parse.ListNode)
	walk = func(list *parse.ListNode) {
		if list == nil {
			return
		}
		for _, n := range list.Nodes {
			switch n := n.(type) {
			case *parse.IfNode:
				walk(n.List)
				walk(n.ElseList)
			case *parse.WithNode:
				walk(n.List)
				walk(n.ElseList)
			case *parse.RangeNode:
				walk(n.List)
				walk(n.ElseList)
				if n.List != nil {
					n.List.Nodes = append([]parse.Node{step}, n.List.Nodes...)
				}
			}
		}
	}
	for _, x := range t.Templates() {
		if x.Tree != nil && x.Root != nil {
			walk(x.Root)
			x.Root.Nodes = append([]parse.Node{step}, x.Root.Nodes...)
		}
	}
}

var errTooLong = errors.New("too long")

// A limitedWriter is a builder with the limit of a string.
type limitedWriter struct{ strings.Builder }

// Write implements io.Writer.
func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxString {
		return 0, errTooLong
	}
	return l.Builder.Write(p)
}

// goProblem says where and what is wrong in a template of text/template, in the
// words of this library.
func goProblem(name string, err error) string {
	text := err.Error()
	m := regexp.MustCompile(`(?s)^template: ` + regexp.QuoteMeta(name) + `:(\d+)(?::(\d+))?: (.*)$`).FindStringSubmatch(text)
	if m == nil {
		return text
	}
	what := m[3]
	if inner := regexp.MustCompile(`(?s)^executing ".*?" at (<.*?>): (.*)$`).FindStringSubmatch(what); inner != nil {
		what = inner[1] + ": " + inner[2]
		if key := regexp.MustCompile(`map has no entry for key (".*")$`).FindStringSubmatch(what); key != nil {
			what = fmt.Sprintf("%s: there is no value %s", inner[1], key[1])
		}
	}
	switch {
	case name != "template":
		return fmt.Sprintf("%s:%s: %s", name, m[1], what)
	case m[2] != "":
		return fmt.Sprintf("line %s, column %s: %s", m[1], m[2], what)
	}
	return fmt.Sprintf("line %s: %s", m[1], what)
}
