package data

import (
	"strings"
	"unicode/utf8"
)

// quoted sets the scalar in quotes aside with which a line ends, if it is long and
// its value is plain to see.
func (s *scissors) quoted(line string, indent int) {
	quote := line[len(line)-1]
	if quote != '"' && quote != '\'' {
		return
	}
	from := indent
	if i := strings.Index(line[from:], ": "); i >= 0 {
		from += i + 2
	} else if strings.HasPrefix(line[from:], "- ") {
		from += 2
	}
	for line[from] == ' ' {
		from++
	}
	if line[from] != quote || len(line)-from-2 < s.scalar || strings.IndexByte(line[:from], '#') >= 0 {
		return
	}
	written := line[from+1 : len(line)-1]
	value, ok := unquoted(written, quote)
	if !ok || !printable(written) || !utf8.ValidString(line[:from]) {
		return
	}
	style := doubleQuoted
	if quote == '\'' {
		style = singleQuoted
	}
	s.copy(s.at + from + 1)
	s.done += len(written)
	s.cuts = append(s.cuts, cut{line: s.line - s.less, col: utf8.RuneCountInString(line[:from]) + 1, less: s.less, style: style, value: value})
}

// unquoted returns the value of what is written between quotes. It is not ok if a
// quote ends the value earlier, or if an escape is not among the usual ones.
func unquoted(written string, quote byte) (value string, ok bool) {
	if quote == '\'' {
		value = strings.ReplaceAll(written, "''", "'")
		return value, strings.Count(written, "'") == 2*(len(written)-len(value))
	}
	i := strings.IndexByte(written, '\\')
	if i < 0 {
		return written, strings.IndexByte(written, '"') < 0
	}
	var b strings.Builder
	b.Grow(len(written))
	for rest := written; ; {
		i := strings.IndexByte(rest, '\\')
		plain := rest
		if i >= 0 {
			plain = rest[:i]
		}
		if strings.IndexByte(plain, '"') >= 0 || i == len(rest)-1 && i >= 0 {
			return "", false
		}
		b.WriteString(plain)
		if i < 0 {
			return b.String(), true
		}
		switch c := rest[i+1]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '"', '\\':
			b.WriteByte(c)
		default:
			return "", false
		}
		rest = rest[i+2:]
	}
}

// blockHeader returns where the | or > stands with which a line ends that a block
// scalar follows, and what it is followed by.
func blockHeader(line string) (i int, chomp string, ok bool) {
	line = strings.TrimRight(line, " ")
	last := line[max(0, len(line)-4):]
	n := strings.LastIndexByte(last, ' ')
	if n < 0 || n+1 == len(last) || last[n+1] != '|' && last[n+1] != '>' {
		return 0, "", false
	}
	return len(line) - len(last) + n + 1, last[n+2:], true
}

// blockScalar goes to the end of the block scalar that begins at the next line, and sets
// it aside if it is long and its value is plain to see.
func (s *scissors) blockScalar(header string, outer, indicator int, chomp string) {
	headerLine := s.line - 1 - s.less
	from, first := s.at, s.line
	begin := s.rest(from)
	blank := strings.TrimSpace(begin) == ""
	for i := from; i < len(s.text) && strings.TrimSpace(begin) == ""; i += len(begin) + 1 {
		begin = s.rest(i)
	}
	indent := indentOf(begin)
	if indent <= outer || indent == len(begin) {
		return // it is empty, or something else
	}
	plain := !blank && begin[indent] != '\t' && header[indicator] == '|' && (chomp == "" || chomp == "-") && utf8.ValidString(header[:indicator])
	to, lines := from, 0 // behind the last line that is not blank
	size := 0
	for s.at < len(s.text) {
		line := s.rest(s.at)
		n := indentOf(line)
		if n < len(line) && n < indent {
			break
		}
		if n == len(line) { // it is blank
			plain = plain && n <= indent && s.at > from
		} else {
			plain = plain && printable(line) && s.at+len(line) < len(s.text)
			to, lines = s.at+len(line)+1, s.line+1-first
			size += len(line) - indent
		}
		s.skip(line)
	}
	if !plain || size < s.scalar {
		return
	}
	var value strings.Builder
	value.Grow(size + lines)
	for line := range strings.Lines(s.text[from:to]) {
		value.WriteString(line[min(indent, len(line)-1):])
	}
	c := cut{line: headerLine, col: utf8.RuneCountInString(header[:indicator]) + 1, style: literal, short: "x\n", value: value.String()}
	if chomp == "-" {
		c.short, c.value = "x", strings.TrimRight(c.value, "\n")
	}
	s.copy(from + indent)
	s.out.WriteString("x\n")
	s.done = to
	s.less += lines - 1
	c.less = s.less
	s.cuts = append(s.cuts, c)
}

// printable reports whether a text without line ends has only characters that YAML
// allows and that end no line in it.
func printable(s string) bool {
	i := 0
	for ; i+32 <= len(s); i += 32 {
		if (suspect(s[i:])|suspect(s[i+8:])|suspect(s[i+16:])|suspect(s[i+24:]))&highs != 0 {
			break
		}
	}
	for _, r := range s[i:] {
		switch {
		case r == '\t', r >= ' ' && r < 0x7f:
		case r < 0xa0, r == '\u2028', r == '\u2029', r == '\uFEFF', r == '\uFFFE', r == '\uFFFF':
			return false
		case r == utf8.RuneError:
			return false // or it was written so, which is rare
		}
	}
	return true
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// suspect returns a number in which the high bit of a byte is set if there is a byte
// that is no printable character of ASCII among the first 8 of s. It may be set
// without that.
func suspect(s string) uint64 {
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return x | (x - ' '*ones) | (x ^ 0x7f*ones - ones)
}
