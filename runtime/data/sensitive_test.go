package data_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/template"
)

func TestMarks(t *testing.T) {
	for _, tt := range []struct {
		does, text string
		want       map[string]any
		secret     []string
		err        string
	}{
		{"a text", "data: {pw: {sensitive: true, value: hunter2}}", map[string]any{"pw": "hunter2"}, []string{"hunter2"}, ""},
		{"JSON", `{"data": {"pw": {"value": "hunter2", "sensitive": true}}}`, map[string]any{"pw": "hunter2"}, []string{"hunter2"}, ""},
		{"a list and a table", "data: {pw: {sensitive: true, value: [one1, {a: two2, b: [three3]}]}}",
			map[string]any{"pw": []any{"one1", map[string]any{"a": "two2", "b": []any{"three3"}}}}, []string{"one1", "three3", "two2"}, ""},
		{"a number", "data: {pin: {sensitive: true, value: 12345}}", map[string]any{"pin": int64(12345)}, []string{"12345"}, ""},
		{"an expression", "data: {pw: {sensitive: true, value: \"${ facts.word }-2\"}}", map[string]any{"pw": "hunter-2"}, []string{"hunter-2"}, ""},
		{"in a list", "data: {all: [a, {sensitive: true, value: hunter2}]}", map[string]any{"all": []any{"a", "hunter2"}}, []string{"hunter2"}, ""},
		{"an override", "hierarchy: {merge: deep, order: [x]}\ndata: {db: {user: a, pw: {sensitive: true, value: hunter1}}}\noverrides: {x: {db: {pw: {sensitive: true, value: hunter2}}}}",
			map[string]any{"db": map[string]any{"user": "a", "pw": "hunter2"}}, []string{"hunter1", "hunter2"}, ""},
		{"no mark", "data: {a: {sensitive: false, value: x}, b: {sensitive: true, value: x, more: y}, c: {sensitive: \"true\", value: x}}",
			map[string]any{
				"a": map[string]any{"sensitive": false, "value": "x"}, "b": map[string]any{"sensitive": true, "value": "x", "more": "y"},
				"c": map[string]any{"sensitive": "true", "value": "x"},
			}, nil, ""},
		{"too short", "data: {pw: {sensitive: true, value: abc}}", nil, nil, "site.yaml:1:37: cannot mask a sensitive value: too short"},
		{"nothing", "data: {pw: {sensitive: true, value: }}", nil, nil, "site.yaml:1:37: cannot mask a sensitive value: expected a text, or a list or table of texts"},
		{"a slip", "data: {pw: {sensitive: true, vlaue: hunter2}}", nil, nil, `site.yaml:1:30: unknown key "vlaue" beside sensitive (did you mean "value"?)`},
	} {
		t.Run(tt.does, func(t *testing.T) {
			doc, err := data.Parse("site.yaml", tt.text)
			require.NoError(t, err)
			var kept []string
			keep := func(s string) error {
				if len(s) < 4 {
					return errors.New("too short")
				}
				kept = append(kept, s)
				return nil
			}
			env := template.New(template.Options{Facts: facts.Static(map[string]any{"word": "hunter"})}).ForData()
			got, err := data.Resolve(doc, env, keep, nil)
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got.Data)
			slices.Sort(kept)
			require.Equal(t, tt.secret, kept)
			_, err = data.Resolve(doc, env, nil, nil)
			require.NoError(t, err, "nobody has to keep them")
		})
	}
}

func TestReveal(t *testing.T) {
	var kept []string
	got, err := data.Reveal(map[string]any{"a": []any{map[string]any{"sensitive": true, "value": "hunter2"}}, "b": "c"}, func(s string) error {
		kept = append(kept, s)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": []any{"hunter2"}, "b": "c"}, got)
	require.Equal(t, []string{"hunter2"}, kept)
}

func TestHideSensitive(t *testing.T) {
	require.Equal(t, "a: {value: x}", data.HideSensitive("a: {value: x}"))
	require.Equal(t, "a:\n  sensitive: true\n  value: *******\nb: 1", data.HideSensitive("a:\n  sensitive: true\n  value: hunter2\nb: 1"))
}
