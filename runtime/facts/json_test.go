package facts

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecodeJSON(t *testing.T) {
	got, err := decodeJSON("f.json", []byte(`{"a": [1, -2, 1.5, 1e3, 9007199254740993, true, null, "x"], "b": {}, "c": []}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"a": []any{int64(1), int64(-2), 1.5, 1000.0, int64(9007199254740993), true, nil, "x"},
		"b": map[string]any{}, "c": []any{},
	}, got)
}

func TestDecodeJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "f.json:1:1: expected JSON: unexpected end of JSON input",
		"{\n  \"a\": 1\n":     "f.json:3:1: expected JSON: unexpected end of JSON input",
		"{\n  \"a\": nope\n}": "f.json:2:9: expected JSON: invalid character 'o' in literal null (expecting 'u')",
		"{\n  \"a\" 1\n}":     "f.json:2:7: expected JSON: invalid character '1' after object key",
		"{\"a\": 1,}":         "f.json:1:9: expected JSON: invalid character '}' looking for beginning of object key string",
		"{} x":                "f.json:1:4: expected JSON: invalid character 'x' after top-level value",
		"{\"a\": 1e999}":      "f.json:1:7: expected a number that fits 64 bits, got 1e999",
		"{\"a\": \"\xff\"}":   "f.json:1:8: expected UTF-8, got other bytes",
		"{\"a\": 1,\n \"b\": {\"c\": 1, \"d\": 2,\n \"c\": 3}}": "f.json:3:2: duplicate \"c\"\n  f.json:2:8: first here",
	} {
		_, err := decodeJSON("f.json", []byte(text))
		require.EqualError(t, err, want, text)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"a": [1, 2.5, "x"], "b": {"c": null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decodeJSON("f.json", text)
		if err != nil {
			return
		}
		var want any
		require.NoError(t, json.Unmarshal(text, &want))
		a, err := json.Marshal(want)
		require.NoError(t, err)
		b, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, string(a), string(b))
	})
}
