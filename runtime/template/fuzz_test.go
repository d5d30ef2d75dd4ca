package template_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/template"
)

// hostileEnv returns an environment for expressions in fuzz tests. Its data looks like expressions, and must stay
// data.
func hostileEnv() *template.Env {
	files := map[string]string{
		"/d/x.templ": "${ Data.port }", "/d/self.templ": "${ template('self.templ') }", "/d/x.jet": "[[ data.port ]]", "/d/self.jet": `[[ include "self.jet" ]]`,
		"/d/block.jet": "[[ block a(x) ]][[ x ]][[ end ]]", "/d/evil": "${ 1 + 1 }",
	}
	return template.New(template.Options{
		Facts:   facts.Static(map[string]any{"os": map[string]any{"family": "debian", "list": []any{int64(1), "two", nil, 3.5}}}),
		Data:    map[string]any{"port": int64(80), "evil": "${ 1 + 1 }{{ 1 }}[[ 1 ]]", "list": []any{"a", "b"}, "deep": map[string]any{"a": map[string]any{"b": true}}, "": "x"},
		Environ: map[string]string{"HOME": "/root", "EVIL": "${ x }"}, Dir: "/d",
		Now: func() time.Time { return time.Unix(1e9, 0).UTC() },
		ReadFile: func(path string) ([]byte, error) {
			text, ok := files[path]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		},
	})
}

var expressions = []string{
	"x", "${ 1 }", "a ${ 1 } b {{ 2 }} c", "${ Facts.os.family }", "${ Data.evil }", "x${ Data.evil }y", "${ lookup('facts.os.list.#') }", "${ lookup('data.deep|@pretty', 5) }", "${ lookup('env.*') }", "${ lookup('..') }", "${ lookup('@this.@this.@this') }",
	"${ Data.x ?? 'no' }", "${ Data?.x?.y }", "${ Data['port'] + 1 }", "${ Data[nil] }", "${ Data[[]] }", "${ Data[1.5] }", "${ [1,2,3][5] }", "${ {'a': 1}.b }", "${ 1/0 }", "${ 1%0 }", "${ 9223372036854775807 + 1 }", "${ -9223372036854775808 / -1 }", "${ 0/0 }", "${ int('x') }",
	"${ file('evil') }", "${ file('../../etc/passwd') }", "${ template('x.templ') }", "${ template('self.templ') }", "${ template('${ template(\"${ 1 }\") }') }", "${ jet('x.jet') }", "${ jet('self.jet') }", "${ jet('[[ data.evil ]]') }", "${ jet('<< 1 >>', '<<', '>>') }", "${ jet('', '', '') }",
	"${ map(1..10, # * 2) }", "${ filter(Data.list, # startsWith 'a') }", "${ sum(1..100, sum(1..100, #)) }", "${ reduce(1..9, #acc + #, 0) }", "${ sort(Data.list, 'desc') }", "${ groupBy(Data.list, #) }", "${ sortBy([{'a': 1}, {'a': 'x'}], 'a') }", "${ let a = 1; let b = a; b }", "${ 1; 2; 3 }", "${ if true { 1 } else { 2 } }",
	"${ repeat('x', 1000000) }", "${ replace('aaa', '', 'bb') }", "${ '%s' | indexOf('s') }", "${ split('a,b', '') }", "${ toJSON(Facts) }", "${ fromJSON('[1,{\"a\":1e400}]') }", "${ toBase64(fromBase64('gIGC')) }", "${ duration('1h') }", "${ date('2026-01-02') - now() }", "${ now().Format('2006') }", "${ timezone('x') }", "${ 'a' matches '(a*)*b' }", "${ 'a' matches '(' }",
	"${ '}' }", "${ \"\\\"}\" }", "${ {} }", "${ `}` }", "${", "${}", "${ ", "{{", "{{ 1 }", "${{ 1 }}", "${ '", "${ {{{ }", "${ /* } */ 1 }", "${ // }\n1 }", "${ #env }", "${ $env }", "${ $env['get value'] }", "${ count step() }", "${ Facts.os.family.Foo() }", "${ now().AddDate(1,2,3) }", "${ type(lookup) }", "${ lookup }", "${ keys(5) }",
	"${" + strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500) + "}", "${" + strings.Repeat("-", 500) + "1}", "${" + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}", "${ 1" + strings.Repeat(" ? 1 : 1", 300) + " }", "${ 'é' + ü }", "é${ ü }", "${ \xff }", "\xff${ 1 }", "${ 1 }\x00",
}

// FuzzExpand evaluates texts with expressions: a value, the same each time, or a
// mistake that lies in the text.
func FuzzExpand(f *testing.F) {
	for _, text := range expressions {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			t.Skip()
		}
		got, err := hostileEnv().Expand(text)
		again, errAgain := hostileEnv().Expand(text)
		require.Equal(t, fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", again), "the second time")
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(errAgain), "the second time")
		if err != nil {
			inside(t, text, err)
		} else if s, ok := got.(string); ok && !template.HasExpression(text) {
			require.Equal(t, text, s)
		}
		each, given, err := hostileEnv().ExpandEach(text)
		if err == nil && !template.HasExpression(text) {
			require.True(t, given)
			require.Equal(t, text, each)
		}
		if _, err := hostileEnv().Condition(text); err != nil {
			inside(t, text, err)
		}
		if _, err := hostileEnv().Lookup(text, nil); err != nil {
			require.NotEmpty(t, err.Error())
		}
		parts, err := template.Parts(text)
		if err != nil {
			inside(t, text, err)
			return
		}
		whole := ""
		for _, p := range parts {
			whole += p.Text
			if p.Code != "" {
				_, _ = template.Lua(p.Code)
			}
		}
		require.Equal(t, text, whole)
		for _, evil := range []string{"${ Data.evil }", "${ Environ.EVIL }", "${ file('evil') }"} {
			got, err := hostileEnv().Expand(evil + text)
			if s, ok := got.(string); ok && err == nil {
				require.Contains(t, s, "${ ", "what stands in data is not evaluated")
			}
		}
	})
}

// inside holds that a mistake has a message and lies in the text.
func inside(t *testing.T, text string, err error) {
	sane(t, text, err)
	if e, ok := errors.AsType[*template.Error](err); ok {
		begin, n := e.Span()
		require.GreaterOrEqual(t, begin, 0, "%v", err)
		require.GreaterOrEqual(t, n, 0, "%v", err)
		require.LessOrEqual(t, begin, len(text), "%v", err)
		require.LessOrEqual(t, begin+n, len(text)+1, "%v", err) // one behind the end is where more is wanted
	}
}

// sane fails if a message looks like that of a crash. Words of the text do not count.
func sane(t *testing.T, text string, err error) {
	require.NotEmpty(t, err.Error())
	for _, bad := range []string{"runtime error", "nil pointer"} {
		if !strings.Contains(text, bad) {
			require.NotContains(t, err.Error(), bad)
		}
	}
}

var templates = []string{
	"x [[ data.port ]] y\n[[ range data.list ]]- [[ . ]]\n[[ end ]]", "[[ range k, v := data ]][[ k ]]=[[ v ]]\n[[ end ]]", "[[ if data.x ]]1[[ else if true ]]2[[ else ]]3[[ end ]]", "[[ block a(x=1) ]][[ x ]][[ yield a(x=2) ]][[ end ]]", "[[ block a() ]][[ yield a() ]][[ end ]]",
	"[[ import \"block.jet\" ]][[ yield a(x=1) ]]", "[[ extends \"block.jet\" ]]", "[[ include \"self.jet\" ]]", "[[ include \"nosuch.jet\" ]]", "[[ includeIfExists \"x.jet\" ]]", "[[ exec(\"self.jet\") ]]", "[[ try ]][[ data.nosuch ]][[ catch err ]][[ err.Error() ]][[ end ]]", "[[ return 1 ]]", "[[ x := 1 ]][[ x = x + 1 ]][[ x ]]",
	"[[ repeat(\"x\", 100) ]][[ replace(\"a\", \"\", \"b\", -1) ]][[ split(\"a,b\", \",\") ]]", "[[ map(\"a\", 1) ]][[ slice(1, 2)[5] ]]", "[[ range ints(0, 5) ]].[[ end ]]", "[[ data.evil | upper | html ]]", "[[ dump() ]]", "[[ data.list[9] ]][[ data.list[-1] ]]", "[[ facts.os.family.x.y ]]", "[[ isset(data.x) ? 1 : 2 ]]", "[[ len(5) ]][[ 1/0 ]][[ \"a\" - 1 ]]",
	"[[", "[[ if ]]", "[[ end ]]", "[[ range ]]", "[[* comment *]]", "[[ \"", "]]", "[[ . ]]", "[[ .x ]]", "[[- 1 -]]", strings.Repeat("[[if 1]]", 200) + strings.Repeat("[[end]]", 200), "[[ " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300) + " ]]", "[[ " + strings.Repeat("!", 300) + "true ]]",
	"{{ a }}{% for i in range(5) %}{{ i }}{% endfor %}", "{% if a is defined %}1{% endif %}", "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}", "{% include 'x' %}", "{% for i in range(1000000000) %}{% endfor %}", "{{ a.b.c }}", "{% set x = [1,2] %}{{ x | join(',') }}", "{{ a | nosuch }}", "{% raw %}{{{% endraw %}", "{{", "{%", "{#", "{{ '", "{{ a[0][1][-1] }}", "{{ (((((1))))) }}", "{{ 1/0 }}",
	"{{ 'x' * 10000000000 }}", "{% set n = namespace(s='x') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}", "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", "{% block a %}{{ self.a() }}{% endblock %}", "{% set d = {} %}{% set d.x = d %}{{ d }}",
	"{{ 'x'.center(9999999999) }}", "{{ '{:>9999999999}'.format(1) }}", "{{ [1] * 3 }}{{ [1] + [2] }}", "{% call m() %}{% endcall %}", "{% filter upper %}x{% endfilter %}", "{% extends 'x' %}{% import 'x' as y %}", "{% set l = [1] %}{% do l.append(l) %}{{ l }}",
}

// errLate ends templates that take long.
var errLate = errors.New("late")

// FuzzTemplate renders whole templates, of Jet and of Jinja.
func FuzzTemplate(f *testing.F) {
	for _, text := range templates {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
		if strings.Contains(text, "{%") || strings.Contains(text, "{{") {
			f.Add(text, uint8(2))
		}
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		if len(text) > 1<<14 {
			t.Skip()
		}
		end := time.Now().Add(5 * time.Second)
		defer time.AfterFunc(20*time.Second, func() { panic("it takes too long") }).Stop()
		render := func() (string, error) {
			switch kind % 3 {
			case 0:
				return hostileEnv().Jet("", text, "[[", "]]")
			case 1:
				out, err := hostileEnv().RenderManifest("/d/m.jet", text)
				if err == nil {
					require.Len(t, out.Lines, strings.Count(out.Text, "\n")+1)
					for _, line := range out.Lines {
						require.Positive(t, line.Line)
					}
				}
				return out.Text, err
			}
			return template.Jinja("/d/t", text, map[string]any{"a": map[string]any{"b": []any{int64(1), "x"}}}, func(path string) ([]byte, error) { return nil, fs.ErrNotExist }, func() error {
				if time.Now().After(end) {
					return errLate
				}
				return nil
			})
		}
		out, err := render()
		if errors.Is(err, errLate) {
			return
		}
		if err != nil {
			sane(t, text, err)
			if e, ok := errors.AsType[*diag.Error](err); ok && e.Pos.File == "/d/m.jet" {
				require.LessOrEqual(t, e.Pos.Line, strings.Count(text, "\n")+1, "%v", err)
			}
			return
		}
		if strings.Contains(text, "dump") || strings.Contains(text, "random") || strings.Contains(text, "now") {
			return
		}
		again, err := render()
		require.NoError(t, err, "the second time")
		require.Equal(t, out, again, "the second time")
	})
}
