package std

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	gotemplate "text/template"
	"text/template/parse"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/template"
	"github.com/luaccm/ccm/runtime/template/blocks"
)

// renderGo fills in a template of text/template that messages call name.
func renderGo(c *call, name, text string) string {
	env := expressionEnv(c)
	root := func(path string) func() (any, error) {
		return func() (any, error) { return env.Lookup(path) }
	}
	// The template ends with the evaluation.
	step := func() (string, error) { return "", c.in.Context().Err() }
	left, right := c.optionStr(3, "left", ""), c.optionStr(3, "right", "")
	t := gotemplate.New(name).Option("missingkey=error").Delims(left, right).
		Funcs(gotemplate.FuncMap{"facts": root("facts"), "data": root("data"), "env": root("env"), "lookup": env.Lookup, stepFunc: step}).
		Funcs(gotemplate.FuncMap{"printf": printf}).Funcs(env.WithCheck(c.in.Context().Err).GoFunctions()).Funcs(gotemplate.FuncMap{fieldFunc: field, printFunc: printed})
	var out limitedWriter
	var values map[string]any
	err := template.CheckTemplate(text)
	if err == nil {
		if t, err = t.Parse(text); err != nil {
			err = blocks.Unclosed(err, text, cmp.Or(left, "{{"), cmp.Or(right, "}}"))
		}
	}
	if err == nil {
		checkPrinted(t)
		tolerateDefaults(t)
		if data.HoldsSealed(c.tree) {
			t.Funcs(gotemplate.FuncMap{dataFunc: func(names ...string) (any, error) { return env.LookupSteps(append([]string{"data"}, names...)) }})
			nameData(t)
		}
		countSteps(t)
		values = templateValues(c)
		err = t.Execute(&out, values)
	}
	if err == nil {
		return out.String()
	}
	if errors.Is(err, errTooLong) {
		c.checkRoom(maxString + 1)
	}
	c.fail("%s", goProblem(name, err, slices.Sorted(maps.Keys(values))))
	return ""
}

// printf is the function of text/template. Its widths may make a text long at once.
func printf(format string, args ...any) (string, error) {
	if widths(format, args) > maxString {
		return "", errTooLong
	}
	return template.Printf(format, args...)
}

// widths returns the sum of the numbers in a format and of the arguments that can be widths: the
// number of blanks that fmt may insert.
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

// fieldFunc is the name of field in templates. Only tolerateDefaults puts it there.
const fieldFunc = "ccm_field"

// field returns the value at a path of names, nil if there is none.
func field(val any, names ...string) any {
	for _, name := range names {
		table, _ := val.(map[string]any)
		val = table[name]
	}
	return val
}

// tolerateDefaults makes a missing value nil, instead of a mistake, where it is an argument of
// default: .a.b | default "x", default "x" .a.b.
func tolerateDefaults(t *gotemplate.Template) {
	eachPipe(t, func(p *parse.PipeNode) {
		for i, cmd := range p.Cmds {
			last := len(cmd.Args) - 1
			if id, ok := cmd.Args[0].(*parse.IdentifierNode); !ok || id.Ident != template.Default {
				continue
			}
			if f, ok := cmd.Args[last].(*parse.FieldNode); ok && last == 2 {
				cmd.Args[last] = &parse.PipeNode{NodeType: parse.NodePipe, Cmds: []*parse.CommandNode{fieldCall(f)}}
			}
			if i == 0 || last != 1 || len(p.Cmds[i-1].Args) != 1 {
				continue
			}
			if f, ok := p.Cmds[i-1].Args[0].(*parse.FieldNode); ok {
				p.Cmds[i-1] = fieldCall(f)
			}
		}
	})
}

// printFunc is the name of printed in templates. Only checkPrinted puts it there.
const printFunc = "ccm_print"

// printed returns a value that is about to be printed, or an error if there is none to print. Code is the expression.
func printed(code string, val any) (any, error) {
	if val == nil {
		return nil, diag.None("value for %s (set a default: %s | default \"...\")", code, code)
	}
	return val, template.CheckPrinted(val)
}

// checkPrinted makes it a mistake to print a missing value, for which Go writes <no value>, a list and a table.
func checkPrinted(t *gotemplate.Template) {
	eachNode(t, func(n parse.Node) {
		if a, ok := n.(*parse.ActionNode); ok && len(a.Pipe.Decl) == 0 {
			args := append([]parse.Node{parse.NewIdentifier(printFunc).SetPos(a.Pos)}, textNodes(a.Pos, []string{a.Pipe.String()})...)
			a.Pipe.Cmds = append(a.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: a.Pos, Args: args})
		}
	})
}

// dataFunc is the name of the function that reads one value of data. Only nameData puts it into templates.
const dataFunc = "ccm_data"

// nameData makes data.a.b read only that value. Otherwise the template would get all data first,
// with every encrypted value decrypted.
func nameData(t *gotemplate.Template) {
	eachPipe(t, func(p *parse.PipeNode) {
		for _, cmd := range p.Cmds {
			for i, arg := range cmd.Args {
				c, ok := arg.(*parse.ChainNode)
				if !ok {
					continue
				}
				if id, ok := c.Node.(*parse.IdentifierNode); ok && id.Ident == "data" {
					args := append([]parse.Node{parse.NewIdentifier(dataFunc).SetPos(c.Pos)}, textNodes(c.Pos, c.Field)...)
					call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: c.Pos, Args: args}
					cmd.Args[i] = &parse.PipeNode{NodeType: parse.NodePipe, Pos: c.Pos, Cmds: []*parse.CommandNode{call}}
				}
			}
		}
	})
}

// textNodes returns texts as arguments.
func textNodes(pos parse.Pos, texts []string) (list []parse.Node) {
	for _, text := range texts {
		list = append(list, &parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: strconv.Quote(text), Text: text})
	}
	return list
}

// eachPipe calls do for every pipeline of a template and of the templates defined in it.
func eachPipe(t *gotemplate.Template, do func(*parse.PipeNode)) {
	var pipe func(*parse.PipeNode)
	pipe = func(p *parse.PipeNode) {
		if p == nil {
			return
		}
		for _, cmd := range p.Cmds {
			for _, arg := range cmd.Args {
				if inner, ok := arg.(*parse.PipeNode); ok {
					pipe(inner)
				}
			}
		}
		do(p)
	}
	eachNode(t, func(n parse.Node) {
		switch n := n.(type) {
		case *parse.ActionNode:
			pipe(n.Pipe)
		case *parse.TemplateNode:
			pipe(n.Pipe)
		case *parse.IfNode:
			pipe(n.Pipe)
		case *parse.WithNode:
			pipe(n.Pipe)
		case *parse.RangeNode:
			pipe(n.Pipe)
		}
	})
}

// eachNode calls do for every node of a template and of the templates defined in it, but those in pipelines.
func eachNode(t *gotemplate.Template, do func(parse.Node)) {
	var list func(*parse.ListNode)
	branch := func(b parse.BranchNode) {
		list(b.List)
		list(b.ElseList)
	}
	list = func(l *parse.ListNode) {
		if l == nil {
			return
		}
		for _, n := range l.Nodes {
			do(n)
			switch n := n.(type) {
			case *parse.IfNode:
				branch(n.BranchNode)
			case *parse.WithNode:
				branch(n.BranchNode)
			case *parse.RangeNode:
				branch(n.BranchNode)
			}
		}
	}
	for _, x := range t.Templates() {
		if x.Tree != nil {
			list(x.Root)
		}
	}
}

func fieldCall(f *parse.FieldNode) *parse.CommandNode {
	args := []parse.Node{parse.NewIdentifier(fieldFunc).SetPos(f.Pos), &parse.DotNode{NodeType: parse.NodeDot, Pos: f.Pos}}
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: f.Pos, Args: append(args, textNodes(f.Pos, f.Ident)...)}
}

// stepFunc is the name of the function that ends a template. Only countSteps puts it there.
const stepFunc = "ccm_step"

// countSteps has every template and every item of a loop call stepFunc: nothing
// else can interrupt a template.
func countSteps(t *gotemplate.Template) {
	step := gotemplate.Must(gotemplate.New("").Funcs(gotemplate.FuncMap{stepFunc: func() string { return "" }}).Parse("{{" + stepFunc + "}}")).Root.Nodes[0]
	eachNode(t, func(n parse.Node) {
		if r, ok := n.(*parse.RangeNode); ok && r.List != nil {
			r.List.Nodes = append([]parse.Node{step}, r.List.Nodes...)
		}
	})
	for _, x := range t.Templates() {
		if x.Tree != nil && x.Root != nil {
			x.Root.Nodes = append([]parse.Node{step}, x.Root.Nodes...)
		}
	}
}

var errTooLong = diag.Too("", "long")

// A limitedWriter is a builder with the limit of a string.
type limitedWriter struct{ strings.Builder }

// Write implements io.Writer.
func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxString {
		return 0, errTooLong
	}
	return l.Builder.Write(p)
}

// goHint suggests an existing value for a missing one. Place is the expression with the name, as
// <.name.x>.
func goHint(place, quoted string, values []string) string {
	name := strings.Trim(quoted, `"`)
	if !strings.HasPrefix(strings.TrimPrefix(place[1:], "$")+".", "."+name) {
		return "" // not the first of the names
	}
	if slices.Contains([]string{"facts", "data", "env"}, name) {
		return fmt.Sprintf(" (write %s without the dot)", name)
	}
	if hint := diag.DidYouMean(name, values); hint != "" {
		return " (" + hint + ")"
	}
	return ""
}

// goProblem describes a failure of a template of text/template and its place, in the words of this
// library. Values are the names of the template's values.
func goProblem(name string, err error, values []string) string {
	text := err.Error()
	text = text[:min(len(text), 16<<10)] // the text may quote a value of many megabytes
	m := regexp.MustCompile(`(?s)^template: ` + regexp.QuoteMeta(name) + `:(\d+)(?::(\d+))?: (.*)$`).FindStringSubmatch(text)
	if m == nil {
		return text
	}
	what := m[3]
	if _, why, isPrinted := strings.Cut(what, "error calling "+printFunc+": "); isPrinted {
		what = why
	} else if inner := regexp.MustCompile(`(?s)^executing ".*?" at (<.*?>): (.*)$`).FindStringSubmatch(what); inner != nil {
		what = inner[1] + ": " + inner[2]
		if key := regexp.MustCompile(`map has no entry for key (".*")$`).FindStringSubmatch(what); key != nil {
			what = fmt.Sprintf("%s: unknown value %s%s", inner[1], key[1], goHint(inner[1], key[1], values))
		} else if field := regexp.MustCompile(`can't evaluate field (\S+) in type`).FindStringSubmatch(what); field != nil {
			what = fmt.Sprintf("%s: unknown value %q, because the value before it is not a table", inner[1], field[1])
		} else if strings.Contains(what, "error calling") && strings.Contains(what, ": non-comparable type ") {
			what = inner[1] + ": " + diag.Expected("numbers, strings or booleans to compare").Got("a list or a table").Error()
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
