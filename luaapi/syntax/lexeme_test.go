package syntax_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/syntax"
)

func TestLexemes(t *testing.T) {
	kinds := "_cnkdsy"
	for text, want := range map[string]string{
		`local x = 1`:               `k:local _:  n:x _:  y:= _:  d:1`,
		`"a\"b" 'c'`:                `s:"a\"b" _:  s:'c'`,
		`"a`:                        `s:"a*`,
		"'a\nb":                     "s:'a* _:\n n:b",
		`[[a]] [=[ ]] ]=] [==`:      `s:[[a]] _:  s:[=[ ]] ]=] _:  y:[ y:== `,
		`[[a`:                       `s:[[a*`,
		`-- c`:                      `c:-- c`,
		"--[[ c\n]] x":              "c:--[[ c\n]] _:  n:x",
		`--[[ c`:                    `c:--[[ c*`,
		`a.b:c(...)..d`:             `n:a y:. n:b y:: n:c y:( y:... y:) y:.. n:d`,
		`0x1F 1e-3 .5 3..2 1.5`:     `d:0x1F _:  d:1e-3 _:  d:.5 _:  d:3 y:.. d:2 _:  d:1.5`,
		`~= == <= >= :: ~`:          `y:~= _:  y:== _:  y:<= _:  y:>= _:  y::: _:  y:~`,
		`zwölf = "ä"`:               `n:zwölf _:  y:= _:  s:"ä"`,
		"x\x00\xff":                 "n:x y:\x00 n:\xff",
		`"a\`:                       `s:"a\*`,
		"\"a\\\nb\"":                "s:\"a\\\nb\"",
		`f"x"{y}`:                   `n:f s:"x" y:{ n:y y:}`,
		`return function() end end`: `k:return _:  k:function y:( y:) _:  k:end _:  k:end`,
	} {
		var got []string
		at := 0
		for _, tok := range syntax.Lexemes(text) {
			require.Equal(t, at, tok.Start, text)
			at = tok.End
			part := kinds[tok.Kind:tok.Kind+1] + ":" + text[tok.Start:tok.End]
			if tok.Open {
				part += "*"
			}
			got = append(got, part)
		}
		require.Equal(t, len(text), at, text)
		require.Equal(t, strings.TrimSpace(want), strings.Join(got, " "), text)
	}
}
