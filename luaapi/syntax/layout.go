package syntax

import (
	"errors"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// A Layout is a script with the byte offsets of its words and nodes, for tools that change the
// text.
type Layout struct {
	Text       string
	Statements []ast.Stmt // outside of all others
	Words      []Word     // of the text, in their order; comments are none

	tree *Tree
	ends []int // by word: the index of the word that closes what it opens, else its own index
}

// A Word is a name, a keyword, a literal or an operator of a script.
type Word struct {
	From, To int // in bytes
	Type     int // as in package parse of gopher-lua
}

// errPlaces says that the words of a valid text could not be located.
var errPlaces = errors.New("the positions of the words are unknown")

// ReadLayout parses a script. The error is that of a run, a *diag.Error.
func ReadLayout(name, text string) (*Layout, error) {
	if _, err := Parse(name, text); err != nil {
		return nil, err
	}
	rest := WithoutShebang(strings.TrimPrefix(text, "\ufeff"))
	l := &Layout{Text: text, tree: NewTree(0, rest)}
	l.Statements = l.tree.Stmts
	if l.tree.lost || !l.place(rest, len(text)-len(rest)) {
		return nil, errPlaces
	}
	l.match()
	return l, nil
}

// place locates the words in rest, which begins at offset base.
func (l *Layout) place(rest string, base int) bool {
	lines := scannedLines(rest)
	l.Words = make([]Word, len(l.tree.Tokens))
	for i, t := range l.tree.Tokens {
		if t.Line < 1 || t.Line > len(lines) {
			return false
		}
		from := lines[t.Line-1] + t.Col - 1
		to, ok := wordEnd(rest, from, t)
		if !ok {
			return false
		}
		l.Words[i] = Word{base + from, base + to, t.Typ}
	}
	return true
}

// scannedLines returns the offsets of lines, as the scanner of gopher-lua counts them.
func scannedLines(text string) []int {
	lines := []int{0}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\n' && c != '\r' {
			continue
		}
		if i+1 < len(text) && (c == '\n' && text[i+1] == '\r' || c == '\r' && text[i+1] == '\n') {
			i++
		}
		lines = append(lines, i+1)
	}
	return lines
}

// wordEnd returns the end of the word at an offset. It is false if the text has another word
// there.
func wordEnd(text string, from int, t Token) (to int, ok bool) {
	if from < 0 || from >= len(text) {
		return 0, false
	}
	switch t.Typ {
	case parse.TString:
		switch text[from] {
		case '"', '\'':
			to, _ = quotedEnd(text, from)
		case '[':
			to, _, _ = bracketEnd(text, from)
		}
		return to, to > from+1
	case parse.TNumber: // the scanner drops the zeros before a number
		for text[from] == '0' && !strings.HasPrefix(text[from:], t.text) && from+1 < len(text) {
			from++
		}
	case parse.TEqeq, parse.TNeq, parse.TLte, parse.TGte, parse.T2Comma, parse.T2Colon:
		return from + 2, from+2 <= len(text)
	case parse.T3Comma:
		return from + 3, strings.HasPrefix(text[from:], "...")
	}
	if t.Typ > 0 && t.Typ < 256 {
		return from + 1, int(text[from]) == t.Typ
	}
	return from + len(t.text), t.text != "" && strings.HasPrefix(text[from:], t.text)
}

// match finds the closing word for each bracket and each word that begins a block.
func (l *Layout) match() {
	l.ends = make([]int, len(l.Words))
	var open []int
	for i, w := range l.Words {
		l.ends[i] = i
		switch w.Type {
		case '(', '[', '{', parse.TFunction, parse.TDo, parse.TIf, parse.TRepeat:
			open = append(open, i)
		case ')', ']', '}', parse.TEnd, parse.TUntil:
			if len(open) > 0 { // always, as the text was parsed
				l.ends[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		}
	}
}

// Close returns the index of the word that closes a bracket or a block. For other words it is
// their own index.
func (l *Layout) Close(word int) int { return l.ends[word] }

// First returns the index of the first word of a node, false if unknown. Parentheses around the
// node are not part of it.
func (l *Layout) First(n ast.PositionHolder) (int, bool) {
	s, ok := l.tree.spans[n]
	return s.first, ok
}

// Last returns the index of the last word of a node, with closing brackets and the end of its
// blocks. For a function statement it is the last name.
func (l *Layout) Last(n ast.PositionHolder) (int, bool) {
	s, ok := l.tree.spans[n]
	if !ok {
		return 0, false
	}
	last := s.last
	for i := s.first; i <= s.last; i++ {
		last = max(last, l.ends[i])
	}
	// In parentheses there may be no word of the tree: f(), f(function() end).
	if call, isCall := n.(*ast.FuncCallExpr); isCall {
		if callee, ok := l.callee(call); ok && callee+1 < len(l.Words) && l.Words[callee+1].Type == '(' {
			last = max(last, l.ends[callee+1])
		}
	}
	if st, isCall := n.(*ast.FuncCallStmt); isCall {
		return l.Last(st.Expr)
	}
	return last, true
}

// callee returns the last word of the called expression.
func (l *Layout) callee(call *ast.FuncCallExpr) (int, bool) {
	if call.Func != nil {
		return l.Last(call.Func)
	}
	last, ok := l.Last(call.Receiver)
	for last++; ok && last < len(l.Words) && l.Words[last].Type != ':'; last++ {
	}
	return last + 1, ok // the name behind the colon
}

// Span returns the bytes of a node, false if unknown.
func (l *Layout) Span(n ast.PositionHolder) (from, to int, ok bool) {
	first, ok1 := l.First(n)
	last, ok2 := l.Last(n)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	return l.Words[first].From, l.Words[last].To, true
}

// Walk calls enter before and leave after the parts of each node, in the order of the text. Leave
// may be nil.
func Walk(stmts []ast.Stmt, enter, leave func(ast.PositionHolder)) {
	w := Walker{Enter: enter, Leave: leave}
	w.Stmts(stmts)
}
