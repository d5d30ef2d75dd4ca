package syntax

import (
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Tree is the syntax tree of a chunk together with the places of its nodes in
// the text. It is made when a message needs it: most scripts have no
// mistakes.
//
// The parser keeps no columns. But every name, string, number and brace in the
// text is a node or a word of the tree, and a walk meets them in the order of
// the text; so the tokens of the text, read once more, give the places.
type Tree struct {
	First  int
	Stmts  []ast.Stmt
	Nodes  []ast.PositionHolder // by number
	spans  map[ast.PositionHolder]span
	Tokens []Token
	names  []int // the tokens with the names in declarations of local variables, in order
	lost   bool  // a token did not match a node, so that no place is known

	kinds map[*ast.IdentExpr]string // of variables, once one was asked for
}

// A span is the first and the last token of a node.
type span struct{ first, last int }

// A Token is a word of the text.
type Token struct {
	Typ       int
	text      string
	Line, Col int
	len       int // on its first line
}

// Tokenize returns the tokens of text. The error is a *parse.Error; then the last token is the
// one that could not be read.
func Tokenize(text string) ([]Token, error) {
	var out []Token
	for r := NewTokenReader(text); ; {
		t, err := r.Read()
		if err != nil {
			return append(out, t), err
		}
		if t.Typ == parse.EOF {
			return out, nil
		}
		out = append(out, t)
	}
}

// A TokenReader reads the tokens of a text one by one.
type TokenReader struct {
	sc    *parse.Scanner
	lexer parse.Lexer
}

// NewTokenReader returns a reader at the beginning of a text.
func NewTokenReader(text string) *TokenReader {
	return &TokenReader{sc: parse.NewScanner(strings.NewReader(text), "")}
}

// Read returns the next token; at the end of the text that is one of type parse.EOF.
func (r *TokenReader) Read() (Token, error) {
	tok, err := r.sc.Scan(&r.lexer)
	t := Token{Typ: tok.Type, text: tok.Str, Line: tok.Pos.Line, Col: tok.Pos.Column, len: 1}
	switch {
	case r.sc.Pos.Line == t.Line:
		t.len = r.sc.Pos.Column - t.Col + 1
	case t.Typ == parse.TString || err != nil:
		t.len = 2
	default: // the last Token of a text that ends without a newline
		t.len = max(1, len(t.text))
	}
	if t.text == "" && t.Typ > 0 && t.Typ < 256 {
		t.text = string(rune(t.Typ)) // the scanner leaves out that of a dot
	}
	return t, err
}

// NewTree parses text, in which first is the number of the first node.
func NewTree(first int, text string) *Tree {
	t := &Tree{First: first, spans: make(map[ast.PositionHolder]span)}
	// The text was parsed before, so there is no error now.
	t.Stmts, _ = ParseTree(text, "")
	t.Tokens, _ = Tokenize(text)
	a := aligner{Tree: t}
	a.align(t.Stmts)
	return t
}

// An aligner matches the nodes of a tree with the tokens of the text.
type aligner struct {
	*Tree
	reader *TokenReader // of the remaining tokens; nil if there are none
	next   int          // the first of the tokens to be matched
	leaves []int        // the tokens that are nodes or words
	marks  []mark
}

// A mark is the state in which a node was entered.
type mark struct{ leaves, next int }

// align finds the places of the nodes of statements, which follow those that were aligned
// before.
func (a *aligner) align(stmts []ast.Stmt) {
	w := Walker{Enter: a.enter, Leave: a.leave, Word: a.word}
	w.Stmts(stmts)
	if a.lost {
		clear(a.spans)
		a.names = nil
	}
}

// forget drops the places found so far.
func (a *aligner) forget() {
	clear(a.spans)
	a.Tokens = append(a.Tokens[:0], a.Tokens[a.next:]...)
	a.Nodes, a.names, a.leaves, a.next = a.Nodes[:0], a.names[:0], a.leaves[:0], 0
}

// more reports whether there is a next token.
func (a *aligner) more() bool {
	if a.next == len(a.Tokens) && a.reader != nil {
		// The text was parsed before, so all of it can be read.
		if t, err := a.reader.Read(); err == nil && t.Typ != parse.EOF {
			a.Tokens = append(a.Tokens, t)
		} else {
			a.reader = nil
		}
	}
	return a.next < len(a.Tokens)
}

func (a *aligner) enter(n ast.PositionHolder) {
	if HasNumber(n) {
		a.Nodes = append(a.Nodes, n)
	}
	a.marks = append(a.marks, mark{len(a.leaves), a.next})
	switch n := n.(type) {
	case *ast.IdentExpr:
		a.match(n.Value, parse.TIdent)
	case *ast.StringExpr:
		a.match(n.Value, parse.TString, parse.TIdent)
	case *ast.NumberExpr:
		a.match(n.Value, parse.TNumber)
	case *ast.TableExpr:
		a.match("{", '{')
	case *ast.Comma3Expr:
		a.match("...", parse.T3Comma)
	case *ast.NilExpr:
		a.match("nil", parse.TNil)
	case *ast.TrueExpr:
		a.match("true", parse.TTrue)
	case *ast.FalseExpr:
		a.match("false", parse.TFalse)
	}
}

func (a *aligner) word(name string, local bool) {
	if name == "..." {
		a.match(name, parse.T3Comma)
		return
	}
	a.match(name, parse.TIdent)
	if local && !a.lost {
		a.names = append(a.names, a.leaves[len(a.leaves)-1])
	}
}

// match finds the next token that is a node or a word. It has to be the given one.
func (a *aligner) match(text string, types ...int) {
	for ; !a.lost && a.more(); a.next++ {
		t := &a.Tokens[a.next]
		switch t.Typ {
		case parse.TIdent, parse.TString, parse.TNumber, '{', parse.T3Comma, parse.TNil, parse.TTrue, parse.TFalse:
		default:
			continue
		}
		for _, typ := range types {
			if typ == t.Typ && text == t.text {
				a.leaves = append(a.leaves, a.next)
				a.next++
				return
			}
		}
		break
	}
	a.lost = true
}

func (a *aligner) leave(n ast.PositionHolder) {
	m := a.marks[len(a.marks)-1]
	a.marks = a.marks[:len(a.marks)-1]
	if _, ok := n.(*ast.FunctionExpr); ok {
		// The word function is no leaf, because it stands before the name in a
		// definition and before the parameters elsewhere.
		for i := m.next; i < a.next && i < len(a.Tokens); i++ {
			if a.Tokens[i].Typ == parse.TFunction {
				a.spans[n] = span{i, i}
				return
			}
		}
	}
	if m.leaves < len(a.leaves) {
		a.spans[n] = span{a.leaves[m.leaves], a.leaves[len(a.leaves)-1]}
	}
}

// Node returns a node by its number, or nil.
func (t *Tree) Node(n int) ast.PositionHolder {
	if i := n - t.First; i >= 0 && i < len(t.Nodes) {
		return t.Nodes[i]
	}
	return nil
}

// NodePos returns the position of a node by its number; for a call, that of the called function, or
// of the name of a method if that is in a later line than the object.
func (t *Tree) NodePos(n int) diag.Pos {
	switch e := t.Node(n).(type) {
	case *ast.FuncCallExpr:
		if e.Func != nil {
			return t.PosOf(e.Func)
		}
		p := t.PosOf(e.Receiver)
		for i := t.spans[e.Receiver].last + 1; p.Line > 0 && i < len(t.Tokens)-1; i++ {
			if name := t.Tokens[i+1]; t.Tokens[i].Typ == ':' {
				if name.text == e.Method && name.Line > p.Line {
					return diag.Pos{Line: name.Line, Col: name.Col, Len: name.len}
				}
				break
			}
		}
		return p
	case nil:
		return diag.Pos{}
	default:
		return t.PosOf(e)
	}
}

// PosOf returns the place of a node without its file, zero if it has none.
func (t *Tree) PosOf(n ast.PositionHolder) diag.Pos {
	s, ok := t.spans[n]
	if !ok {
		return diag.Pos{}
	}
	first, last := t.Tokens[s.first], t.Tokens[s.last]
	p := diag.Pos{Line: first.Line, Col: first.Col, Len: first.len}
	if first.Line == last.Line {
		p.Len = last.Col + last.len - first.Col
	}
	return p
}

// Locals returns the names of the local variables that are visible at a node,
// the innermost first.
func (t *Tree) Locals(node int) []string {
	target := t.Node(node)
	var visible Scopes
	var found []string
	w := Walker{Enter: func(n ast.PositionHolder) {
		if n == target && found == nil {
			found = slices.Concat([]string{}, slices.Concat(visible...))
			slices.Reverse(found)
		}
	}}
	visible.Follow(&w)
	w.Block(t.Stmts)
	return found
}

// IsFieldValue reports whether a node is the whole value of a named field of a table, as x in { name = x }.
func (t *Tree) IsFieldValue(node ast.PositionHolder) bool {
	found := false
	Walk(t.Stmts, func(n ast.PositionHolder) {
		if table, ok := n.(*ast.TableExpr); ok && !found {
			found = slices.ContainsFunc(table.Fields, func(f *ast.Field) bool { return f.Key != nil && f.Value == node })
		}
	}, func(ast.PositionHolder) {})
	return found
}

// HasNumber reports whether n can be where a script fails or calls.
func HasNumber(n ast.PositionHolder) bool {
	switch n.(type) {
	case *ast.IdentExpr, *ast.AttrGetExpr, *ast.FuncCallExpr, *ast.TableExpr,
		*ast.RelationalOpExpr, *ast.StringConcatOpExpr, *ast.ArithmeticOpExpr,
		*ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr,
		*ast.NumberForStmt, *ast.GenericForStmt:
		return true
	}
	return false
}

// Kind returns the kind of a variable: local, upvalue or global.
func (t *Tree) Kind(e *ast.IdentExpr) string {
	if t.kinds == nil {
		t.kinds = make(map[*ast.IdentExpr]string)
		var functions []int // the number of scopes around each function that is being visited
		var visible Scopes
		w := Walker{
			Enter: func(n ast.PositionHolder) {
				switch n := n.(type) {
				case *ast.FunctionExpr:
					functions = append(functions, len(visible))
				case *ast.IdentExpr:
					t.kinds[n] = visible.kind(n.Value, functions)
				}
			},
			Leave: func(n ast.PositionHolder) {
				if _, ok := n.(*ast.FunctionExpr); ok {
					functions = functions[:len(functions)-1]
				}
			},
		}
		visible.Follow(&w)
		w.Block(t.Stmts)
	}
	return t.kinds[e]
}

// kind returns the kind of the variable with a name that is visible. Functions has the number of
// scopes around each function, the innermost last.
func (s Scopes) kind(name string, functions []int) string {
	own := 0
	if n := len(functions); n > 0 {
		own = functions[n-1]
	}
	for i := len(s) - 1; i >= 0; i-- {
		for _, local := range s[i] {
			if local != name {
				continue
			}
			if i < own {
				return "upvalue"
			}
			return "local"
		}
	}
	return "global"
}
