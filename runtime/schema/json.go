package schema

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/jsonwriter"
)

// bytesKey is the only name in an object that represents a text which is not UTF-8; its
// value is the text in base64. A name that is not UTF-8 begins with it.
const bytesKey = "\x00base64"

// MarshalJSON returns t as a JSON object whose names have the order of t. Any
// text comes back from UnmarshalJSON as it was.
func (t *Table) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil) }

// AppendJSON appends what MarshalJSON returns to b.
func (t *Table) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, '{')
	for i, e := range t.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		key := e.Key
		if !utf8.ValidString(key) {
			key = bytesKey + base64.StdEncoding.EncodeToString([]byte(key))
		}
		b = append(jsonwriter.AppendText(b, key), ':')
		var err error
		if b, err = appendValue(b, e.Val); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func appendValue(b []byte, v Value) ([]byte, error) {
	switch v.Kind {
	case Nil:
		return append(b, "null"...), nil
	case Bool:
		return strconv.AppendBool(b, v.B), nil
	case Int:
		return strconv.AppendInt(b, v.I, 10), nil
	case Float:
		return appendFloat(b, v.F)
	case String, Text, Ref:
		if !utf8.ValidString(v.S) {
			b = append(jsonwriter.AppendText(append(b, '{'), bytesKey), ':', '"')
			return append(base64.StdEncoding.AppendEncode(b, []byte(v.S)), '"', '}'), nil
		}
		return jsonwriter.AppendText(b, v.S), nil
	case List:
		b = append(b, '[')
		for i, e := range v.Items() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendValue(b, e); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case Map:
		return v.Table().AppendJSON(b)
	}
	return b, diag.SubjectCannot(v.describe(), "be written as JSON")
}

// appendFloat appends a number in a form that is read as a Float again.
func appendFloat(b []byte, f float64) ([]byte, error) {
	text, err := json.Marshal(f)
	if err == nil && !bytes.ContainsAny(text, ".eE") {
		text = append(text, ".0"...)
	}
	return append(b, text...), err
}

// UnmarshalJSON reads a JSON object. Its names keep their order. A number
// without a fraction is an Int.
func (t *Table) UnmarshalJSON(text []byte) error {
	v, err := parseValue(text)
	if err == nil && v.Kind != Map {
		err = diag.Expected("a table").Got("%s", v.describe())
	}
	if err != nil {
		return err
	}
	t.Entries = v.Table().Entries
	return nil
}

func parseValue(text []byte) (Value, error) {
	r := jsonreader.New(text)
	v, err := readValue(r)
	return v, cmp.Or(r.End(), err)
}

func readValue(r *jsonreader.Reader) (Value, error) {
	switch r.Next() {
	case '"':
		return StringValue(r.Text()), nil
	case '[':
		return readList(r)
	case '{':
		return readTable(r)
	}
	switch raw := string(r.Raw()); raw {
	case "true", "false":
		return BoolValue(raw == "true"), nil
	case "null", "":
		return Value{}, nil
	default:
		return readNumber(json.Number(raw))
	}
}

func readNumber(x json.Number) (Value, error) {
	if i, err := strconv.ParseInt(x.String(), 10, 64); err == nil {
		return IntValue(i), nil
	}
	f, err := x.Float64()
	return Value{Kind: Float, F: f}, err
}

func readList(r *jsonreader.Reader) (_ Value, err error) {
	items := []Value{}
	r.List(func() {
		v, failed := readValue(r)
		items, err = append(items, v), cmp.Or(err, failed)
	})
	return ListValue(items...), err
}

func readTable(r *jsonreader.Reader) (_ Value, err error) {
	t := new(Table)
	r.Object(func(key []byte) {
		k := string(key)
		v, failed := readValue(r)
		name, misnamed := readName(k, v)
		t.Entries, err = append(t.Entries, Entry{name, v}), cmp.Or(err, failed, misnamed)
	})
	if err == nil && len(t.Entries) == 1 && t.Entries[0].Key == bytesKey {
		raw, err := base64.StdEncoding.DecodeString(t.Entries[0].Val.S)
		return StringValue(string(raw)), err
	}
	return MapValue(t), err
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
