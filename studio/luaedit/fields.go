package luaedit

import (
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/template"
	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// known returns call number n, whose places are known.
func (s *Script) known(n int) (*Call, error) {
	if n < 0 || n >= len(s.Calls) {
		return nil, ErrPath
	}
	if c := &s.Calls[n]; c.ok {
		return c, nil
	}
	return nil, ErrShape
}

// field returns the field of that name; the last one, as in Lua.
func (c *Call) field(name string) *Field {
	for i := range slices.Backward(c.Fields) {
		if c.Fields[i].Name == name {
			return &c.Fields[i]
		}
	}
	return nil
}

// Set changes a field of call number n, or adds it behind the last one.
func (s *Script) Set(n int, name string, value any) (*Script, Splice, error) {
	c, err := s.known(n)
	if err != nil {
		return nil, Splice{}, err
	}
	if f := c.field(name); f != nil {
		old := s.Text[f.Span.From:f.Span.To]
		return s.prove(Splice{From: f.Span.From, To: f.Span.To, Text: Write(value, old)}, s.layout.Statements,
			&comparer{hole: f.field.Value, accept: isValue(value)})
	}
	extra := template.LuaKey(name, false) + " = " + Write(value, "")
	if c.table == nil {
		return s.addTable(c, name, extra, value)
	}
	isNew := func(f *ast.Field) bool {
		key, isText := f.Key.(*ast.StringExpr)
		return isText && key.Value == name && isValue(value)(f.Value)
	}
	return s.prove(s.adding(c, extra), s.layout.Statements, &comparer{table: c.table, fields: func(cmp *comparer, old, now []*ast.Field) bool {
		last := len(now) - 1
		return last >= 0 && isNew(now[last]) && cmp.sameFields(old, now[:last])
	}})
}

// addTable makes a table of the name of a call such as package "vim".
func (s *Script) addTable(c *Call, name, extra string, value any) (*Script, Splice, error) {
	if len(c.Names) != 1 || len(c.expr.Args) != 1 {
		return nil, Splice{}, ErrShape
	}
	from := c.Names[0].Span.From
	lead := ""
	if before := strings.TrimRight(s.Text[:from], " \t\r\n"); strings.HasSuffix(before, "(") {
		from, lead = len(before)-1, " "
	}
	text := lead + "{ " + s.Text[c.Names[0].Span.From:c.Names[0].Span.To] + ", " + extra + " }"
	arg := c.expr.Args[0]
	return s.prove(Splice{From: from, To: c.Span.To, Text: text}, s.layout.Statements, &comparer{hole: arg, accept: func(e ast.Expr) bool {
		t, isTable := e.(*ast.TableExpr)
		if !isTable || len(t.Fields) != 2 || t.Fields[0].Key != nil {
			return false
		}
		key, isText := t.Fields[1].Key.(*ast.StringExpr)
		plain := &comparer{}
		return isText && key.Value == name && isValue(value)(t.Fields[1].Value) &&
			plain.sameFields([]*ast.Field{{Value: arg}}, []*ast.Field{{Value: t.Fields[0].Value}})
	}})
}

// adding returns the splice that adds a field behind the last one in the table of a call.
func (s *Script) adding(c *Call, extra string) Splice {
	places, _ := s.places(c.table)
	words := s.layout.Words
	open, _ := s.layout.First(c.table)
	if len(places) == 0 {
		return Splice{From: words[open].From, To: words[s.layout.Close(open)].To, Text: "{ " + extra + " }"}
	}
	last := places[len(places)-1]
	at, lead, tail := words[last.last].To, ", ", ""
	if last.comma >= 0 {
		at, lead, tail = words[last.comma].To, " ", ","
	}
	line := s.indentOf(words[last.first].From)
	if line == "" {
		return Splice{From: at, To: at, Text: lead + extra + tail}
	}
	if lead = "\n" + line; tail == "" {
		lead = ",\n" + line
	}
	end := len(strings.TrimRight(s.Text[:splice.LineEnd(s.Text, at)], "\r\n"))
	comment := s.Text[at:max(at, end)]
	if !strings.HasPrefix(strings.TrimSpace(comment), "--") {
		return Splice{From: at, To: at, Text: lead + extra + tail}
	}
	if tail == "" { // the comma comes before the comment of the last field
		return Splice{From: at, To: end, Text: "," + comment + "\n" + line + extra}
	}
	return Splice{From: end, To: end, Text: lead + extra + tail}
}

// indentOf returns the white space before an offset, "" if its line has other characters before it.
func (s *Script) indentOf(at int) string {
	line := s.Text[splice.LineStart(s.Text, at):at]
	if strings.TrimSpace(line) != "" {
		return ""
	}
	return line
}

// Unset removes a field of call number n, and its line if nothing else is on it.
func (s *Script) Unset(n int, name string) (*Script, Splice, error) {
	c, err := s.known(n)
	if err != nil {
		return nil, Splice{}, err
	}
	f := c.field(name)
	if f == nil {
		return nil, Splice{}, ErrPath
	}
	return s.cutField(c, slices.Index(c.table.Fields, f.field))
}

// cutField removes field i of the table of a call.
func (s *Script) cutField(c *Call, i int) (*Script, Splice, error) {
	return s.prove(s.cutting(c, i), s.layout.Statements, &comparer{table: c.table, fields: func(cmp *comparer, old, now []*ast.Field) bool {
		return cmp.sameFields(slices.Delete(slices.Clone(old), i, i+1), now)
	}})
}

// cutting returns the splice that removes field i of a table.
func (s *Script) cutting(c *Call, i int) Splice {
	places, _ := s.places(c.table)
	p, words := places[i], s.layout.Words
	out := Splice{From: words[p.first].From, To: words[p.last].To}
	switch {
	case p.comma >= 0:
		out.To = words[p.comma].To
	case i > 0:
		out.From = words[places[i-1].last].To
	}
	start, end := splice.LineStart(s.Text, out.From), splice.LineEnd(s.Text, out.To)
	rest := strings.TrimSpace(s.Text[out.To:end])
	switch {
	case strings.TrimSpace(s.Text[start:out.From]) == "" && (rest == "" || strings.HasPrefix(rest, "--") && !strings.HasPrefix(rest, "--[")):
		return Splice{From: start, To: end}
	case p.comma >= 0 && strings.HasPrefix(s.Text[out.To:], " "):
		out.To++
	}
	return out
}

// SetName changes name i of call number n.
func (s *Script) SetName(n, i int, name string) (*Script, Splice, error) {
	c, err := s.known(n)
	if err != nil {
		return nil, Splice{}, err
	}
	if i < 0 || i >= len(c.Names) {
		return nil, Splice{}, ErrPath
	}
	at := c.Names[i]
	return s.prove(Splice{From: at.Span.From, To: at.Span.To, Text: Write(name, s.Text[at.Span.From:at.Span.To])}, s.layout.Statements,
		&comparer{hole: at.expr, accept: isValue(name)})
}

// CutName removes name i of several from call number n.
func (s *Script) CutName(n, i int) (*Script, Splice, error) {
	c, err := s.known(n)
	if err != nil {
		return nil, Splice{}, err
	}
	if i < 0 || i >= len(c.Names) {
		return nil, Splice{}, ErrPath
	}
	if c.Names[i].field < 0 || len(c.Names) < 2 {
		return nil, Splice{}, ErrShape
	}
	return s.cutField(c, c.Names[i].field)
}
