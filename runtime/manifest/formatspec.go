package manifest

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// A formatSpec is the format specification of str.format of Python, behind the colon of a field:
// the form of a value and its padding to a width.
type formatSpec struct {
	fill      string
	align     byte // < > ^ =, 0 if not given
	sign      byte // + - or a space, 0 if not given
	alternate bool // 0x, 0o, 0b before a number
	width     int
	group     string // the separator of thousands, or ""
	precision int    // -1 if not given
	verb      byte   // 0 if not given
}

var specForm = lazyregexp.New(`^(?s:(.)?([<>^=]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$`)

// maxWidth is the maximum width of a field.
const maxWidth = 10_000

func parseSpec(text string) (formatSpec, error) {
	m := specForm().FindStringSubmatch(text)
	if m == nil {
		return formatSpec{}, diag.Expected("a format such as 03d, >6 or .2f").Got("%q", text)
	}
	s := formatSpec{fill: m[1], alternate: m[4] != "", group: m[7], precision: -1}
	first := func(s string) byte {
		if s == "" {
			return 0
		}
		return s[0]
	}
	s.align, s.sign, s.verb = first(m[2]), first(m[3]), first(m[9])
	for _, n := range []struct {
		text string
		into *int
	}{{m[6], &s.width}, {m[8], &s.precision}} {
		if n.text == "" {
			continue
		}
		v, err := strconv.Atoi(n.text)
		if err != nil || v > maxWidth {
			return s, diag.Expected("a width of at most %d", maxWidth).Got("%s", n.text)
		}
		*n.into = v
	}
	if m[5] != "" && s.fill == "" {
		s.fill = "0"
		if s.align == 0 {
			s.align = '='
		}
	}
	return s, nil
}

// apply formats a constant.
func (s formatSpec) apply(val any) (string, error) {
	var sign, digits string
	var err error
	switch x := val.(type) {
	case string:
		return s.text(x)
	case bool:
		if s.verb == 0 || s.verb == 's' {
			return s.text(strconv.FormatBool(x))
		}
		n := int64(0)
		if x {
			n = 1
		}
		sign, digits, err = s.integer(n)
	case int64:
		sign, digits, err = s.integer(x)
	case float64:
		sign, digits, err = s.number(x)
	default:
		return "", diag.Expected("a string or a number for the format")
	}
	if err != nil {
		return "", err
	}
	if sign == "" && (s.sign == '+' || s.sign == ' ') {
		sign = string(s.sign)
	}
	return s.pad(sign, digits, '>'), nil
}

// text formats a text: it can be cut and padded.
func (s formatSpec) text(x string) (string, error) {
	if s.align == '=' && s.fill == "0" {
		s.align = '<'
	}
	if s.verb != 0 && s.verb != 's' || s.sign != 0 || s.alternate || s.group != "" || s.align == '=' {
		return "", diag.Expected("a number for this format").Got("the text %q", x)
	}
	if r := []rune(x); s.precision >= 0 && len(r) > s.precision {
		x = string(r[:s.precision])
	}
	return s.pad("", x, '<'), nil
}

// integer returns the sign and the digits of n.
func (s formatSpec) integer(n int64) (sign, digits string, err error) {
	switch s.verb {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return s.number(float64(n))
	case 's':
		return "", "", diag.Expected("a string for the format s").Got("the number %d", n)
	}
	if s.precision >= 0 {
		return "", "", diag.Not("precision", "allowed for integers")
	}
	base, prefix := 10, ""
	switch s.verb {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0"+string(s.verb)
	case 'c':
		if n < 0 || n > utf8.MaxRune {
			return "", "", diag.Expected("the number of a character").Got("%d", n)
		}
		return "", string(rune(n)), nil
	}
	digits = strconv.FormatInt(n, base)
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	if s.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if s.alternate {
		sign += prefix
	}
	return sign, s.groupDigits(sign, digits, ""), nil
}

// number returns the sign and the digits of x.
func (s formatSpec) number(x float64) (sign, digits string, err error) {
	verb, precision, suffix := s.verb, s.precision, ""
	switch verb {
	case 0, 'n':
		verb = 'g'
	case '%':
		verb, x, suffix = 'f', x*100, "%"
	case 'F':
		verb = 'f'
	case 'e', 'E', 'f', 'g', 'G':
	default:
		return "", "", diag.Expected("an integer for the format %c", s.verb).Got("%v", x)
	}
	if precision < 0 && s.verb != 0 {
		precision = 6
	}
	digits = strconv.FormatFloat(math.Abs(x), verb, precision, 64)
	if s.verb == 0 && !strings.ContainsAny(digits, ".eIN") {
		digits += ".0"
	}
	if math.Signbit(x) {
		sign = "-"
	}
	whole, rest := digits, ""
	if i := strings.IndexAny(digits, ".e"); i >= 0 {
		whole, rest = digits[:i], digits[i:]
	}
	return sign, s.groupDigits(sign, whole, rest+suffix), nil
}

// groupDigits separates thousands, also among the zeros that fill the width.
func (s formatSpec) groupDigits(sign, whole, rest string) string {
	if s.group == "" {
		return whole + rest
	}
	size := 3
	if s.verb == 'b' || s.verb == 'o' || s.verb == 'x' || s.verb == 'X' {
		size = 4
	}
	for {
		out := whole
		for i := len(whole) - size; i > 0; i -= size {
			out = out[:i] + s.group + out[i:]
		}
		if s.fill != "0" || s.align != '=' || len(sign)+len(out)+len(rest) >= s.width {
			return out + rest
		}
		whole = "0" + whole
	}
}

// pad fills the width. Align is the default for the kind of value.
func (s formatSpec) pad(sign, text string, align byte) string {
	missing := s.width - utf8.RuneCountInString(sign+text)
	if missing <= 0 {
		return sign + text
	}
	if s.align != 0 {
		align = s.align
	}
	fill := s.fill
	if fill == "" {
		fill = " "
	}
	switch align {
	case '<':
		return sign + text + strings.Repeat(fill, missing)
	case '^':
		return strings.Repeat(fill, missing/2) + sign + text + strings.Repeat(fill, missing-missing/2)
	case '=':
		return sign + strings.Repeat(fill, missing) + text
	}
	return strings.Repeat(fill, missing) + sign + text
}
