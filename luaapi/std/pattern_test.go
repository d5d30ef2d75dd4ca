package std

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// Matches are those of package regexp, in short texts and in those that are read rune by rune.
func TestPatternsAreThoseOfGo(t *testing.T) {
	reg, err := resource.NewRegistry()
	require.NoError(t, err)
	in := luaapi.New(luaapi.Options{Registry: reg, Builder: new(catalog.Builder)})
	defer in.Close()
	c := &call{instance: &instance{in: in}}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string, most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	pieces := []string{"a", "b", "(a)", "(a|b)", "a*", "b+?", "(?:ab)?", "()", `\b`, `\B`, "^", "$", "(?m)^", "(?m:$)", `\A`, `\z`, ".", `(?s:.)`, "|", "(?i)A", "é", `[^a]`, "(a*)(b*)", `\n`, "x{2}"}
	letters := []string{"a", "b", "ab", "é", "\n", " ", "\xff", "\xe2\x82", "€", "x", "xx"}
	tried := 0
	for range 30_000 {
		pattern := pick(pieces, 5)
		if r.IntN(8) == 0 {
			pattern += `\Q` + pick([]string{"a", ".", "é"}, 2) // without \E
		}
		want, err := regexp.Compile(pattern)
		if err != nil {
			continue
		}
		text := pick(letters, 12)
		p := compilePattern(c, pattern)
		for _, work := range []int{p.cost, maxWork + 1} { // per rune
			tried++
			p.cost = work
			limit := r.IntN(6) - 1
			require.Equal(t, want.MatchString(text), p.isIn(c, text), "%q in %q", pattern, text)
			require.Equal(t, want.FindStringSubmatchIndex(text), p.find(c, text, 0), "%q in %q", pattern, text)
			most := limit
			if limit < 0 {
				most = maxItems
			}
			require.Equal(t, want.FindAllStringSubmatchIndex(text, limit), p.findAll(c, text, most), "%q in %q, %d times", pattern, text, limit)
			if limit == 0 {
				limit = -1
			}
			var lines, found []int
			for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
				if text != "" && want.MatchString(line) {
					lines = append(lines, i+1)
				}
			}
			for i, line := range p.candidates(text) {
				if p.isIn(c, line) {
					found = append(found, i)
				}
			}
			require.Equal(t, lines, found, "lines with %q in %q", pattern, text)
			require.Equal(t, want.Split(text, limit), append([]string{}, p.split(c, text, limit)...), "%q in %q, %d parts", pattern, text, limit)
		}
	}
	require.Greater(t, tried, 20_000)
}
