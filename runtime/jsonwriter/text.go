package jsonwriter

import (
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"
)

// AppendText appends a string to b as encoding/json writes it, without HTML escapes. It leaves texts that need
// escapes to encoding/json.
func AppendText(b []byte, text string) []byte {
	before := len(b)
	b = append(append(b, '"'), text...)
	if HasEscapes(b[before+1:]) {
		return appendEscaped(b[:before], text)
	}
	return append(b, '"')
}

// HasEscapes reports whether a text in UTF-8 has a control character, a quote, a backslash or a byte beyond ASCII. It tests
// eight bytes at a time: subtracting n from bytes below 0x80 sets the high bit of those that are less than n.
func HasEscapes(text []byte) bool {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		x := binary.LittleEndian.Uint64(text)
		quote, backslash := x^low*'"', x^low*'\\'
		if (x|(x-low*' ')|(quote-low)|(backslash-low))&high != 0 {
			return true
		}
	}
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func appendEscaped(b []byte, text string) []byte {
	w := byteWriter{b}
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text)    // encoding a string cannot fail
	return w.b[:len(w.b)-1] // without the newline of Encode
}

type byteWriter struct{ b []byte }

// Write implements io.Writer.
func (w *byteWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}
