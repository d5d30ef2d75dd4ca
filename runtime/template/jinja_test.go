package template

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJinja(t *testing.T) {
	vars := map[string]any{
		"foo": "bar", "nameservers": []any{"8.8.8.8", "8.8.4.4"}, "dns": map[string]any{"domain": "example.com"}, "port": int64(53),
	}
	read := func(path string) ([]byte, error) {
		if path == "/site/part.conf" {
			return []byte("part {{ foo }}"), nil
		}
		return nil, fs.ErrNotExist
	}
	for _, tt := range []struct{ text, want, fail string }{
		{text: "The value of the foo constant is {{foo}}\n\n{% for ns in nameservers %}\nnameserver {{ns}}\n{% endfor %}\n\nsearch {{dns.domain}}\n",
			want: "The value of the foo constant is bar\n\n\nnameserver 8.8.8.8\n\nnameserver 8.8.4.4\n\n\nsearch example.com"},
		{text: "{{ dns['domain'] }} {{ nameservers[0] }} {{ port }}", want: "example.com 8.8.8.8 53"},
		{text: "{{ nope|default('d') }}{% if nope is defined %}x{% endif %}", want: "d"},
		{text: "{% include 'part.conf' %}!", want: "part bar!"},
		{text: "<{{ foo }}> & {{ '<' }}", want: "<bar> & <"},
		{text: "a\n{{ nope }}\n", fail: `/site/t.conf:2: unknown name "nope"`},
		{text: "a\n\n{% iff %}\n", fail: "/site/t.conf:3:4: ControlStructure 'iff' not found"},
		{text: "a\n{{ \n", fail: "/site/t.conf:2:4: expected either a number, string, keyword or identifier"},
		{text: "a\n{{ dns.nope }}\n", fail: "/site/t.conf:2: dns.nope: Unable to evaluate dns.nope: attribute 'nope' not found"},
	} {
		got, err := Jinja("/site/t.conf", tt.text, vars, read, nil)
		if tt.fail != "" {
			require.ErrorContains(t, err, tt.fail)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, got, tt.text)
	}
}

// TestJinjaFrames: an error names its reason, the line and the included files, and not the blocks around it.
func TestJinjaFrames(t *testing.T) {
	files := map[string]string{"/d/bad": "\n{{ nope() }}", "/d/open": "{% if 1 %}{% for x in [1] %}", "/d/self": "\n{% include 'self' %}"}
	read := func(path string) ([]byte, error) { return []byte(files[path]), nil }
	for text, want := range map[string]string{
		"a\n{% if 1 %}{% for x in [1] %}{{ nope() }}{% endfor %}{% endif %}": "/d/self:2: Unable to render expression at line 2: call([], map[]): nope is not callable",
		"a\n{% if 1 %}{% include 'bad' %}{% endif %}":                        "/d/self:2: include 'bad': Unable to render expression at line 2: call([], map[]): nope is not callable",
		"{% include 'open' %}": "/d/self:1: include 'open': Unexpected EOF, expected tag else or endfor (line 1)",
		files["/d/self"]:       "/d/self:2: include 'self': exceeds the limit of 1000 nested includes: does a template include itself?",
	} {
		_, err := Jinja("/d/self", text, nil, read, nil)
		require.EqualError(t, err, want)
	}
}

// What the library computes or prints differently from Jinja. The wanted texts are those of jinja2 3.1, but for the
// last ones.
func TestJinjaIsPython(t *testing.T) {
	vars := map[string]any{
		"l": []any{int64(3), int64(1), int64(2)}, "d": map[string]any{"b": int64(1), "a": int64(2)}, "s": "héé", "n": int64(5), "x": "v", "f": 1.5, "nothing": nil,
	}
	for _, tt := range []struct{ text, want, fail string }{
		{text: "{{ l|reverse|list }} {{ s|reverse }} {{ ['a', 'b']|reverse|join(',') }}", want: "[2, 1, 3] ééh b,a"},
		{text: "{% for i in l|reverse %}{{ i }}{% endfor %}", want: "213"},
		{text: "{% for k, v in d|dictsort %}{{ k }}{{ v }},{% endfor %}{{ d|dictsort(by='value') }}", want: "a2,b1,[('b', 1), ('a', 2)]"},
		{text: "{% for k, v in {'b': 1, 'a': 2}|dictsort %}{{ k }}{{ v }},{% endfor %}", want: "a2,b1,"},
		{text: "{{ {'b': 1, 'a': 2}|dictsort|join(' ') }} {{ {2: 'x', 1: 'y'}|dictsort }}", want: "('a', 2) ('b', 1) [(1, 'y'), (2, 'x')]"},
		{text: "{% for k, v in {'b': 1, 'a': 2}|items %}{{ k }}{{ v }},{% endfor %}{{ {'b': 1}|items|list }}", want: "b1,a2,[('b', 1)]"},
		{text: "{{ n ** 2 }} {{ n ** 2 + 1 }} {{ 2 ** 0.5 }} {{ 2 ** -1 }} {{ 2 ** 62 }} {{ 0 ** 0 }} {{ (-1) ** 3 }} {{ 1 ** 1000000000 }} {{ (-1) ** 1000000000 }} {{ 2.0 ** 2 }}",
			want: "25 26 1.4142135623730951 0.5 4611686018427387904 1 -1 1 1 4.0"},
		{text: "{{ 7 % 3 }} {{ -7 % 3 }} {{ 5 % -3 }} {{ 7.5 % 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7.0 // 2 }} {{ 7 / 2 }} {{ 10 / 2 }}", want: "1 2 -1 1.5 3 -4 3.0 3.5 5.0"},
		{text: "{{ [none] }} {{ [1, [none, 'a'], {'k': none, \"it's\": \"a'b\"}] }} {{ [nothing] }}", want: "[None] [1, [None, 'a'], {'k': None, \"it's\": \"a'b\"}] [None]"},
		{text: "{{ [1, none]|string }} {{ [none] ~ 'x' ~ 1 }} {{ [true, 1.0, 'é', 'q\"\\''] }} {{ [] }} {{ {} }}", want: `[1, None] [None]x1 [True, 1.0, 'é', 'q"\''] [] {}`},
		{text: "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a, b = b, a %}{{ a }}{{ b }}{% set a, b, c = l %}{{ c }}{{ a }}{% set p, q = 'éb' %}{{ p }}", want: "122123é"},
		{text: "{{ '%s' % x }} {{ '%s-%s' % (x, 1) }} {{ '%05d' % n }} {{ '%.2f%%' % f }} {{ '%r' % x }} {{ '%s' % l }} {{ '%s' % none }}", want: "v v-1 00005 1.50% 'v' [3, 1, 2] None"},
		{text: "{{ '%-5s|' % 'a' }} {{ '%(a)d-%(b)s' % d }} {{ '%x' % 255 }} {{ '%g' % 0.1 }} {{ '%5.1f' % 2 }} {{ '%+d' % 3 }} {{ '%s' % 1.0 }}", want: "a    | 2-1 ff 0.1   2.0 +3 1.0"},
		{text: "{{ '%s %d'|format(x, 3) }} {{ '%s'|format(l) }} {{ '%s'|format(true) }} {{ '%(k)s'|format(k=3) }}", want: "v 3 [3, 1, 2] True 3"},
		{text: "{{ {'b': 1, 'a': [1, 2, {'c': none}]}|tojson }} {{ \"a, b: <'>\"|tojson }}", want: `{"a": [1, 2, {"c": null}], "b": 1} "a, b: \u003c\u0027\u003e"`},
		{text: "{{ d|tojson(indent=2) }}", want: "{\n  \"a\": 2,\n  \"b\": 1\n}"},
		{text: "{% for c in s %}[{{ c }}]{% endfor %} {{ s[1] }} {{ s[1:] }} {{ x[0] }}", want: "[h][é][é] é éé v"},
		{text: "{{ [nope, x]|select('defined')|first }} {{ nope|default(1 // 2) }} {{ d['zz'] is defined }} {{ d['zz']|default('q') }}", want: "v 0 False q"},

		{text: "{{ none }}|{{ nothing }}|{{ d }}|{{ (1, 'a') }}|{{ {'é': 'é'}|tojson }}", want: `||{'a': 2, 'b': 1}|[1, 'a']|{"é": "é"}`},
		{text: "{{ 2 ** 100 }}", want: "1.2676506002282294e+30"},

		{text: "a\n{{ 1 / 0 }}", fail: "/site/t.conf:2: division by zero"},
		{text: "{{ 1 // 0 }}", fail: "/site/t.conf:1: division by zero"},
		{text: "{{ 1 % 0 }}", fail: "/site/t.conf:1: division by zero"},
		{text: "{{ [1, nope] }}", fail: `/site/t.conf:1: unknown name "nope"`},
		{text: "{{ [1, nope]|join }}", fail: `unknown name "nope"`},
		{text: "{{ nope ** 2 }}", fail: `/site/t.conf:1: unknown name "nope"`},
		{text: "{{ 'a' ~ nope }}", fail: `/site/t.conf:1: unknown name "nope"`},
		{text: "{{ '%s %s' % x }}", fail: `/site/t.conf:1: format: not enough values for "%s %s"`},
		{text: "{{ 'a' % x }}", fail: `/site/t.conf:1: format: too many values for "a"`},
		{text: "{{ '%(zz)s' % d }}", fail: `/site/t.conf:1: format: no value "zz"`},
		{text: "{{ '%99999s' % x }}", fail: "/site/t.conf:1: format: expected widths of at most 10000"},
		{text: "{{ '" + strings.Repeat("%(k)9999s", 7000) + "'|format(k=1) }}", fail: "exceeds the limit"},
		{text: "{% set a, b = l %}", fail: "expected 2 values, got 3"},
		{text: "{% set a, 1 = l %}", fail: "/site/t.conf:1:"},
	} {
		got, err := Jinja("/site/t.conf", tt.text, vars, nil, nil)
		if tt.fail != "" {
			require.ErrorContains(t, err, tt.fail)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, got, tt.text)
	}
}

// Every time that a body is executed counts.
func TestJinjaSteps(t *testing.T) {
	r := &rendering{file: "/site/t.conf", text: "{% for i in range(1000) %}{% endfor %}", steps: maxSteps - 1000}
	_, err := r.render(nil)
	require.ErrorContains(t, err, "template exceeds the limit of 1000000 steps")
	r.reads, r.steps = 0, maxSteps-2000
	_, err = r.render(nil)
	require.NoError(t, err)
}
