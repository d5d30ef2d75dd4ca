package std

import (
	"errors"
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/template"
)

func templateLibrary() *Library {
	return &Library{
		Name: "template",
		Doc: "Renders templates. Templates see the given values by name, and facts, data, env and lookup(path, " +
			"default). An undefined value is an error with its line in the template. So is a template of more " +
			"than 1 MiB, an output of more than 64 MiB, endless recursion, and an expression of more than 64 KiB.",
		Funcs: []Func{{
			Signature: `jet(text: string, values?: table<string, any>, options?: { left?: string, right?: string }): string`,
			Doc: "Renders a Jet template. The delimiters are [[ and ]] by default. Included templates are read " +
				"relative to the script. Additional functions: default, join, indent, lower, to_json and to_yaml: [[ names | join: \", \" ]], [[ port | default: 80 ]].",
			Example: `template.jet("listen [[ port ]];", { port = 80 })`, Result: `"listen 80;"`,
			Fn: func(c *call) int {
				return c.giveStr(renderJet(c, "", c.str(1)))
			},
		}, {
			Signature: `go(text: string, values?: table<string, any>, options?: { left?: string, right?: string }): string`,
			Doc: "Renders a Go text/template. The values are fields: {{ .port }}; facts, data and env are " +
				"functions: {{ facts.os.family }}. Additional functions: default, join, indent, upper, lower, to_json and to_yaml, which take the value last: {{ .names | join \", \" }}.",
			Example: `template.go("listen {{ .port }};", { port = 80 })`, Result: `"listen 80;"`,
			Fn: func(c *call) int {
				return c.giveStr(renderGo(c, "template", c.str(1)))
			},
		}, {
			Signature: `expand(text: string, values?: table<string, any>): string`,
			Doc:       "Evaluates the expressions ${ } and {{ }} in text, as manifests do.",
			Example:   `template.expand("listen ${ port + 1 };", { port = 80 })`, Result: `"listen 81;"`,
			Fn: func(c *call) int {
				return c.giveStr(expandText(c, "", c.str(1)))
			},
		}, {
			Signature: `render(path: string, values?: table<string, any>, options?: { engine?: "jet"|"go"|"expand", left?: string, right?: string }): string`,
			Doc: "Renders a template file, found as by fs.read. The suffix selects the engine: .jet is Jet, " +
				".tmpl and .gotmpl are Go templates, .templ has expressions. For other suffixes the engine is " +
				"required.",
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
			c.failWith(`for instance { engine = "jet" }`, "%w", diag.Expected("a file that ends in .jet, .tmpl, .gotmpl or .templ, or an engine").Got("%q", c.str(1)))
		}
	}
	if mayRead := ownFiles(c); mayRead != nil {
		_, name := pathArg(c, 1)
		c.must(mayRead(name))
	}
	name, text := readArg(c, 1, "file")
	switch engine {
	case "jet":
		text = renderJet(c, name, text)
	case "go":
		text = renderGo(c, name, text)
	default:
		text = expandText(c, name, text)
	}
	return c.giveStr(text)
}

// templateEnv returns the environment of templates that see argument 2.
func templateEnv(c *call) *template.Env {
	return expressionEnv(c).WithVars(templateValues(c)).WithCheck(c.in.Context().Err)
}

// expressionEnv returns the environment of expressions and templates.
func expressionEnv(c *call) *template.Env {
	if c.Templates == nil {
		c.fail("not available here")
	}
	data, mayRead := c.tree, ownFiles(c)
	noEnviron, noServers := c.in.Granted(c.L, "env"), c.in.Granted(c.L, "http")
	if c.in.Granted(c.L, "data") != nil {
		data = nil
	}
	env := c.Templates(data, c.in.Caller(c.L).Dir())
	if noEnviron != nil || noServers != nil || mayRead != nil {
		env = env.Limited(noEnviron == nil, noServers == nil, mayRead)
	}
	return env
}

// ownFiles returns the check of the files that the calling code may read through templates: a
// module of another author without the grant fs reads only files in its own directory. Nil allows
// all.
func ownFiles(c *call) func(path string) error {
	denied := c.in.Granted(c.L, "fs")
	if denied == nil {
		return nil
	}
	dir := c.in.Caller(c.L).PackageDir()
	return func(name string) error {
		if dir != "" && strings.HasPrefix(path.Clean(name), dir+"/") {
			return nil
		}
		return diag.SubjectCannot("a module", "read files of others: %w", denied)
	}
}

// templateValues returns argument 2 as plain data.
func templateValues(c *call) map[string]any {
	if !c.given(2) {
		return map[string]any{}
	}
	values, ok := c.plain(2).(map[string]any)
	if !ok {
		c.fail("%w", diag.Expected("a table with names as argument 2").Got("a list"))
	}
	for _, name := range []string{"facts", "data", "env"} {
		if _, taken := values[name]; taken {
			c.fail("%s is already defined in templates (rename the value)", name)
		}
	}
	return values
}

func renderJet(c *call, file, text string) string {
	left := c.optionStr(3, "left", "")
	if left == "" {
		failTemplate(c, template.CheckDelims("the template", text))
		left = template.JetLeft
	}
	out, err := templateEnv(c).Jet(file, text, left, c.optionStr(3, "right", template.JetRight))
	failTemplate(c, err)
	return out
}

func expandText(c *call, file, text string) string {
	v, err := templateEnv(c).ExpandText(text)
	if m, ok := errors.AsType[*template.Error](err); ok {
		before := text[:min(m.Offset, len(text))]
		pos := diag.Pos{File: file, Line: strings.Count(before, "\n") + 1, Col: len(before) - strings.LastIndexByte(before, '\n')}
		e := *m.Err
		if e.Pos.IsZero() {
			e.Pos = pos
		}
		err = &e
	}
	failTemplate(c, err)
	return v
}

// failTemplate throws the failure of a template.
func failTemplate(c *call, err error) {
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
