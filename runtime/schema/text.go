package schema

import (
	"encoding/json"
	"unicode/utf8"
)

// AppendText appends a text to b as encoding/json would write it, without HTML
// escapes. What has to be escaped is left to encoding/json.
func AppendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, text)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendEscaped(b []byte, text string) []byte {
	w := appender{b}
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text)    // a string has an encoding
	return w.b[:len(w.b)-1] // without the line break
}

type appender struct{ b []byte }

// Write implements io.Writer.
func (w *appender) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}
