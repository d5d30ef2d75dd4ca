// Package terminal turns text from outside into text for people. Outside is
// everything but the program's own words: names and contents of files, what
// commands say, data, errors that quote any of these. A terminal acts on some of
// their characters: it moves the cursor, changes its title, answers as if somebody
// typed, or shows a line in another order than its bytes. Here such characters
// become visible text.
//
// A [Writer] stands before a terminal, a pipe or a file that people read. Nothing
// but a [Text] passes it as it is, and a Text is made by the functions of this
// package only: they escape what they are given and add the styles.
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

// Line returns a text that is to stand on one line with every character escaped
// that a terminal would act on, or that nobody would see: control characters, line
// breaks and tabs among them, bytes that are not UTF-8, and what changes the
// direction of text or is invisible. They are written as in Go: \n, \x1b, \u202e. A
// backslash stays as it is.
func Line(s string) string { return escape(s, false) }

// Lines is Line for a text of several lines: line breaks and tabs stay.
func Lines(s string) string { return escape(s, true) }

// Indented is Lines with the lines after the first indented, unless all of them are,
// so that none can be taken for a line of the report around it. White space at the
// ends and the carriage returns before line breaks are left out.
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

// firstSpecial returns where the first character stands that is escaped, -1 if none
// is. Nearly all text is ASCII without any, and is looked at by eight bytes at a
// time: to subtract n from each of them sets the highest bit of those that are less
// than n, where none has it set before.
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

// special reports whether a character beyond ASCII is escaped: the other control
// characters, the separators of lines and paragraphs, and format characters, which
// are invisible and of which some change the direction of text. Those that scripts
// need to join letters, or to stand around numbers, are text.
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
