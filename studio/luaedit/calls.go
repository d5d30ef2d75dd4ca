package luaedit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// statementOf returns the index of the statement of call number n. The statement has to be outside
// of all others, and to consist of the call.
func (s *Script) statementOf(n int) (int, error) {
	c, err := s.known(n)
	if err != nil {
		return 0, err
	}
	if c.statement < 0 {
		return 0, ErrShape
	}
	return c.statement, nil
}

// lines returns the lines of a statement, with the comments right above it. ok is false if the
// lines have other words as well.
func (s *Script) lines(statement int) (from, to int, ok bool) {
	st := s.layout.Statements[statement]
	first, ok1 := s.firstWord(st)
	last, ok2 := s.layout.Last(st)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	words := s.layout.Words
	if last+1 < len(words) && words[last+1].Type == ';' {
		last++
	}
	from, to = splice.LineStart(s.Text, words[first].From), splice.LineEnd(s.Text, words[last].To)
	alone := (first == 0 || words[first-1].To <= from) && (last+1 == len(words) || words[last+1].From >= to)
	if before := strings.TrimSpace(s.Text[from:words[first].From]); before != "" && before != "\ufeff" {
		return 0, 0, false // the end of a comment
	}
	for from > 0 && alone {
		up := splice.LineStart(s.Text, from-1)
		line := strings.TrimSpace(s.Text[up:from])
		if !strings.HasPrefix(line, "--") || strings.HasPrefix(line, "--[") {
			break
		}
		from = up
	}
	return from, to, alone
}

// firstWord returns the first word of a statement: the call's, or local before it.
func (s *Script) firstWord(st ast.Stmt) (int, bool) {
	first, ok := s.layout.First(st)
	if _, isLocal := st.(*ast.LocalAssignStmt); isLocal && ok {
		first--
	}
	return first, ok && first >= 0
}

// Source returns the lines of call number n, with the comments right above them.
func (s *Script) Source(n int) (string, error) {
	statement, err := s.statementOf(n)
	if err != nil {
		return "", err
	}
	from, to, ok := s.lines(statement)
	if !ok {
		return "", ErrShape
	}
	text := strings.ReplaceAll(strings.TrimPrefix(s.Text[from:to], "\ufeff"), "\r\n", "\n")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, nil
}

// Insert puts statements before call number n, or behind all if n is the number of calls. A final
// return stays at the end.
func (s *Script) Insert(n int, text string) (*Script, Splice, error) {
	more, err := Parse("the text", text)
	if err != nil {
		return nil, Splice{}, err
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	statement, at := len(s.layout.Statements), len(s.Text)
	if n < len(s.Calls) {
		if statement, err = s.statementOf(n); err != nil {
			return nil, Splice{}, err
		}
	} else if k := statement - 1; k >= 0 {
		if _, isReturn := s.layout.Statements[k].(*ast.ReturnStmt); isReturn {
			return nil, Splice{}, ErrShape
		}
	}
	if statement < len(s.layout.Statements) {
		from, _, ok := s.lines(statement)
		if !ok {
			return nil, Splice{}, ErrShape
		}
		if at = from; at == 0 {
			at = len(s.Text) - len(strings.TrimPrefix(s.Text, "\ufeff"))
		}
	} else if s.Text != "" && s.Text != "\ufeff" && !strings.HasSuffix(s.Text, "\n") {
		text = "\n" + text
	}
	want := slices.Insert(slices.Clone(s.layout.Statements), statement, more.layout.Statements...)
	return s.prove(Splice{From: at, To: at, Text: text}, want, &comparer{})
}

// Remove removes call number n, with the comments right above it. A variable with its result must
// not be used.
func (s *Script) Remove(n int) (*Script, Splice, error) {
	statement, err := s.statementOf(n)
	if err != nil {
		return nil, Splice{}, err
	}
	from, to, ok := s.lines(statement)
	if !ok {
		return nil, Splice{}, ErrShape
	}
	st := s.layout.Statements[statement]
	for i, other := range s.layout.Statements {
		if name := common(declared(st), used(other)); i != statement && name != "" {
			return nil, Splice{}, fmt.Errorf("%w: %w", ErrShape, diag.InUse(name, "other statements"))
		}
	}
	if from > 0 && to == len(s.Text) && !strings.HasSuffix(s.Text, "\n") {
		from--
	}
	want := slices.Delete(slices.Clone(s.layout.Statements), statement, statement+1)
	return s.prove(Splice{From: from, To: to}, want, &comparer{})
}

// InsertBehind puts statements behind call number n.
func (s *Script) InsertBehind(n int, text string) (*Script, Splice, error) {
	more, err := Parse("the text", text)
	if err != nil {
		return nil, Splice{}, err
	}
	statement, err := s.statementOf(n)
	if err != nil {
		return nil, Splice{}, err
	}
	_, at, ok := s.lines(statement)
	if !ok {
		return nil, Splice{}, ErrShape
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if !strings.HasSuffix(s.Text[:at], "\n") {
		text = "\n" + text
	}
	want := slices.Insert(slices.Clone(s.layout.Statements), statement+1, more.layout.Statements...)
	return s.prove(Splice{From: at, To: at, Text: text}, want, &comparer{})
}

// IsAssigned reports whether the result of call number n is assigned to a variable.
func (s *Script) IsAssigned(n int) bool {
	statement := s.Calls[n].statement
	if statement < 0 {
		return false
	}
	_, isCall := s.layout.Statements[statement].(*ast.FuncCallStmt)
	return !isCall
}

// Known reports whether all places of the call are known, so that it can be edited.
func (c *Call) Known() bool { return c.ok }

// Modules returns the variables that hold modules outside of all functions, with the names of the
// modules: local line = require "std.line", or local line = std.line.
func (s *Script) Modules() map[string]string {
	out := make(map[string]string)
	for _, st := range s.layout.Statements {
		local, ok := st.(*ast.LocalAssignStmt)
		if !ok || len(local.Names) != 1 || len(local.Exprs) != 1 {
			continue
		}
		if get, isField := local.Exprs[0].(*ast.AttrGetExpr); isField {
			std, isName := get.Object.(*ast.IdentExpr)
			if name, isText := get.Key.(*ast.StringExpr); isName && isText && std.Value == "std" {
				out[local.Names[0]] = "std." + name.Value
			}
		}
		if call := callOf(st); call != nil && len(call.Args) == 1 {
			f, isName := call.Func.(*ast.IdentExpr)
			name, isText := call.Args[0].(*ast.StringExpr)
			if isName && isText && f.Value == "require" {
				out[local.Names[0]] = name.Value
			}
		}
	}
	return out
}
