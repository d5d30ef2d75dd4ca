package data

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// isPlain reports whether a text without quotes is a scalar of one line in YAML.
func isPlain(s string) bool {
	if s == "" || strings.IndexByte("?:,[]{}#&*!|>'\"%@` ", s[0]) >= 0 || s[0] == '-' && (len(s) == 1 || s[1] == ' ') {
		return false
	}
	last := s[len(s)-1]
	return last != ':' && last != ' ' && strings.IndexByte(s, '\t') < 0 && !strings.Contains(s, ": ") && !strings.Contains(s, " #")
}

// quoted returns the value of the scalar in quotes that a line begins with, and its size
// with the quotes, which is 0 if it does not end there or has unusual escapes.
func quoted(line string) (value string, style yaml.Style, size int) {
	if line[0] == '\'' {
		for size = 1; size < len(line); size += 2 {
			i := strings.IndexByte(line[size:], '\'')
			if i < 0 {
				break
			}
			if size += i; !strings.HasPrefix(line[size+1:], "'") {
				return strings.ReplaceAll(line[1:size], "''", "'"), yaml.SingleQuotedStyle, size + 1
			}
		}
		return "", 0, 0
	}
	end := strings.IndexByte(line[1:], '"') + 1
	if end == 0 {
		return "", 0, 0
	}
	if value = line[1:end]; strings.IndexByte(value, '\\') < 0 {
		return value, yaml.DoubleQuotedStyle, end + 1
	}
	value = until(value, `\`)
	var b strings.Builder
	for size = len(value) + 1; size < len(line); {
		if line[size] == '"' {
			return b.String(), yaml.DoubleQuotedStyle, size + 1
		}
		if b.Len() == 0 {
			b.WriteString(value)
		}
		i := strings.IndexByte(`nt"\`, line[min(size+1, len(line)-1)])
		if i < 0 || size+1 == len(line) {
			break
		}
		b.WriteByte("\n\t\"\\"[i])
		more := until(line[size+2:], "\"\\")
		b.WriteString(more)
		size += 2 + len(more)
	}
	return "", 0, 0
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
