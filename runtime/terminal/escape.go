// Package terminal makes untrusted text safe to show on a terminal. Untrusted is all text that the program did not
// write itself: names and contents of files, output of commands, data, and errors that quote any of these. Some of
// its characters would move the cursor, change the title, make the terminal answer as if somebody typed, or show a
// line in another order than its bytes. This package escapes these characters visibly.
//
// A [Writer] writes to a terminal, a pipe or a file that people read, and escapes everything but a [Text]. Only the
// functions of this package make a Text: they escape their arguments and add styles.
//
// Begin with [Fprintf].
package terminal

import (
	"encoding/binary"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns a text for one line, with all characters escaped that a terminal would act on or that are invisible:
// control characters including line breaks and tabs, invalid UTF-8, and characters that change the direction of text
// or have no glyph. The escapes are those of Go: \n, \x1b, \u202e. A backslash is not escaped.
func Line(s string) string { return escape(s, false) }

// Lines is Line for a text of several lines: it keeps line breaks and tabs.
func Lines(s string) string { return escape(s, true) }

// Indented is Lines with all lines after the first indented, unless they are already, so that none looks like a line
// of the report around it. It removes white space at both ends and carriage returns before line breaks.
func Indented(s, indent string) string {
	s = Lines(strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n"))
	first, rest, several := strings.Cut(s, "\n")
	if !several || allIndented(rest, indent) {
		return s
	}
	return first + "\n" + indent + strings.ReplaceAll(rest, "\n", "\n"+indent)
}

func allIndented(lines, indent string) bool {
	for line := range strings.Lines(lines) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, indent) {
			return false
		}
	}
	return true
}

func escape(s string, lines bool) string {
	at := firstSpecial(s, lines)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for at >= 0 {
		b.WriteString(s[:at])
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size == 1 {
			b.WriteString(`\x`)
			b.WriteByte("0123456789abcdef"[s[at]>>4])
			b.WriteByte("0123456789abcdef"[s[at]&15])
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[at+size:]
		at = firstSpecial(s, lines)
	}
	b.WriteString(s)
	return b.String()
}

// firstSpecial returns the offset of the first character that is escaped, -1 if there is none. Most text is plain
// ASCII, which it tests eight bytes at a time: subtracting n from each byte sets the highest bit of the bytes that
// are less than n, if no highest bit was set before.
func firstSpecial(s string, lines bool) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for i := 0; i < len(s); {
		end := len(s)
		if i+8 <= len(s) {
			x := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
			if (x|(x-low*' ')|(x^low*0x7f-low))&high == 0 {
				i += 8
				continue
			}
			end = i + 8
		}
		for i < end {
			c := s[i]
			if c >= utf8.RuneSelf {
				r, size := utf8.DecodeRuneInString(s[i:])
				if special(r, size) {
					return i
				}
				i += size
				continue
			}
			if c < ' ' && !(lines && (c == '\n' || c == '\t')) || c == 0x7f {
				return i
			}
			i++
		}
	}
	return -1
}

// special reports whether a character beyond ASCII is escaped: control characters, line and paragraph separators, and
// format characters, which are invisible and may change the direction of text. Format characters that a script needs
// to join letters or around numbers are kept.
func special(r rune, size int) bool {
	switch {
	case r == utf8.RuneError:
		return size == 1
	case r < 0xa0, r == '\u2028', r == '\u2029':
		return true
	case r == '\u200c', r == '\u200d':
		return false
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
