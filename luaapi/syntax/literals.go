package syntax

import (
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua reads a text one character at a time, with a call and a copy for
// each: a run that finds 1,000 files with a KiB of content unchanged takes 1.27 times the
// processor time (21 pairs of runs). So long strings are taken out before the text is parsed, and put into the
// syntax tree afterwards. In the place of each the parser reads a short string and as
// many newlines.

const (
	// longLiteral is the least length, in bytes, of strings that are taken out.
	longLiteral = 64
	// manyLiterals is the least length of texts, in bytes, for which this pays.
	manyLiterals = 2 << 10
	// literalMark begins the string in the place of one that is taken out. It holds a
	// character that scripts do not have; texts that have it are parsed as they are.
	literalMark = "\x01ccm "
)

// ParseText parses a text, without the #! line of a Unix script. The error and
// the tree are those of parse.Parse, but for what that misreads ([misread]).
func ParseText(text, name string) ([]ast.Stmt, error) {
	parse := ParseTree
	if len(text) >= manyLiterals {
		parse = func(text, name string) ([]ast.Stmt, error) { return parseShort(text, name, longLiteral) }
	}
	stmts, err := parse(text, name)
	if err != nil {
		return nil, err
	}
	if err := misread(text); err != nil {
		return nil, err
	}
	return stmts, nil
}

// parseShort parses a text without the strings of at least long bytes.
func parseShort(text, name string, long int) ([]ast.Stmt, error) {
	if short, literals := withoutLiterals(text, long); len(literals) > 0 {
		if stmts, err := ParseTree(short, name); err == nil {
			w := &Walker{Enter: func(n ast.PositionHolder) {
				if e, ok := n.(*ast.StringExpr); ok {
					if number, ok := strings.CutPrefix(e.Value, literalMark); ok {
						i, _ := strconv.Atoi(number)
						e.Value = literals[i]
					}
				}
			}}
			w.Stmts(stmts)
			return stmts, nil
		}
		// Mistakes are those of the whole text.
	}
	return ParseTree(text, name)
}

// withoutLiterals returns text with a mark in the place of each string of at least
// long bytes, and the values of those strings. Strings that hold a backslash or a
// carriage return stay: their value differs from the text.
func withoutLiterals(text string, long int) (short string, literals []string) {
	if strings.Contains(text, literalMark) {
		return text, nil
	}
	var b strings.Builder
	done := 0 // what is before it is in b
	replace := func(from, to int, value string) {
		b.WriteString(text[done:from])
		b.WriteByte('"')
		b.WriteString(literalMark)
		b.WriteString(strconv.Itoa(len(literals)))
		b.WriteByte('"')
		for range strings.Count(text[from:to], "\n") {
			b.WriteByte('\n')
		}
		literals = append(literals, value)
		done = to
	}
	eachLiteral(text, func(from, to int, inner string, plain bool) {
		switch {
		case len(inner) < long:
		case text[from] != '[':
			if plain {
				replace(from, to, inner)
			}
		case inner != "" && !strings.Contains(inner, "\r") && !opensCall(text[to:]):
			replace(from, to, strings.TrimPrefix(inner, "\n"))
		}
	})
	if len(literals) == 0 {
		return text, nil
	}
	b.WriteString(text[done:])
	return b.String(), literals
}

// eachLiteral calls found with each string of a text: its bytes, and the text in its quotes or
// brackets. A string in quotes is plain if that text is its value. A bracket that begins no
// string is passed too, with an empty text.
func eachLiteral(text string, found func(from, to int, inner string, plain bool)) {
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "\"'[-")
		if next < 0 {
			break
		}
		i += next
		switch text[i] {
		case '"', '\'':
			end, plain := quotedEnd(text, i)
			found(i, end, text[i+1:max(i+1, end-1)], plain)
			i = end
		case '[':
			end, value, _ := bracketEnd(text, i)
			found(i, end, value, false)
			i = end
		default:
			i++
			if i == len(text) || text[i] != '-' {
				continue
			}
			i++
			end, _, _ := bracketEnd(text, i)
			if end <= i+1 { // a comment to the end of the line
				nl := strings.IndexAny(text[i:], "\r\n")
				if nl < 0 {
					nl = len(text) - i
				}
				end = i + nl
			}
			i = end
		}
	}
}

// quotedEnd returns the end of the string in quotes at i, and whether the text in the quotes is
// its value.
func quotedEnd(text string, i int) (end int, plain bool) {
	at, quote := i+1, i
	for {
		if quote < at {
			n := strings.IndexByte(text[at:], text[i])
			if n < 0 {
				return len(text), false
			}
			quote = at + n
		}
		n := strings.IndexByte(text[at:quote], '\\')
		if n < 0 {
			return quote + 1, at == i+1 && !strings.ContainsAny(text[at:quote], "\r\n")
		}
		if at += n + 2; at > len(text) { // what follows a backslash ends nothing
			return len(text), false
		}
	}
}

// bracketEnd returns the end of the string in long brackets at i, its value, and whether its closing brackets are there.
// If there is no string, end is i+1 and the value is empty.
func bracketEnd(text string, i int) (end int, value string, closed bool) {
	if i >= len(text) || text[i] != '[' {
		return i + 1, "", false
	}
	level := 0
	for i+1+level < len(text) && text[i+1+level] == '=' {
		level++
	}
	if i+1+level >= len(text) || text[i+1+level] != '[' {
		return i + 1, "", false
	}
	from := i + level + 2
	n := strings.Index(text[from:], "]"+strings.Repeat("=", level)+"]")
	if n < 0 {
		return len(text), "", false
	}
	return from + n + level + 2, text[from : from+n], true
}

// opensCall reports whether text begins with a bracket that calls the value before it,
// which on another line is a mistake in Lua.
func opensCall(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "(")
}

// WithoutShebang returns a text without the #! line of a Unix script. The numbers of the
// other lines stay as they are.
func WithoutShebang(text string) string {
	if strings.HasPrefix(text, "#") {
		if nl := strings.IndexByte(text, '\n'); nl >= 0 {
			return text[nl:]
		}
		return ""
	}
	return text
}
