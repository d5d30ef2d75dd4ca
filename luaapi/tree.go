package luaapi

import (
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/runtime/diag"
)

// A tree is the syntax tree of a chunk together with the places of its nodes in
// the text. It is made when a message needs it: most scripts have no
// mistakes.
//
// The parser keeps no columns. But every name, string, number and brace in the
// text is a node or a word of the tree, and a walk meets them in the order of
// the text; so the tokens of the text, read once more, give the places.
type tree struct {
	first  int
	stmts  []ast.Stmt
	nodes  []ast.PositionHolder // by number
	spans  map[ast.PositionHolder]span
	tokens []token
	names  []int // the tokens with the names in declarations of local variables, in order
	lost   bool  // a token did not match a node, so that no place is known

	kinds map[*ast.IdentExpr]string // of variables, once one was asked for
}

// A span is the first and the last token of a node.
type span struct{ first, last int }

// A token is a word of the text.
type token struct {
	typ       int
	text      string
	line, col int
	len       int // on its first line
}

// tokenize returns the tokens of text. The error is a *parse.Error; then the last token is the
// one that could not be read.
func tokenize(text string) ([]token, error) {
	var out []token
	for r := newTokenReader(text); ; {
		t, err := r.read()
		if err != nil {
			return append(out, t), err
		}
		if t.typ == parse.EOF {
			return out, nil
		}
		out = append(out, t)
	}
}

// A tokenReader reads the tokens of a text one by one.
type tokenReader struct {
	sc    *parse.Scanner
	lexer parse.Lexer
}

func newTokenReader(text string) *tokenReader {
	return &tokenReader{sc: parse.NewScanner(strings.NewReader(text), "")}
}

// read returns the next token; at the end of the text that is one of type parse.EOF.
func (r *tokenReader) read() (token, error) {
	tok, err := r.sc.Scan(&r.lexer)
	t := token{typ: tok.Type, text: tok.Str, line: tok.Pos.Line, col: tok.Pos.Column, len: 1}
	switch {
	case r.sc.Pos.Line == t.line:
		t.len = r.sc.Pos.Column - t.col + 1
	case t.typ == parse.TString || err != nil:
		t.len = 2
	default: // the last token of a text that ends without a newline
		t.len = max(1, len(t.text))
	}
	if t.text == "" && t.typ > 0 && t.typ < 256 {
		t.text = string(rune(t.typ)) // the scanner leaves out that of a dot
	}
	return t, err
}

// newTree parses text, in which first is the number of the first node.
func newTree(first int, text string) *tree {
	t := &tree{first: first, spans: make(map[ast.PositionHolder]span)}
	// The text was parsed before, so there is no error now.
	t.stmts, _ = parseLua(text, "")
	t.tokens, _ = tokenize(text)
	a := aligner{tree: t}
	a.align(t.stmts)
	return t
}

// An aligner matches the nodes of a tree with the tokens of the text.
type aligner struct {
	*tree
	reader *tokenReader // of the remaining tokens; nil if there are none
	next   int          // the first of the tokens to be matched
	leaves []int        // the tokens that are nodes or words
	marks  []mark
}

// A mark is the state in which a node was entered.
type mark struct{ leaves, next int }

// align finds the places of the nodes of statements, which follow those that were aligned
// before.
func (a *aligner) align(stmts []ast.Stmt) {
	w := walker{enter: a.enter, leave: a.leave, word: a.word}
	w.stmts(stmts)
	if a.lost {
		clear(a.spans)
		a.names = nil
	}
}

// forget drops the places found so far.
func (a *aligner) forget() {
	clear(a.spans)
	a.tokens = append(a.tokens[:0], a.tokens[a.next:]...)
	a.nodes, a.names, a.leaves, a.next = a.nodes[:0], a.names[:0], a.leaves[:0], 0
}

// more reports whether there is a next token.
func (a *aligner) more() bool {
	if a.next == len(a.tokens) && a.reader != nil {
		// The text was parsed before, so all of it can be read.
		if t, err := a.reader.read(); err == nil && t.typ != parse.EOF {
			a.tokens = append(a.tokens, t)
		} else {
			a.reader = nil
		}
	}
	return a.next < len(a.tokens)
}

func (a *aligner) enter(n ast.PositionHolder) {
	if hasNumber(n) {
		a.nodes = append(a.nodes, n)
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
		t := &a.tokens[a.next]
		switch t.typ {
		case parse.TIdent, parse.TString, parse.TNumber, '{', parse.T3Comma, parse.TNil, parse.TTrue, parse.TFalse:
		default:
			continue
		}
		for _, typ := range types {
			if typ == t.typ && text == t.text {
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
		for i := m.next; i < a.next && i < len(a.tokens); i++ {
			if a.tokens[i].typ == parse.TFunction {
				a.spans[n] = span{i, i}
				return
			}
		}
	}
	if m.leaves < len(a.leaves) {
		a.spans[n] = span{a.leaves[m.leaves], a.leaves[len(a.leaves)-1]}
	}
}

// node returns a node by its number, or nil.
func (t *tree) node(n int) ast.PositionHolder {
	if i := n - t.first; i >= 0 && i < len(t.nodes) {
		return t.nodes[i]
	}
	return nil
}

// nodePos returns the position of a node by its number; for a call, that of the called function, or
// of the name of a method if that is in a later line than the object.
func (t *tree) nodePos(n int) diag.Pos {
	switch e := t.node(n).(type) {
	case *ast.FuncCallExpr:
		if e.Func != nil {
			return t.posOf(e.Func)
		}
		p := t.posOf(e.Receiver)
		for i := t.spans[e.Receiver].last + 1; p.Line > 0 && i < len(t.tokens)-1; i++ {
			if name := t.tokens[i+1]; t.tokens[i].typ == ':' {
				if name.text == e.Method && name.line > p.Line {
					return diag.Pos{Line: name.line, Col: name.col, Len: name.len}
				}
				break
			}
		}
		return p
	case nil:
		return diag.Pos{}
	default:
		return t.posOf(e)
	}
}

// posOf returns the place of a node without its file, zero if it has none.
func (t *tree) posOf(n ast.PositionHolder) diag.Pos {
	s, ok := t.spans[n]
	if !ok {
		return diag.Pos{}
	}
	first, last := t.tokens[s.first], t.tokens[s.last]
	p := diag.Pos{Line: first.line, Col: first.col, Len: first.len}
	if first.line == last.line {
		p.Len = last.col + last.len - first.col
	}
	return p
}

// locals returns the names of the local variables that are visible at a node,
// the innermost first.
func (t *tree) locals(node int) []string {
	target := t.node(node)
	var visible scopes
	var found []string
	w := walker{enter: func(n ast.PositionHolder) {
		if n == target && found == nil {
			found = slices.Concat([]string{}, slices.Concat(visible...))
			slices.Reverse(found)
		}
	}}
	visible.follow(&w)
	w.block(t.stmts)
	return found
}
