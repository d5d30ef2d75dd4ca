package facts

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
)

func TestParseEnv(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string]string
	}{
		"empty":                      {"", map[string]string{}},
		"plain":                      {"A=1\nB_2=two words\n", map[string]string{"A": "1", "B_2": "two words"}},
		"no final newline":           {"A=1", map[string]string{"A": "1"}},
		"empty values":               {"A=\nB=''\nC=\"\"\nD=  # none\n", map[string]string{"A": "", "B": "", "C": "", "D": ""}},
		"comments and empty lines":   {"# one\n\n  # two\nA=1 # three\nB=1#2\nC=#4\n", map[string]string{"A": "1", "B": "1#2", "C": ""}},
		"export":                     {"export A=1\nexport\tB=2\nexported=3\nexport=4\n", map[string]string{"A": "1", "B": "2", "exported": "3", "export": "4"}},
		"space around":               {"  A = 1  \n\tB\t=\t2\t\n", map[string]string{"A": "1", "B": "2"}},
		"CRLF":                       {"A=1\r\nB=\"2\"\r\n\r\nC='3'", map[string]string{"A": "1", "B": "2", "C": "3"}},
		"byte order mark":            {"\ufeffA=1\n", map[string]string{"A": "1"}},
		"single quotes":              {`A='a "b" \n $c # d' # e`, map[string]string{"A": `a "b" \n $c # d`}},
		"double quotes":              {`A="a\n\t\r\"\\\$\` + "`" + `'#\x"#e`, map[string]string{"A": "a\n\t\r\"\\$`'#\\x"}},
		"line breaks in quotes":      {"A=\"1\n2\"\nB='3\n\n4'\nC=5\n", map[string]string{"A": "1\n2", "B": "3\n\n4", "C": "5"}},
		"a line that goes on":        {"A=\"1\\\n2\"\n", map[string]string{"A": "12"}},
		"quotes inside":              {`A=it's "x"`, map[string]string{"A": `it's "x"`}},
		"nothing is expanded":        {"A=$HOME/${B}\nB=\"`id`\"\n", map[string]string{"A": "$HOME/${B}", "B": "`id`"}},
		"the last counts":            {"A=1\nA=2\n", map[string]string{"A": "2"}},
		"an equals sign in a value":  {"URL=http://x/?a=b&c=d#e\n", map[string]string{"URL": "http://x/?a=b&c=d#e"}},
		"a backslash without quotes": {`A=C:\dir`, map[string]string{"A": `C:\dir`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseEnv(".env", c.text)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestParseEnvErrors(t *testing.T) {
	for text, want := range map[string]string{
		"A=1\nnonsense\n":       ".env:2:1: expected KEY=value, got no =",
		"A=1\n  KEY: value\n":   ".env:2:3: expected KEY=value, got no =",
		"export A\n":            ".env:1:8: expected KEY=value, got no =",
		"1A=x\n":                `.env:1:1: expected a key of letters, digits and _ that does not begin with a digit, got "1A"`,
		"A-B=x\n":               `.env:1:1: expected a key of letters, digits and _ that does not begin with a digit, got "A-B"`,
		"=x\n":                  `.env:1:1: expected a key of letters, digits and _ that does not begin with a digit, got ""`,
		"A B=x\n":               `.env:1:1: expected a key of letters, digits and _ that does not begin with a digit, got "A B"`,
		"A=1\nB=\"x\ny\n":       `.env:2:3: expected a closing ", got the end of the file`,
		"A='x\n":                ".env:1:3: expected a closing ', got the end of the file",
		"A=\"x\\\"\n":           `.env:1:3: expected a closing ", got the end of the file`,
		"A=\"x\" y\n":           `.env:1:7: expected the end of the line or a # after the closing quote, got "y"`,
		"A=\"1\n2\"\nB='3\n4'5": `.env:4:3: expected the end of the line or a # after the closing quote, got "5"`,
		"x\nA=\"1\\\n2\"\ny\n":  ".env:1:1: expected KEY=value, got no =\n.env:4:1: expected KEY=value, got no =",
	} {
		_, err := ParseEnv(".env", text)
		require.EqualError(t, err, want, text)
	}
}

func TestParseEnvTellsAllMistakesAndNoValues(t *testing.T) {
	vars, err := ParseEnv(".env", "A=1\nPASSWORD \"hunter2\"\nTOKEN='x' hunter2\n2FA=hunter2\nB=2\n")
	list, ok := errors.AsType[diag.List](err)
	require.True(t, ok)
	require.Len(t, list, 3)
	require.NotContains(t, err.Error(), "hunter2")
	require.Equal(t, map[string]string{"A": "1", "B": "2"}, vars)
}

func FuzzParseEnv(f *testing.F) {
	f.Add("A=1\nexport B='x\ny' # c\nC=\"\\n\"\n")
	f.Add("=\n\"\r\n'")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ParseEnv(".env", text)
		list, _ := errors.AsType[diag.List](err)
		for _, e := range list {
			require.Positive(t, e.Pos.Line)
			require.Positive(t, e.Pos.Col)
		}
	})
}
