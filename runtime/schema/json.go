package schema

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// bytesKey is the only name of the object that stands for a text which is not
// UTF-8, as JSON texts must be. Its value is the text in base 64. Of such a name
// it is the beginning.
const bytesKey = "\x00base64"

// MarshalJSON returns t as a JSON object whose names have the order of t. Any
// text comes back from UnmarshalJSON as it was.
func (t *Table) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := writeTable(&b, t)
	return b.Bytes(), err
}

func writeTable(b *bytes.Buffer, t *Table) error {
	b.WriteByte('{')
	for i, e := range t.Entries {
		if i > 0 {
			b.WriteByte(',')
		}
		key := e.Key
		if !utf8.ValidString(key) {
			key = bytesKey + base64.StdEncoding.EncodeToString([]byte(key))
		}
		if err := writeJSON(b, key); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := writeValue(b, e.Val); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func writeValue(b *bytes.Buffer, v Value) error {
	switch v.Kind {
	case Nil:
		b.WriteString("null")
	case Bool:
		return writeJSON(b, v.B)
	case Int:
		b.WriteString(strconv.FormatInt(v.I, 10))
	case Float:
		return writeFloat(b, v.F)
	case String, Text, Ref:
		if !utf8.ValidString(v.S) {
			return writeJSON(b, map[string][]byte{bytesKey: []byte(v.S)})
		}
		return writeJSON(b, v.S)
	case List:
		b.WriteByte('[')
		for i, e := range v.Items() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeValue(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case Map:
		return writeTable(b, v.Table())
	default:
		return fmt.Errorf("%s cannot be written as JSON", v.describe())
	}
	return nil
}

// writeFloat writes a number so that it is read as a Float again.
func writeFloat(b *bytes.Buffer, f float64) error {
	at := b.Len()
	if err := writeJSON(b, f); err != nil {
		return err
	}
	if !bytes.ContainsAny(b.Bytes()[at:], ".eE") {
		b.WriteString(".0")
	}
	return nil
}

func writeJSON(b *bytes.Buffer, x any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline
	return nil
}

// UnmarshalJSON reads a JSON object. Its names keep their order. A number
// without a fraction is an Int.
func (t *Table) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := readValue(dec)
	if err == nil && v.Kind != Map {
		err = fmt.Errorf("want a table, got %s", v.describe())
	}
	if err != nil {
		return err
	}
	t.Entries = v.Table().Entries
	return nil
}

func readValue(dec *json.Decoder) (Value, error) {
	tok, err := dec.Token()
	if err != nil {
		return Value{}, err
	}
	switch x := tok.(type) {
	case bool:
		return BoolValue(x), nil
	case string:
		return StringValue(x), nil
	case json.Number:
		return readNumber(x)
	case json.Delim:
		if x == '[' {
			return readList(dec)
		}
		return readTable(dec)
	}
	return Value{}, nil // null
}

func readNumber(x json.Number) (Value, error) {
	if i, err := strconv.ParseInt(x.String(), 10, 64); err == nil {
		return IntValue(i), nil
	}
	f, err := x.Float64()
	return Value{Kind: Float, F: f}, err
}

func readList(dec *json.Decoder) (Value, error) {
	items := []Value{}
	for dec.More() {
		v, err := readValue(dec)
		if err != nil {
			return Value{}, err
		}
		items = append(items, v)
	}
	_, err := dec.Token()
	return ListValue(items...), unexpectedEnd(err)
}

func readTable(dec *json.Decoder) (Value, error) {
	t := new(Table)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return Value{}, unexpectedEnd(err)
		}
		v, err := readValue(dec)
		if err != nil {
			return Value{}, unexpectedEnd(err)
		}
		name, err := readName(key.(string), v)
		if err != nil {
			return Value{}, err
		}
		t.Entries = append(t.Entries, Entry{name, v})
	}
	_, err := dec.Token()
	if len(t.Entries) == 1 && t.Entries[0].Key == bytesKey && err == nil {
		raw, err := base64.StdEncoding.DecodeString(t.Entries[0].Val.S)
		return StringValue(string(raw)), err
	}
	return MapValue(t), unexpectedEnd(err)
}

// readName returns the name that is written as key.
func readName(key string, v Value) (string, error) {
	coded, ok := strings.CutPrefix(key, bytesKey)
	if !ok || coded == "" && v.Kind == String {
		return key, nil
	}
	raw, err := base64.StdEncoding.DecodeString(coded)
	return string(raw), err
}

func unexpectedEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
