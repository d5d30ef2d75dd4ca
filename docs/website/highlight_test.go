package website

import (
	"html"
	"html/template"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/docs/markdown"
)

// marked writes the tokens of HTML as [class text].
func marked(text string) string {
	text = regexp.MustCompile(`<span class="(\w+)">`).ReplaceAllString(text, "[$1 ")
	return html.UnescapeString(regexp.MustCompile(`</span>`).ReplaceAllString(text, "]"))
}

func TestHighlighted(t *testing.T) {
	for _, c := range [][3]string{
		{"lua", `local a = x == 1 -- b "c"`, `[k local] [p a] = x == [n 1] [c -- b "c"]`},
		{"lua", `file { "/a\"b", mode = "0644", n = nil }`, `[f file] { [s "/a\"b"], [p mode] = [s "0644"], [p n] = [n nil] }`},
		{"lua", `std.line "x"; f(endless, 0x1f) --[[ a` + "\n" + `b ]] y = [[ z ]]`, `[f std.line] [s "x"]; [f f](endless, [n 0x1f]) [c --[[ a` + "\n" + `b ]]] [p y] = [s [[ z ]]]`},
		{"yaml", "# a\n- /etc/app.conf: { mode: \"0644\", n: 4 } # b", "[c # a]\n- [p /etc/app.conf]: { [p mode]: [s \"0644\"], [p n]: [n 4] } [c # b]"},
		{"yaml", "on:\n  - file#/etc/x\n  - 1.5.2\n  - true", "[p on]:\n  - file#/etc/x\n  - 1.5.2\n  - [n true]"},
		{"yaml", `"os:debian": a:b "c: d"`, `[p "os:debian"]: a:b [s "c: d"]`},
		{"sh", `if [ "$a" ]; then echo $b ${c} a#b; fi # d`, `[k if] [ [s "$a"] ]; [k then] echo [p $b] [p ${c}] a#b; [k fi] [c # d]`},
		{"console", "$ ccm run 'a b'\n1 resource # in\n# x\nweb1# ls\n", "[g $ ][cmd ccm run [s 'a b']]\n1 resource # in\n[g # ][cmd x]\n[g web1# ][cmd ls]\n"},
		{"", "$ ls\n", "[g $ ][cmd ls]\n"},
		{"", "a = 1", "a = 1"},
		{"ruby", "if <x>", "if <x>"},
	} {
		require.Equal(t, c[2], marked(highlighted(c[0], c[1])), c[1])
	}
}

// TestHighlightedKeepsText: without its tags, highlighted code is the code, for each block of the documentation.
func TestHighlightedKeepsText(t *testing.T) {
	tag := regexp.MustCompile(`</?span[^>]*>`)
	tagged := 0
	for _, name := range docs.Names() {
		for _, b := range markdown.Parse(docs.Text(name)).Blocks() {
			out := highlighted(b.Language, b.Code)
			require.Equal(t, b.Code, html.UnescapeString(tag.ReplaceAllString(out, "")), name)
			if tag.MatchString(out) {
				tagged++
			}
		}
	}
	require.Greater(t, tagged, 500)
}

func FuzzHighlighted(f *testing.F) {
	f.Add("lua", `x = "a`)
	f.Add("yaml", "a: '\n#")
	f.Add("console", "$ $ #\n")
	tag := regexp.MustCompile(`</?span[^>]*>`)
	f.Fuzz(func(t *testing.T, language, code string) {
		require.Equal(t, template.HTMLEscapeString(code), tag.ReplaceAllString(highlighted(language, code), ""))
	})
}
