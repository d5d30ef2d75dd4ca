package schema

import (
	"embed"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
)

//go:embed schema_test.go
var source embed.FS

type color string

func (color) Values() []string { return []string{"red", "green"} }

// octal is a property with its own syntax.
type octal uint32

func (o *octal) UnmarshalText(text []byte) error {
	if _, err := fmt.Sscanf(string(text), "0%o", (*uint32)(o)); err != nil {
		return fmt.Errorf("expected octal, got %q", text)
	}
	return nil
}

type innerSpec struct {
	// If is a condition.
	If string `ccm:"if"`
	// Count counts.
	Count int `ccm:"count,required"`
}

// thing is one thing.
type thing struct {
	// Name names it.
	Name string `ccm:"name,name,alias=path"`
	// Color is its color.
	Color color `ccm:"color,default=red"`
	// Mode is octal.
	Mode *octal `ccm:"mode"`
	// Tags are words.
	Tags    []string          `ccm:"tags"`
	Codes   []int             `ccm:"codes,default=0"`
	Modes   []octal           `ccm:"modes"`
	Headers map[string]string `ccm:"headers,secret"`
	Control *innerSpec        `ccm:"control"`
	Checks  []innerSpec       `ccm:"checks"`
	Force   bool              `ccm:"force"`
	Size    *int64            `ccm:"size"`
	Ratio   float64           `ccm:"ratio"`
	Data    any               `ccm:"data"`
	Must    string            `ccm:"must,required"`
	Other   string
}

func table(kv ...any) *Table {
	t := new(Table)
	for i := 0; i < len(kv); i += 2 {
		t.Set(kv[i].(string), value(kv[i+1]))
	}
	return t
}

func value(v any) Value {
	switch v := v.(type) {
	case string:
		return StringValue(v)
	case int:
		return IntValue(int64(v))
	case float64:
		return NumberValue(v)
	case bool:
		return BoolValue(v)
	case []any:
		items := []Value{}
		for _, e := range v {
			items = append(items, value(e))
		}
		return ListValue(items...)
	case *Table:
		return MapValue(v)
	case Value:
		return v
	}
	return Value{}
}

func TestDecode(t *testing.T) {
	s := Of(reflect.TypeFor[thing]())
	var got thing
	require.NoError(t, s.Decode(table("path", "/x", "mode", "0644", "tags", []any{"a", "b"}, "modes", "07", "headers", table("k", "v"),
		"control", table("if", "x", "count", 2), "checks", []any{table("count", 1)}, "force", true, "size", 3.0, "ratio", 1,
		"data", table("a", []any{1, "b", false}), "must", "m", "color", nil), &got))
	mode, size := octal(0o644), int64(3)
	require.Equal(t, thing{
		Name: "/x", Color: "red", Mode: &mode, Tags: []string{"a", "b"}, Codes: []int{0}, Modes: []octal{7}, Headers: map[string]string{"k": "v"},
		Control: &innerSpec{"x", 2}, Checks: []innerSpec{{"", 1}}, Force: true, Size: &size, Ratio: 1, Data: map[string]any{"a": []any{int64(1), "b", false}}, Must: "m",
	}, got)
	require.Equal(t, "/x", s.NameOf(&got))
}

// A single item is a list of one, an empty table is an empty list or map, and
// text of the command line takes the type of its property.
func TestDecodeLenience(t *testing.T) {
	s := Of(reflect.TypeFor[thing]())
	var got thing
	require.NoError(t, s.Decode(table("name", "x", "must", "m", "tags", "one", "codes", table(), "headers", []any{},
		"force", TextValue("true"), "size", TextValue("12"), "ratio", TextValue("0.5")), &got))
	require.Equal(t, []string{"one"}, got.Tags)
	require.Equal(t, []int{}, got.Codes)
	require.Empty(t, got.Headers)
	require.True(t, got.Force)
	require.Equal(t, int64(12), *got.Size)
	require.InDelta(t, 0.5, got.Ratio, 0)
	// How a scalar was written counts for text.
	require.NoError(t, s.Decode(table("name", "x", "must", Value{Kind: Float, F: 1.1, S: "1.10"}, "mode", Value{Kind: Int, I: 420, S: "0644"}), &got))
	require.Equal(t, "1.10", got.Must)
	require.Equal(t, octal(0o644), *got.Mode)
}

func TestMistakes(t *testing.T) {
	s := Of(reflect.TypeFor[thing]())
	for _, x := range []struct {
		t   *Table
		err string
	}{
		{table("must", "m"), "name is required"},
		{table("name", "x"), "must is required"},
		{table("name", "x", "must", "m", "colour", "red"), `unknown property "colour" (did you mean "color"?)`},
		{table("name", "x", "must", "m", "zzzz", 1), `unknown property "zzzz"`},
		{table("name", "x", "path", "y", "must", "m"), "duplicate path (same as name)"},
		{table("name", "x", "must", "m", "color", "gren"), `color: expected one of red, green, got "gren" (did you mean "green"?)`},
		{table("name", "x", "must", "m", "mode", "rw"), `mode: expected octal, got "rw"`},
		{table("name", "x", "must", "m", "mode", 644), `mode: expected a string, got the number 644 (quote it: "644")`},
		{table("name", "x", "must", true), "must: expected a string, got the boolean true"},
		{table("name", "x", "must", "m", "force", "yes"), `force: expected true or false, got "yes"`},
		{table("name", "x", "must", "m", "size", 1.5), "size: expected an integer, got the number 1.5"},
		{table("name", "x", "must", "m", "size", Value{Kind: Int, I: 320, S: "0500"}), "size: expected an integer, got the number 0500 (remove the leading zero, which some readers take for octal)"},
		{table("name", "x", "must", "m", "size", Value{Kind: Float, F: 5000, S: "5e3"}), "size: expected an integer, got the number 5e3"},
		{table("name", "x", "must", "m", "ratio", Value{Kind: Int, I: 8, S: "010"}), "ratio: expected a number, got the number 010 (remove the leading zero, which some readers take for octal)"},
		{table("name", "x", "must", "m", "tags", table("a", 1)), "tags: expected a list, got a table"},
		{table("name", "x", "must", "m", "tags", []any{"a", 2}), `tags[2]: expected a string, got the number 2 (quote it: "2")`},
		{table("name", "x", "must", "m", "headers", "x"), `headers: expected a table, got "x"`},
		{table("name", "x", "must", "m", "headers", table("k", false)), "headers.k: expected a string, got the boolean false"},
		{table("name", "x", "must", "m", "control", table("fi", "x", "count", 1)), `control: unknown property "fi" (did you mean "if"?)`},
		{table("name", "x", "must", "m", "checks", []any{table("count", "many")}), `checks[1].count: expected an integer, got "many"`},
		{table("name", "x", "must", "m", "checks", []any{table()}), "checks[1]: count is required"},
	} {
		require.EqualError(t, s.Decode(x.t, new(thing)), x.err)
	}
	// All mistakes of a table are reported, as long as people may have made them.
	err := s.Decode(table("colour", 1, "mode", 1), new(thing))
	require.Len(t, err, 4)
	err = s.Decode(table("name", "x", "must", "m", "tags", slices.Repeat([]any{1}, 2000)), new(thing))
	require.Len(t, err, 1000)
}

// A list of very many texts is decoded in time that grows with their number, also one to which
// defaults are added.
func TestManyTexts(t *testing.T) {
	many := make([]any, 200_000) // the square of it would take minutes
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	dst := new(struct {
		Tags []string `ccm:"tags,added"`
	})
	require.NoError(t, Of(reflect.TypeOf(*dst)).Decode(table("tags", append(many, many...)), dst))
	require.Len(t, dst.Tags, len(many))
}

type whereSpec struct{}

func (whereSpec) Locate(path Path, key bool) diag.Pos {
	return diag.Pos{File: fmt.Sprint(path, key), Line: 1}
}

func TestPlaces(t *testing.T) {
	tab := table("name", "x", "nope", 1, "tags", []any{true})
	tab.Positions = whereSpec{}
	require.EqualError(t, Of(reflect.TypeFor[thing]()).Decode(tab, new(thing)),
		" false:1: must is required\nnope true:1: unknown property \"nope\" (did you mean \"name\"?)\n"+
			"tags[1] false:1: tags[1]: expected a string, got the boolean true")
}

func TestDocument(t *testing.T) {
	s := Of(reflect.TypeFor[thing]())
	text, err := source.ReadFile("schema_test.go")
	require.NoError(t, err)
	require.NoError(t, Document(fstest.MapFS{"thing.go": {Data: text}}, s))
	require.Equal(t, "thing is one thing.", s.Doc)
	require.Equal(t, "name names it.", s.Field("path").Doc)
	require.Equal(t, "if is a condition.", s.Field("checks").ElemObject().Field("if").Doc)
	require.Equal(t, "red | green", s.Field("color").Describe())
	require.Equal(t, "list of integer", s.Field("codes").Describe())
}

func TestJSONSchema(t *testing.T) {
	s := Of(reflect.TypeFor[thing]())
	js := Union{s}.JSONSchema()
	require.Equal(t, []string{"must"}, js["required"])
	require.Equal(t, false, js["additionalProperties"])
	props := js["properties"].(map[string]any)
	require.Equal(t, map[string]any{"type": "string", "enum": []string{"red", "green"}, "default": "red", "x-ccm": props["color"].(map[string]any)["x-ccm"]}, props["color"])
	require.Contains(t, props, "path")
	require.Equal(t, "integer", props["size"].(map[string]any)["type"])
	require.Equal(t, map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "x-ccm": props["headers"].(map[string]any)["x-ccm"]}, props["headers"])
}

// TestHints: hints for forms that JSON Schema cannot express.
func TestHints(t *testing.T) {
	type ownSpec struct {
		Path  string   `ccm:"path,name,alias=file,kind=path,example=/etc/motd"`
		Owner string   `ccm:"owner,kind=owner,unless=ensure is absent"`
		Text  string   `ccm:"text,required,usual,secret"`
		Check []string `ccm:"check,argv"`
	}
	type allSpec struct {
		Path string `ccm:"path"`
		Tags string `ccm:"tags"`
	}
	props := Union{Of(reflect.TypeFor[ownSpec]()), Of(reflect.TypeFor[allSpec]())}.JSONSchema()["properties"].(map[string]any)
	hints := func(name string) any { return props[name].(map[string]any)["x-ccm"] }
	require.Equal(t, map[string]any{"order": 2, "kind": "path", "example": "/etc/motd"}, hints("path"))
	require.Equal(t, map[string]any{"order": 2, "kind": "path", "example": "/etc/motd", "alias_of": "path"}, hints("file"))
	require.Equal(t, map[string]any{"order": 3, "kind": "owner", "required_unless": "ensure is absent"}, hints("owner"))
	require.Equal(t, map[string]any{"order": 4, "required": true, "usual": true, "secret": true}, hints("text"))
	require.Equal(t, map[string]any{"order": 5, "kind": "command"}, hints("check"))
	require.Equal(t, map[string]any{"order": 6, "common": true}, hints("tags"))
}

func TestNames(t *testing.T) {
	require.True(t, strings.HasSuffix(strings.Join(Of(reflect.TypeFor[thing]()).Names(), " "), " must path"))
}

func BenchmarkDecode(b *testing.B) {
	s := Of(reflect.TypeFor[thing]())
	tab := table("name", "/etc/motd", "mode", "0644", "must", "some text", "force", true, "color", "green")
	b.ReportAllocs()
	for b.Loop() {
		var got thing
		if err := s.Decode(tab, &got); err != nil {
			b.Fatal(err)
		}
	}
}
