package luaapi

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/gopher-lua/ast"
)

// A packedText is a text without its long strings with escapes, such as "line\nline\n", and has
// their values instead. The catalog holds the same values, so a script that writes out its files
// takes their memory once. The text is rebuilt from the values when a message needs it.
type packedText struct {
	packed string   // the text with marks in the place of the strings
	values []string // of the marks
	text   func() string
}

const (
	// packedLiteral is the least length, in bytes, of strings with escapes that are taken out.
	packedLiteral = 256
	// packedMark begins the mark in the quotes of such a string.
	packedMark = "\x01esc "
)

// pack takes strings with escapes of at least long bytes out of a text. A string stays if
// [escape] would write it differently.
func pack(text string, long int) *packedText {
	p := takeOut(text, long, func(inner string, plain bool) (string, bool) {
		if plain {
			return "", false // its value shares the memory of the text
		}
		return unescape(inner), true
	})
	p.text = sync.OnceValue(p.unpack)
	return p
}

// packWritten also takes out plain strings, and keeps strings as they are written: they share the
// memory of the text, which is kept.
func packWritten(text string, long int) *packedText {
	p := takeOut(text, long, func(inner string, _ bool) (string, bool) { return inner, true })
	p.text = func() string { return text }
	return p
}

// takeOut takes strings of at least long bytes out of a text. Value returns what to keep of the
// text in the quotes, and whether to take the string out.
func takeOut(text string, long int, value func(inner string, plain bool) (string, bool)) *packedText {
	if strings.Contains(text, packedMark) {
		return unpacked(text)
	}
	p := &packedText{}
	var b strings.Builder
	done := 0 // what is before it is in b
	eachLiteral(text, func(from, to int, inner string, plain bool) {
		if text[from] == '[' || text[to-1] != text[from] || len(inner) < max(1, long) || !isEscaped(inner, text[from]) {
			return
		}
		v, ok := value(inner, plain)
		if !ok {
			return
		}
		b.WriteString(text[done : from+1])
		b.WriteString(packedMark)
		b.WriteString(strconv.Itoa(len(p.values)))
		p.values = append(p.values, v)
		done = to - 1
	})
	if len(p.values) == 0 {
		return unpacked(text)
	}
	b.WriteString(text[done:])
	p.packed = b.String()
	return p
}

// unpacked is a text from which nothing is taken out.
func unpacked(text string) *packedText {
	return &packedText{packed: text, text: func() string { return text }}
}

// unpack makes the whole text.
func (p *packedText) unpack() string {
	if len(p.values) == 0 {
		return p.packed
	}
	var b strings.Builder
	rest := p.packed
	for _, value := range p.values {
		at := strings.Index(rest, packedMark)
		b.WriteString(rest[:at])
		quote := rest[at-1]
		b.WriteString(escape(value, quote))
		rest = rest[at:]
		rest = rest[strings.IndexByte(rest, quote):]
	}
	b.WriteString(rest)
	return b.String()
}

// fill replaces the marks in statements by values.
func (p *packedText) fill(stmts []ast.Stmt, value func(string) string) {
	if len(p.values) == 0 {
		return
	}
	w := &walker{enter: func(n ast.PositionHolder) {
		if e, ok := n.(*ast.StringExpr); ok {
			if number, ok := strings.CutPrefix(e.Value, packedMark); ok {
				i, _ := strconv.Atoi(number)
				e.Value = value(p.values[i])
			}
		}
	}}
	w.stmts(stmts)
}

// parse parses the packed text; marks stay in the tree. Mistakes are those of the whole text.
func (p *packedText) parse(name string) ([]ast.Stmt, error) {
	stmts, err := parseText(withoutShebang(p.packed), name)
	if err != nil && len(p.values) > 0 {
		_, err = parseText(withoutShebang(p.text()), name)
	}
	return stmts, err
}

// isEscaped reports whether [escape] writes the value of inner as inner.
func isEscaped(inner string, quote byte) bool {
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case '\n', '\r', '\t':
			return false
		case '\\':
			if i++; i == len(inner) || inner[i] != 'n' && inner[i] != 't' && inner[i] != '\\' && inner[i] != quote {
				return false
			}
		}
	}
	return true
}

// escape writes a value as it stands between quotes.
func escape(value string, quote byte) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`, `\`, `\\`, string(quote), `\`+string(quote)).Replace(value)
}

// unescape returns the value of a text that [isEscaped].
func unescape(inner string) string {
	value := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c == '\\' {
			i++
			switch c = inner[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			}
		}
		value = append(value, c)
	}
	return string(value)
}
