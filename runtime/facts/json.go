package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
)

// decodeJSON returns the plain data in text. Unlike encoding/json it keeps whole numbers whole,
// refuses repeated names, and tells the places of mistakes.
func decodeJSON(file string, text []byte) (any, error) {
	d := &jsonDecoder{file: file, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	d.dec.UseNumber()
	if !utf8.Valid(text) {
		return nil, diag.At(d.pos(validPrefix(text)), diag.Expected("UTF-8").Got("other bytes"))
	}
	// The whole is checked first, so that reading the tokens cannot fail.
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		at := len(text)
		if se, ok := errors.AsType[*json.SyntaxError](err); ok && se.Offset > 0 && !strings.Contains(se.Error(), "unexpected end") {
			at = int(se.Offset) - 1
		}
		return nil, diag.At(d.pos(at), diag.Expected("JSON: %w", err))
	}
	return d.value()
}

type jsonDecoder struct {
	file string
	text []byte
	dec  *json.Decoder
}

// value reads one value.
func (d *jsonDecoder) value() (any, error) {
	start := d.next()
	tok, err := d.dec.Token()
	if err != nil {
		return nil, err
	}
	switch x := tok.(type) {
	case json.Number:
		n, err := number(x.String())
		if err != nil {
			return nil, diag.At(d.pos(start), diag.Expected("a number that fits 64 bits").Got("%s", x))
		}
		return n, nil
	case json.Delim:
		if x == '[' {
			return d.list()
		}
		return d.object()
	}
	return tok, nil
}

func (d *jsonDecoder) list() (any, error) {
	out := []any{}
	for d.dec.More() {
		val, err := d.value()
		if err != nil {
			return nil, err
		}
		out = append(out, val)
	}
	_, err := d.dec.Token()
	return out, err
}

func (d *jsonDecoder) object() (any, error) {
	out := make(map[string]any)
	places := make(map[string]int)
	for d.dec.More() {
		start := d.next()
		tok, err := d.dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := tok.(string)
		if first, twice := places[name]; twice {
			e := diag.At(d.pos(start), diag.Duplicate("%q", name))
			e.Notes = []diag.Note{{Pos: d.pos(first), Text: "first here"}}
			return nil, e
		}
		places[name] = start
		if out[name], err = d.value(); err != nil {
			return nil, err
		}
	}
	_, err := d.dec.Token()
	return out, err
}

// next returns the offset of the next token.
func (d *jsonDecoder) next() int {
	at := int(d.dec.InputOffset())
	for at < len(d.text) && strings.IndexByte(" \t\r\n,:", d.text[at]) >= 0 {
		at++
	}
	return at
}

// pos returns the place of the byte at offset.
func (d *jsonDecoder) pos(offset int) diag.Pos {
	before := d.text[:min(offset, len(d.text))]
	return diag.Pos{
		File: d.file,
		Line: bytes.Count(before, []byte("\n")) + 1,
		Col:  len(before) - bytes.LastIndexByte(before, '\n'),
	}
}

// number returns an int64 if the text is a whole number that fits, and else a
// float64.
func number(text string) (any, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	return strconv.ParseFloat(text, 64)
}

// validPrefix returns the number of bytes at the beginning of text that are UTF-8.
func validPrefix(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// plain turns a Go value into plain data the way JSON does.
func plain(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decodeJSON("", text)
}
