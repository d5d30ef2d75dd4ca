package inventory

import (
	"errors"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// literal returns the value of a text in an INI file: a literal of Python (numbers, True, False,
// None, quoted texts, lists, tuples and dictionaries of these), or else the text.
func literal(text string) any {
	p := pythonReader{remaining: text}
	if v, ok := p.value(0); ok {
		p.space()
		if p.remaining == "" || p.remaining[0] == '#' {
			return v
		}
	}
	return text
}

// maxNesting is the most levels of lists.
const maxNesting = 50

// A pythonReader reads literals of Python.
type pythonReader struct{ remaining string }

// number matches Python's numbers except 1j, which nobody uses.
var number = lazyregexp.New(`^[+-]?(0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO][0-7]+|(0+|[1-9][0-9_]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?)`)

func (p *pythonReader) space() { p.remaining = strings.TrimLeft(p.remaining, " \t") }

func (p *pythonReader) take(word string) bool {
	rest, ok := strings.CutPrefix(p.remaining, word)
	if ok {
		p.remaining = rest
	}
	return ok
}

func (p *pythonReader) value(depth int) (any, bool) {
	p.space()
	switch {
	case p.remaining == "" || depth > maxNesting:
		return nil, false
	case p.take("True"):
		return true, true
	case p.take("False"):
		return false, true
	case p.take("None"):
		return nil, true
	case p.remaining[0] == '\'' || p.remaining[0] == '"':
		return p.text()
	case p.take("["):
		return p.list("]", depth)
	case p.take("("):
		return p.list(")", depth)
	case p.take("{"):
		return p.dictionary(depth)
	}
	m := number().FindString(p.remaining)
	if m == "" {
		return nil, false
	}
	p.remaining = p.remaining[len(m):]
	plain := strings.ReplaceAll(m, "_", "")
	n, err := strconv.ParseInt(plain, 0, 64)
	if err != nil {
		n, err = strconv.ParseInt(plain, 10, 64) // 00
	}
	if err == nil {
		return n, isExact(n)
	}
	f, err := strconv.ParseFloat(plain, 64)
	return f, err == nil && !errors.Is(err, strconv.ErrRange) && strings.ContainsAny(plain, ".eE")
}

// isExact reports whether Lua, and readers of JSON, have the number exactly. Others stay text.
func isExact(n int64) bool { return -1<<53 <= n && n <= 1<<53 }

// escapes are the characters after a backslash in a text, with their values.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"'}

func (p *pythonReader) text() (any, bool) {
	quote := p.remaining[0]
	var b strings.Builder
	for i := 1; i < len(p.remaining); i++ {
		c := p.remaining[i]
		switch {
		case c == quote:
			p.remaining = p.remaining[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(p.remaining):
			i++
			e, ok := escapes[p.remaining[i]]
			if !ok { // Python keeps the backslash
				b.WriteByte('\\')
				e = p.remaining[i]
			}
			b.WriteByte(e)
		default:
			b.WriteByte(c)
		}
	}
	return nil, false
}

func (p *pythonReader) list(end string, depth int) (any, bool) {
	list := []any{}
	for {
		p.space()
		if p.take(end) {
			return list, true
		}
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if p.space(); !p.take(",") {
			return list, p.take(end)
		}
	}
}

func (p *pythonReader) dictionary(depth int) (any, bool) {
	m := map[string]any{}
	for {
		p.space()
		if p.take("}") {
			return m, true
		}
		key, ok := p.value(depth + 1)
		p.space()
		name, isText := key.(string)
		if !ok || !isText || !p.take(":") {
			return nil, false
		}
		if m[name], ok = p.value(depth + 1); !ok {
			return nil, false
		}
		if p.space(); !p.take(",") {
			return m, p.take("}")
		}
	}
}
