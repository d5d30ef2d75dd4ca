package facts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseAssignment(t *testing.T) {
	for text, want := range map[string]map[string]any{
		"role=web":             {"role": "web"},
		"a.b.c=value":          {"a": map[string]any{"b": map[string]any{"c": "value"}}},
		"a=":                   {"a": ""},
		"a=b=c":                {"a": "b=c"},
		"a=true":               {"a": true},
		"a=True":               {"a": "True"},
		"a=null":               {"a": nil},
		"a=3":                  {"a": int64(3)},
		"a=-3":                 {"a": int64(-3)},
		"a=1.5":                {"a": 1.5},
		`a="x"`:                {"a": "x"},
		`a="3"`:                {"a": "3"},
		`a='3'`:                {"a": "'3'"},
		"a=[1,2]":              {"a": []any{int64(1), int64(2)}},
		`a={"b":[true,null]}`:  {"a": map[string]any{"b": []any{true, nil}}},
		`a={"b":1.10}`:         {"a": map[string]any{"b": 1.1}},
		"a=[::1]":              {"a": "[::1]"},
		"a=some text":          {"a": "some text"},
		"a= x ":                {"a": " x "},
		"a=10.0.0.1":           {"a": "10.0.0.1"},
		`net.eth0\.100.vlan=7`: {"net": map[string]any{"eth0.100": map[string]any{"vlan": int64(7)}}},
		// Numbers that would not be written back the same are text.
		"a=1.10":                 {"a": "1.10"},
		"a=1.0":                  {"a": "1.0"},
		"a=0644":                 {"a": "0644"},
		"a=1e3":                  {"a": "1e3"},
		"a=-0":                   {"a": "-0"},
		"a=12345678901234567890": {"a": "12345678901234567890"},
		"a=1e999":                {"a": "1e999"},
	} {
		got, err := ParseAssignment(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseAssignmentErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":             `expected PATH=VALUE such as os.family=debian, got ""`,
		"role":         `expected PATH=VALUE such as os.family=debian, got "role"`,
		"=x":           `expected a dotted path such as os.family before the =, got ""`,
		"a..b=x":       `expected a dotted path such as os.family before the =, got "a..b"`,
		".a=x":         `expected a dotted path such as os.family before the =, got ".a"`,
		"a.=x":         `expected a dotted path such as os.family before the =, got "a."`,
		"os.family =x": `expected a dotted path such as os.family before the =, got "os.family "`,
	} {
		_, err := ParseAssignment(text)
		require.EqualError(t, err, want, text)
	}
}
