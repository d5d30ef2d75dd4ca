package template

import (
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// HasExpression reports whether text may contain an expression. It is fast, because most texts
// contain none.
func HasExpression(text string) bool {
	return strings.IndexByte(text, '{') >= 0 && (strings.Contains(text, "${") || strings.Contains(text, "{{"))
}

// A span is one expression in a text.
type span struct {
	begin, end int    // including the braces
	at         int    // the offset of code
	code       string // without surrounding space
}

// scan finds the expressions in a text. An expression ends at the brace that
// closes it: quoted strings, and braces opened inside it, are skipped. In ${{ x
// }} the $ is a letter.
func scan(text string) (spans []span, err error) {
	for i := 0; i+1 < len(text); {
		closing := ""
		switch {
		case text[i] == '{' && text[i+1] == '{':
			closing = "}}"
		case text[i] == '$' && text[i+1] == '{' && !strings.HasPrefix(text[i+1:], "{{"):
			closing = "}"
		default:
			i++
			continue
		}
		end := closeOf(text, i+2, closing)
		if end < 0 {
			return nil, &Error{Offset: i, Length: 2, Err: diag.Errorf(diag.Pos{}, "missing %s after %s", closing, text[i:i+2]).
				WithHint("for a literal one use ${ '%s' }", text[i:i+2])}
		}
		inner := text[i+2 : end]
		code := strings.TrimSpace(inner)
		s := span{begin: i, end: end + len(closing), at: i + 2 + strings.Index(inner, code), code: code}
		if code == "" {
			return nil, &Error{Offset: s.begin, Length: s.end - s.begin, Err: diag.At(diag.Pos{}, diag.Expected("an expression in %s", text[s.begin:s.end]).Found("none")).
				WithHint("for a literal one use ${ '%s' }", text[s.begin:s.end])}
		}
		if closing == "}" && isGroup(inner) {
			return nil, &Error{Offset: s.begin, Length: s.end - s.begin, Err: diag.Errorf(diag.Pos{}, "%s is evaluated to the number %s here", text[s.begin:s.end], inner).
				WithHint("for a literal one use ${ '%s' }", text[s.begin:s.end])}
		}
		spans = append(spans, s)
		i = s.end
	}
	return spans, nil
}

// isGroup reports whether ${ and } surround only digits. That is no expression, but a group of a
// regular expression, or an argument of a shell script.
func isGroup(inner string) bool {
	return strings.Trim(inner, "0123456789") == ""
}

// closeOf returns the end of the expression that begins at i, or -1.
func closeOf(text string, i int, closing string) int {
	depth := 0
	for i < len(text) {
		switch c := text[i]; c {
		case '"', '\'', '`':
			i = endOfString(text, i)
			continue
		case '{':
			depth++
		case '}':
			if depth == 0 && strings.HasPrefix(text[i:], closing) {
				return i
			}
			depth = max(0, depth-1)
		}
		i++
	}
	return -1
}

// endOfString returns the offset after the string that begins at i.
func endOfString(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != '`':
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}
