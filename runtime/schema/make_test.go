package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// upper is a text property with its own syntax.
type upper string

func (u *upper) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return fmt.Errorf("expected letters, got none")
	}
	*u = upper(strings.ToUpper(string(text)))
	return nil
}

func (u upper) String() string { return string(u) }

// heldSpec keeps its properties in a struct made by Make.
type heldSpec struct{ fields any }

func (h *heldSpec) Held() any { return h.fields }

func made(t *testing.T) *Schema {
	t.Helper()
	inner, err := Make("", []Property{{Name: "cpu", Type: reflect.TypeFor[float64](), Required: true}})
	require.NoError(t, err)
	s, err := Make("A thing.", []Property{
		{Name: "name", Type: reflect.TypeFor[string](), IsName: true, Doc: "It names it."},
		{Name: "color", Type: reflect.TypeFor[string](), Values: []string{"red", "green"}, Default: "red"},
		{Name: "count", Type: reflect.TypeFor[int64](), Aliases: []string{"number"}},
		{Name: "words", Type: reflect.TypeFor[[]string](), Values: []string{"a", "b"}},
		{Name: "code", Type: reflect.TypeFor[upper](), Secret: true},
		{Name: "limits", Type: inner.GoType, Object: inner},
		{Name: "must", Type: reflect.TypeFor[bool](), Required: true},
	})
	require.NoError(t, err)
	return s
}

// TestMadeSchemaIsLikeAStruct: messages and defaults are the same, and a written value is read back.
func TestMadeSchemaIsLikeAStruct(t *testing.T) {
	s := made(t)
	require.True(t, s.IsDynamic())
	require.False(t, Of(reflect.TypeFor[thing]()).IsDynamic())
	for _, tt := range []struct {
		tab  *Table
		want string
	}{
		{table("name", "x"), "must is required"},
		{table("must", true), "name is required"},
		{table("name", "x", "must", true, "conut", 1), `unknown property "conut" (did you mean "count"?)`},
		{table("name", "x", "must", true, "count", "many"), `count: expected an integer, got "many"`},
		{table("name", "x", "must", true, "count", 1, "number", 2), "duplicate number (same as count)"},
		{table("name", "x", "must", true, "color", "rde"), `color: expected one of red, green, got "rde" (did you mean "red"?)`},
		{table("name", "x", "must", true, "words", "c"), `words: expected one of a, b, got "c"`},
		{table("name", "x", "must", true, "code", ""), "code: expected letters, got none"},
		{table("name", "x", "must", true, "limits", table()), "limits: cpu is required"},
	} {
		h := &heldSpec{reflect.New(s.GoType).Interface()}
		require.EqualError(t, s.Decode(tt.tab, h), tt.want)
	}

	h := &heldSpec{reflect.New(s.GoType).Interface()}
	given := table("name", "x", "number", 7, "words", "a", "code", "abc", "limits", table("cpu", 1.5), "must", false)
	require.NoError(t, s.Decode(given, h))
	require.Equal(t, "x", s.NameOf(h))
	require.Equal(t, "ABC", s.Text(h, "code"))
	require.Equal(t, "red", s.Text(h, "color"))
	require.Empty(t, s.Text(h, "nope"))
	encoded := Union{s}.Encode(h)
	text, err := encoded.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"x","color":"red","count":7,"words":["a"],"code":"ABC","limits":{"cpu":1.5},"must":false}`, string(text))
	again := &heldSpec{reflect.New(s.GoType).Interface()}
	require.NoError(t, s.Decode(encoded, again))
	require.Equal(t, h, again)
	require.Equal(t, s.Fingerprint(h), s.Fingerprint(again))
	encoded.Set("count", IntValue(8))
	other := &heldSpec{reflect.New(s.GoType).Interface()}
	require.NoError(t, s.Decode(encoded, other))
	require.NotEqual(t, s.Fingerprint(h), s.Fingerprint(other))

	require.NoError(t, Document(source, s), "it needs no source")
	require.Equal(t, "A thing.", s.Doc)
	require.Equal(t, "It names it.", s.Fields[0].Doc)
	require.Equal(t, []any{map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": []string{"a", "b"}}},
		map[string]any{"type": "string", "enum": []string{"a", "b"}}}, Union{s}.JSONSchema()["properties"].(map[string]any)["words"].(map[string]any)["anyOf"])
	require.Equal(t, "ABC", s.Field("code").Canonical("abc"))
	require.Equal(t, "abc", s.Field("color").Canonical("abc"))
}

func TestMakeRefuses(t *testing.T) {
	text := reflect.TypeFor[string]()
	for want, props := range map[string][]Property{
		"b: name a is already used by property a":              {{Name: "a", Type: text}, {Name: "b", Aliases: []string{"a"}, Type: text}},
		"a: must be a string, because it names the resource":   {{Name: "a", Type: reflect.TypeFor[int64](), IsName: true}},
		`a: default: expected true or false, got "perhaps"`:    {{Name: "a", Type: reflect.TypeFor[bool](), Default: "perhaps"}},
		"b: a is already the property that names the resource": {{Name: "a", Type: text, IsName: true}, {Name: "b", Type: text, IsName: true}},
		"must be at most 64 properties, got 65":                make([]Property, 65),
	} {
		_, err := Make("", props)
		require.EqualError(t, err, want)
	}
	for name, want := range map[string]bool{"a_1": true, "": false, "1a": false, "A": false, "a-b": false, "a b": false} {
		require.Equal(t, want, IsIdentifier(name), name)
	}
}
