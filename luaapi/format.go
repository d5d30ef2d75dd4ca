package luaapi

import (
	"fmt"
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
		n := len(text) - len(strings.TrimLeft(text, "-+ #0"))
		for limit := n + 5; n < len(text) && n < limit && (text[n] == '.' || text[n] >= '0' && text[n] <= '9'); {
			n++
		}
		if n == len(text) {
			lib.in.report.throw(L, "a percent sign itself is written %%", "string.format: the format ends in the middle of a directive")
		}
		arg++
		more, ok := appendPlain(out, L.Get(arg), text[:n], text[n])
		if !ok {
			more = append(out, lib.directive(L, text[:n], text[n], arg)...)
		}
		out = more
		if len(out) > maxString {
			lib.in.limits.tooLong(L, "string.format")
		}
		text = text[n+1:]
	}
	lib.in.limits.takeString(L, "string.format", len(out)+len(text))
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

// directive formats one argument. The flags are those of C and of Go alike.
func (lib *stringLib) directive(L *lua.LState, flags string, verb byte, arg int) string {
	width, precision, hasPrecision := strings.Cut(strings.TrimLeft(flags, "-+ #0"), ".")
	if len(width) > 2 || len(precision) > 2 || strings.Contains(precision, ".") {
		lib.in.report.throw(L, "", "string.format: the width or precision in %%%s%c is longer than two digits", flags, verb)
	}
	switch verb {
	case 'd', 'i':
		if hasPrecision {
			return integer(flags, precision, L.CheckInt64(arg))
		}
		return fmt.Sprintf("%"+flags+"d", L.CheckInt64(arg))
	case 'u':
		return fmt.Sprintf("%"+flags+"d", uint64(L.CheckInt64(arg)))
	case 'o', 'x', 'X':
		return fmt.Sprintf("%"+flags+string(verb), uint64(L.CheckInt64(arg)))
	case 'c':
		return string([]byte{byte(L.CheckInt(arg))})
	case 'e', 'E', 'f', 'F':
		return fmt.Sprintf("%"+flags+string(verb), float64(L.CheckNumber(arg)))
	case 'g', 'G':
		if !hasPrecision {
			flags += ".6"
		}
		return fmt.Sprintf("%"+flags+string(verb), float64(L.CheckNumber(arg)))
	case 'q':
		return quoted(L.CheckString(arg))
	case 's':
		s := L.ToStringMeta(L.CheckAny(arg)).String()
		if hasPrecision {
			limit, _ := strconv.Atoi(precision)
			s = s[:min(limit, len(s))]
		}
		if n, _ := strconv.Atoi(width); n > len(s) {
			// Widths count bytes, as in C.
			pad := strings.Repeat(" ", n-len(s))
			if strings.Contains(flags[:len(flags)-len(strings.TrimLeft(flags, "-+ #0"))], "-") {
				return s + pad
			}
			return pad + s
		}
		return s
	}
	lib.in.report.throw(L, "a percent sign itself is written %%", "string.format: there is no directive %%%s%c", flags, verb)
	return ""
}

// integer formats with a precision: the least number of digits. Go pads with zeros
// as C does, but C writes nothing for the value 0 with the precision 0.
func integer(flags, precision string, n int64) string {
	if p, _ := strconv.Atoi(precision); n == 0 && p == 0 {
		return ""
	}
	return fmt.Sprintf("%"+flags+"d", n)
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
