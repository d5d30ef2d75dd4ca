package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/luaccm/ccm/runtime/diag"
)

// A formatError is a mistake in some bytes of a text.
type formatError struct {
	offset, length int
	err            *diag.Error
}

func (e *formatError) Error() string    { return e.err.Error() }
func (e *formatError) Unwrap() error    { return e.err }
func (e *formatError) Span() (int, int) { return e.offset, e.length }

// format replaces the fields of a text by constants, as str.format of Python does:
// {name}, {list[0]}, {table[key]}, also with the key in quotes, {table.key}; {{ and }}
// are single braces. A conversion may follow, {name!r}, and a format, {name:>6}, which
// may have fields in it.
func format(text string, constants map[string]any) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c != '{' && c != '}':
			b.WriteByte(c)
		case i+1 < len(text) && text[i+1] == c:
			b.WriteByte(c)
			i++
		case c == '}':
			return "", wrongFormat(i, 1, "for a literal brace use }}", "unexpected }")
		default:
			end := fieldEnd(text[i:])
			if end < 0 {
				return "", wrongFormat(i, 1, "for a literal brace use {{", "missing } after {")
			}
			field := text[i+1 : i+end]
			val, err := fieldOf(field, constants)
			if err != nil {
				return "", &formatError{i, end + 1, err}
			}
			b.WriteString(val)
			i += end
		}
	}
	return b.String(), nil
}

// fieldEnd returns the end of the field at the beginning of text, or -1.
func fieldEnd(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			if depth++; depth > 2 {
				return -1
			}
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func wrongFormat(offset, length int, hint, msg string) error {
	return &formatError{offset, length, &diag.Error{Err: fmt.Errorf("%s", msg), Hint: hint}}
}

// fieldOf returns the text for one field.
func fieldOf(field string, constants map[string]any) (string, *diag.Error) {
	name := field
	if i := strings.IndexAny(field, ".[!:"); i >= 0 {
		name = field[:i]
	}
	if name == "" {
		return "", diag.At(diag.Pos{}, diag.Expected("the name of a constant in { }").Got("%q", field))
	}
	val, ok := constants[name]
	if !ok {
		e := diag.At(diag.Pos{}, diag.None("constant %q", name))
		e.Hint = diag.DidYouMean(name, slices.Sorted(maps.Keys(constants)))
		return "", e
	}
	convert, spec := "", ""
	rest := field[len(name):]
steps:
	for rest != "" {
		var step string
		switch rest[0] {
		case '.':
			step = rest[1:]
			if i := strings.IndexAny(step, ".[!:"); i >= 0 {
				step = step[:i]
			}
			rest = rest[1+len(step):]
		case '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return "", diag.Errorf(diag.Pos{}, "missing ] after [ in {%s}", field)
			}
			step, rest = withoutQuotes(rest[1:end]), rest[end+1:]
		case '!':
			convert, spec, _ = strings.Cut(rest[1:], ":")
			if convert != "s" && convert != "r" && convert != "a" {
				return "", diag.At(diag.Pos{}, diag.Expected("!s, !r or !a in {%s}", field).Got("%q", "!"+convert))
			}
			break steps
		case ':':
			spec = rest[1:]
			break steps
		default:
			return "", diag.At(diag.Pos{}, diag.Expected("a name, [ ] or . in {%s}", field).Got("%q", rest))
		}
		var known []string
		if val, known, ok = childOf(val, step); !ok {
			e := diag.At(diag.Pos{}, diag.None("value at %q in {%s}", step, field))
			e.Hint = diag.DidYouMean(step, known)
			return "", e
		}
	}
	switch val.(type) {
	case []any, map[string]any, nil:
		return "", diag.At(diag.Pos{}, diag.Expected("a string or number constant in {%s}", field).Got("%s", valueOf(val).Kind))
	}
	return formatConstant(val, field, convert, spec, constants)
}

// formatConstant returns a constant in the conversion and format of a field.
func formatConstant(val any, field, convert, spec string, constants map[string]any) (string, *diag.Error) {
	text := valueOf(val).S
	if convert == "r" || convert == "a" {
		if s, ok := val.(string); ok {
			text = quotedAsPython(s, convert == "a")
		}
	}
	if convert != "" {
		val = text
	}
	if spec == "" {
		return text, nil
	}
	if strings.Contains(spec, "{") {
		var err error
		if spec, err = format(spec, constants); err != nil {
			return "", diag.Errorf(diag.Pos{}, "%w in {%s}", err, field)
		}
	}
	s, err := parseSpec(spec)
	if err == nil {
		text, err = s.apply(val)
	}
	if err != nil {
		return "", diag.Errorf(diag.Pos{}, "%w in {%s}", err, field)
	}
	return text, nil
}

// quotedAsPython quotes a text like repr of Python.
func quotedAsPython(s string, ascii bool) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || ascii && r > 0x7f && r <= 0xff || r > 0x7f && r <= 0xff && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff && (ascii || !unicode.IsPrint(r)):
			fmt.Fprintf(&b, `\U%08x`, r)
		case r > 0x7f && (ascii || !unicode.IsPrint(r)):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

func withoutQuotes(s string) string {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// childOf returns the value under a name or number or, if there is none, the known names.
func childOf(val any, step string) (next any, known []string, ok bool) {
	switch x := val.(type) {
	case map[string]any:
		next, ok = x[step]
		return next, slices.Sorted(maps.Keys(x)), ok
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(x) {
			return x[i], nil, true
		}
	}
	return nil, nil, false
}
