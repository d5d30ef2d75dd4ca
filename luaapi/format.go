package luaapi

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// format is string.format with the directives of C that Lua has.
func (lib *stringLib) format(L *lua.LState) int {
	text := L.CheckString(1)
	var buf [64]byte
	out := buf[:0]
	arg := 1
	for {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			break
		}
		out = append(out, text[:i]...)
		text = text[i+1:]
		if strings.HasPrefix(text, "%") {
			out = append(out, '%')
			text = text[1:]
			continue
		}
		n := len(text) - len(strings.TrimLeft(text, flagSigns))
		for limit := n + 5; n < len(text) && n < limit && (text[n] == '.' || text[n] >= '0' && text[n] <= '9'); {
			n++
		}
		if n == len(text) {
			lib.ev.report.throw(L, "write %% for a percent sign", "string.format: incomplete directive at the end of the format")
		}
		arg++
		more, ok := appendPlain(out, L.Get(arg), text[:n], text[n])
		if !ok {
			more = append(out, lib.directive(L, text[:n], text[n], arg)...)
		}
		out = more
		if len(out) > maxString {
			lib.ev.limits.tooLong(L, "string.format")
		}
		text = text[n+1:]
	}
	lib.ev.limits.takeString(L, "string.format", len(out)+len(text))
	L.Push(lua.LString(append(out, text...)))
	return 1
}

// appendPlain formats the most common directives, %s, %d and %08d, without allocating.
func appendPlain(out []byte, v lua.LValue, flags string, verb byte) ([]byte, bool) {
	switch v := v.(type) {
	case lua.LString:
		if verb == 's' && flags == "" {
			return append(out, v...), true
		}
	case lua.LNumber:
		i := int64(v)
		if verb != 'd' || lua.LNumber(i) != v || i < 0 || len(flags) > 2 {
			break
		}
		width := 0
		if flags != "" {
			if len(flags) != 2 || flags[0] != '0' || flags[1] < '0' || flags[1] > '9' {
				break
			}
			width = int(flags[1] - '0')
		}
		var digits [20]byte
		text := strconv.AppendInt(digits[:0], i, 10)
		for n := len(text); n < width; n++ {
			out = append(out, '0')
		}
		return append(out, text...), true
	}
	return out, false
}

// flagSigns are the signs that may be before the width of a directive.
const flagSigns = "-+ #0"

// directive formats one argument.
func (lib *stringLib) directive(L *lua.LState, flags string, verb byte, arg int) string {
	width, precision, hasPrecision := strings.Cut(strings.TrimLeft(flags, flagSigns), ".")
	if len(width) > 2 || len(precision) > 2 || strings.Contains(precision, ".") {
		lib.ev.report.throw(L, "", "string.format: the width or precision in %%%s%c has more than two digits", flags, verb)
	}
	f := field{signs: flags[:len(flags)-len(strings.TrimLeft(flags, flagSigns))]}
	f.width, _ = strconv.Atoi(width)
	least, _ := strconv.Atoi(precision)
	switch verb {
	case 'd', 'i':
		n := int64(checkNumber(L, arg))
		digits := strings.TrimPrefix(strconv.FormatInt(n, 10), "-")
		return f.integer(f.sign(n < 0), digits, hasPrecision, least)
	case 'u', 'o', 'x', 'X':
		n := uint64(int64(checkNumber(L, arg)))
		digits := strconv.FormatUint(n, map[byte]int{'u': 10, 'o': 8, 'x': 16, 'X': 16}[verb])
		prefix := ""
		if n > 0 && verb != 'u' && strings.Contains(f.signs, "#") {
			if prefix = "0" + string(verb); verb == 'o' {
				prefix, digits = "", "0"+digits
			}
		}
		if verb == 'X' {
			digits = strings.ToUpper(digits)
		}
		return f.integer(prefix, digits, hasPrecision, least)
	case 'c':
		return f.pad("", string([]byte{byte(int64(checkNumber(L, arg)))}), false)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		n := float64(checkNumber(L, arg))
		word := ""
		switch {
		case math.IsInf(n, 0):
			word = "inf"
		case math.IsNaN(n):
			word = "nan"
		case !hasPrecision && (verb == 'g' || verb == 'G'):
			flags += ".6"
		}
		if word == "" {
			return fmt.Sprintf("%"+flags+string(verb), n) // the signs are those of C and of Go alike
		}
		if verb < 'a' {
			word = strings.ToUpper(word)
		}
		return f.pad(f.sign(math.Signbit(n)), word, false)
	case 'q':
		return quoted(L.CheckString(arg))
	case 's':
		s := lib.ev.textOf(L, L.CheckAny(arg))
		if hasPrecision {
			s = s[:min(least, len(s))]
		}
		return f.pad("", s, false)
	}
	lib.ev.report.throw(L, "write %% for a percent sign", "string.format: unknown directive %%%s%c", flags, verb)
	return ""
}

// A field is the place of a formatted value: its signs such as - and 0, and its width in bytes.
type field struct {
	signs string
	width int
}

// sign returns the sign before a number.
func (f field) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case strings.Contains(f.signs, "+"):
		return "+"
	case strings.Contains(f.signs, " "):
		return " "
	}
	return ""
}

// integer returns an integer with at least so many digits, if a least number is given. The value 0
// has none if that is 0.
func (f field) integer(prefix, digits string, hasLeast bool, least int) string {
	switch {
	case !hasLeast:
	case digits == "0" && least == 0:
		digits = ""
	default:
		digits = strings.Repeat("0", max(0, least-len(digits))) + digits
	}
	return f.pad(prefix, digits, !hasLeast && strings.Contains(f.signs, "0"))
}

// pad returns a prefix and a text, filled up to the width: with blanks behind or before both, or
// with zeros between them.
func (f field) pad(prefix, text string, zeros bool) string {
	n := max(0, f.width-len(prefix)-len(text))
	switch {
	case strings.Contains(f.signs, "-"):
		return prefix + text + strings.Repeat(" ", n)
	case zeros:
		return prefix + strings.Repeat("0", n) + text
	}
	return strings.Repeat(" ", n) + prefix + text
}

// quoted writes s so that Lua reads it again.
func quoted(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			out.WriteByte('\\')
			out.WriteByte(c)
		case '\r':
			out.WriteString(`\r`)
		case 0:
			out.WriteString(`\000`)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
