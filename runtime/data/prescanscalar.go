package data

import (
	"strings"
	"unicode/utf8"
)

// quotedScalar takes out the quoted scalar at the end of a line, if it is long and has no
// other escapes than the usual ones.
func (s *prescan) quotedScalar(line string, indent int) {
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
	s.copied += len(written)
	s.placeholders = append(s.placeholders, placeholder{line: s.line - s.removed, col: utf8.RuneCountInString(line[:from]) + 1, removed: s.removed, style: style, value: value})
}

// unquoted returns the value of a text between quotes. It is not ok if there is another
// quote in it, or an escape that is not among the usual ones.
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

// findBlockIndicator returns the offset of the | or > at the end of a line that begins a
// block scalar, and the chomping indicator after it.
func findBlockIndicator(line string) (i int, chomp string, ok bool) {
	line = strings.TrimRight(line, " ")
	last := line[max(0, len(line)-4):]
	n := strings.LastIndexByte(last, ' ')
	if n < 0 || n+1 == len(last) || last[n+1] != '|' && last[n+1] != '>' {
		return 0, "", false
	}
	return len(line) - len(last) + n + 1, last[n+2:], true
}

// blockScalar skips the block scalar that begins at the next line, and takes it out if it
// is long and a literal one without indentation indicator.
func (s *prescan) blockScalar(header string, outer, indicator int, chomp string) {
	headerLine := s.line - 1 - s.removed
	from, first := s.at, s.line
	begin := s.lineAt(from)
	blank := strings.TrimSpace(begin) == ""
	for i := from; i < len(s.text) && strings.TrimSpace(begin) == ""; i += len(begin) + 1 {
		begin = s.lineAt(i)
	}
	indent := indentOf(begin)
	if indent <= outer || indent == len(begin) {
		return // an empty scalar, or none
	}
	plain := !blank && begin[indent] != '\t' && header[indicator] == '|' && (chomp == "" || chomp == "-") && utf8.ValidString(header[:indicator])
	to, lines := from, 0 // behind the last line that is not blank
	size := 0
	for s.at < len(s.text) {
		line := s.lineAt(s.at)
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
	c := placeholder{line: headerLine, col: utf8.RuneCountInString(header[:indicator]) + 1, style: literal, standIn: "x\n", value: value.String()}
	if chomp == "-" {
		c.standIn, c.value = "x", strings.TrimRight(c.value, "\n")
	}
	s.copy(from + indent)
	s.out.WriteString("x\n")
	s.copied = to
	s.removed += lines - 1
	c.removed = s.removed
	s.placeholders = append(s.placeholders, c)
}

// printable reports whether a text without line ends has only characters that YAML
// allows and that end no line in it.
func printable(s string) bool {
	i := 0
	for ; i+32 <= len(s); i += 32 {
		if (nonPrintableBits(s[i:])|nonPrintableBits(s[i+8:])|nonPrintableBits(s[i+16:])|nonPrintableBits(s[i+24:]))&highBits != 0 {
			break
		}
	}
	for _, r := range s[i:] {
		switch {
		case r == '\t', r >= ' ' && r < 0x7f:
		case r < 0xa0, r == '\u2028', r == '\u2029', r == '\uFEFF', r == '\uFFFE', r == '\uFFFF':
			return false
		case r == utf8.RuneError:
			return false // also for U+FFFD itself, which is rare
		}
	}
	return true
}

const lowBits, highBits = 0x0101010101010101, 0x8080808080808080

// nonPrintableBits looks at the first 8 bytes of s at once. A high bit is set in the
// result if one of them is not printable ASCII, and sometimes if all are.
func nonPrintableBits(s string) uint64 {
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return x | (x - ' '*lowBits) | (x ^ 0x7f*lowBits - lowBits)
}
