package tabletext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/tabletext"
)

const script = `-- { "comment" } and --[[ { "x" } ]]
local s = "{ not = 'a table' }"
return secret.values {
  db = { user = "app", ["password"] = 'it\'s', [3] = [[long
"text"]], --[[ x = "y" ]] n = 4 },
  "first", f("not a field", { "inner" }), "second" .. "x";
  last = "end" == "end",
  { "nested" },
}
`

func TestTexts(t *testing.T) {
	list, err := tabletext.Syntax{}.Texts(script)
	require.NoError(t, err)
	got := map[string]string{}
	for _, l := range list {
		got[l.Key] = l.Value
	}
	require.Equal(t, "app", got["db.user"])
	require.Equal(t, "it's", got["db.password"])
	require.Equal(t, "long\n\"text\"", got["db.3"])
	require.Equal(t, "first", got["0"])
	require.Equal(t, "nested", got["3.0"])
	require.NotContains(t, got, "last")
	require.NotContains(t, got, "2")
}

func TestMistakesHaveLines(t *testing.T) {
	for text, want := range map[string]string{
		"return {\n  a = ,\n}":           "line 2: expected a value, got ,",
		"return {\n  [x] = \"text\",\n}": "line 1: expected a name in quotes or a number in [ ]",
	} {
		_, err := tabletext.Syntax{}.Texts(text)
		require.EqualError(t, err, want)
	}
}

func TestSet(t *testing.T) {
	for _, value := range []string{"ENC[age,AAAA]", "a\"b\\c\nd\x01é"} {
		after, err := tabletext.Syntax{}.Set(script, "db.password", value)
		require.NoError(t, err)
		require.Contains(t, after, `db = { user = "app", ["password"] = "`)
		list, err := tabletext.Syntax{}.Texts(after)
		require.NoError(t, err)
		found := false
		for _, l := range list {
			found = found || l.Key == "db.password" && l.Value == value
		}
		require.True(t, found, after)
	}
	_, err := tabletext.Syntax{}.Set(script, "db.pw", "x")
	require.ErrorContains(t, err, "no text under the key db.pw")
	_, err = tabletext.Syntax{}.Set(`a = { x = "1" } b = { x = "2" }`, "x", "3")
	require.ErrorContains(t, err, "in two tables")
}

func FuzzTexts(f *testing.F) {
	f.Add(script)
	f.Add(`{ [ "a" ] = "b`)
	f.Add("{{{{{(((")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := tabletext.Syntax{}.Texts(text)
		if err != nil {
			return
		}
		for _, l := range list {
			after, err := tabletext.Syntax{}.Set(text, l.Key, "ENC[age,AAAA]")
			if err != nil {
				continue
			}
			again, err := tabletext.Syntax{}.Texts(after)
			if err != nil || len(again) != len(list) {
				t.Fatalf("%q: %d texts became %d (%v)", text, len(list), len(again), err)
			}
		}
	})
}
