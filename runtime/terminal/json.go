package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// JSON returns a writer for JSON documents that are shown on a terminal. Special characters become escapes of JSON,
// which do not change the meaning.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

// Unwrap returns the underlying writer.
func (j jsonWriter) Unwrap() io.Writer { return j.w }

// Write implements io.Writer. p must not split a character.
func (j jsonWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(j.w, jsonEscaped(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// jsonEscaped escapes the special characters that encoding/json keeps; they can only be in strings.
func jsonEscaped(s string) string {
	at := firstSpecial(s, true)
	if at < 0 {
		return s
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(s[:at])
		r, size := utf8.DecodeRuneInString(s[at:])
		if r > 0xffff {
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r) // invalid UTF-8 becomes U+FFFD, as in readers of JSON
		}
		s = s[at+size:]
		at = firstSpecial(s, true)
	}
	b.WriteString(s)
	return b.String()
}
