package data_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/template"
)

func resolve(t *testing.T, text string, tree map[string]any) (map[string]any, error) {
	t.Helper()
	doc, err := data.Parse("d.yaml", text)
	require.NoError(t, err)
	r, err := data.Resolve(doc, template.New(template.Options{Facts: facts.Static(tree)}).ForData(), nil, nil)
	if err == nil {
		err = r.Check()
	}
	return r.Data, err
}

const document = `
hierarchy:
    order:
     - env:${ lookup('facts.env', '') }
     - role:{{ lookup('facts.role', '') }}
     - host:${ Facts.hostname ?? '' }
    merge: %MERGE%
data:
   log_level: INFO
   packages:
     - ca-certificates
   web:
     listen_port: 80
     tls: false
overrides:
    env:prod:
      log_level: WARN
    role:web:
      packages:
        - nginx
      web:
        listen_port: 443
        tls: true
    host:web01:
      log_level: TRACE
`

func TestMerge(t *testing.T) {
	base := map[string]any{"listen_port": int64(80), "tls": false}
	for _, tt := range []struct {
		name, merge string
		facts       map[string]any
		want        map[string]any
	}{
		{"no facts, no overrides", "deep", nil, map[string]any{"log_level": "INFO", "packages": []any{"ca-certificates"}, "web": base}},
		{"later ones win", "deep", map[string]any{"env": "prod", "role": "web", "hostname": "web01"}, map[string]any{
			"log_level": "TRACE", "packages": []any{"ca-certificates", "nginx"}, "web": map[string]any{"listen_port": int64(443), "tls": true},
		}},
		{"what is missing names nothing", "deep", map[string]any{"role": "web"}, map[string]any{
			"log_level": "INFO", "packages": []any{"ca-certificates", "nginx"}, "web": map[string]any{"listen_port": int64(443), "tls": true},
		}},
		{"first stops at the first", "first", map[string]any{"env": "prod", "role": "web"}, map[string]any{
			"log_level": "WARN", "packages": []any{"ca-certificates"}, "web": base,
		}},
		{"first skips what does not exist", "first", map[string]any{"env": "test", "role": "web"}, map[string]any{
			"log_level": "INFO", "packages": []any{"nginx"}, "web": map[string]any{"listen_port": int64(443), "tls": true},
		}},
	} {
		got, err := resolve(t, strings.ReplaceAll(document, "%MERGE%", tt.merge), tt.facts)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, got, tt.name)
	}
}

func TestKnockout(t *testing.T) {
	const head = "hierarchy: {merge: deep, knockout_prefix: '--', order: [one, two]}\n"
	for _, tt := range []struct{ name, data, one, two, want string }{
		{"an item", "{a: [x, y]}", "{a: ['--x', z]}", "{}", "{a: [y, z]}"},
		{"an item of an override", "{a: [x]}", "{a: [y]}", "{a: ['--y']}", "{a: [x]}"},
		{"a number and a boolean", "{a: [80, 443, true]}", "{a: ['--80', '--true']}", "{}", "{a: [443]}"},
		{"all items", "{a: [x, y]}", "{a: ['--', z]}", "{}", "{a: [z]}"},
		{"an item put back", "{a: [x]}", "{a: ['--x']}", "{a: [x]}", "{a: [x]}"},
		{"an item moved to the end", "{a: [x, y]}", "{a: ['--x', x]}", "{}", "{a: [y, x]}"},
		{"an item that does not exist", "{a: [x]}", "{a: ['--y']}", "{b: ['--y']}", "{a: [x], b: []}"},
		{"a key", "{db: {host: h, pool: 5}}", "{db: {--pool: }}", "{}", "{db: {host: h}}"},
		{"a key at the top", "{db: {host: h}, a: 1}", "{--db: }", "{}", "{a: 1}"},
		{"a table instead of the inherited one", "{db: {host: h, pool: 5}}", "{--db: , db: {pool: 1}}", "{}", "{db: {pool: 1}}"},
		{"a list instead of the inherited one", "{a: [x]}", "{--a: , a: [y]}", "{}", "{a: [y]}"},
		{"in data, where nothing is inherited", "{a: [x, '--x'], --b: 1, t: {--c: 1}, l: [{--d: 1, e: 2}]}", "{}", "{}", "{a: [x], t: {}, l: [{e: 2}]}"},
		{"a table that only an override has", "{}", "{t: {--c: , d: ['--x']}}", "{}", "{t: {d: []}}"},
		{"elsewhere in a text", "{a: [x, 'y--x']}", "{a: ['y--y']}", "{}", "{a: [x, 'y--x', 'y--y']}"},
	} {
		got, err := resolve(t, head+"data: "+tt.data+"\noverrides: {one: "+tt.one+", two: "+tt.two+"}\n", nil)
		require.NoError(t, err, tt.name)
		want, err := resolve(t, "data: "+tt.want+"\n", nil)
		require.NoError(t, err, tt.name)
		require.Equal(t, want, got, tt.name)
	}
	// Without the prefix nothing is removed.
	got, err := resolve(t, "hierarchy: {merge: deep, order: [one]}\ndata: {a: [x]}\noverrides: {one: {a: ['--x']}}\n", nil)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": []any{"x", "--x"}}, got)
	for text, want := range map[string]string{
		"hierarchy: {knockout_prefix: '--'}\n":             "hierarchy.knockout_prefix requires merge: deep",
		"hierarchy: {merge: deep, knockout_prefix: ''}\n":  `hierarchy.knockout_prefix: expected a text such as "--"`,
		"hierarchy: {merge: deep, knockout_prefix: [a]}\n": `hierarchy.knockout_prefix: expected a text such as "--", got a list`,
		"hierarchy: {merge: deep, knockout_prefx: '--'}\n": `hierarchy: unknown key "knockout_prefx"`,
	} {
		_, err := resolve(t, text, nil)
		require.ErrorContains(t, err, want)
	}
}

func TestDefaultHierarchy(t *testing.T) {
	got, err := resolve(t, "data: {a: 1, b: 2}\noverrides: {default: {b: 3}, other: {a: 9}}\n", nil)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": int64(1), "b": int64(3)}, got)
	got, err = resolve(t, "data:\n", nil)
	require.NoError(t, err)
	require.Equal(t, map[string]any{}, got)
	got, err = resolve(t, `{"hierarchy": {"order": ["fqdn:${ lookup('facts.fqdn') }"]}, "data": {"test": "value"}, "overrides": {"fqdn:my.fqdn.com": {"test": "override"}}}`, map[string]any{"fqdn": "my.fqdn.com"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"test": "override"}, got)
}

func TestDataSeesFacts(t *testing.T) {
	got, err := resolve(t, "data:\n  family: ${ Facts.os.family }\n  cpus: ${ lookup('facts.cpus') }\n  conf: \"/etc/${ lookup('facts.os.family') }.conf\"\n  list: ['${ Facts.os.family }']\n",
		map[string]any{"os": map[string]any{"family": "${ never }"}, "cpus": int64(4)})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"family": "${ never }", "cpus": int64(4), "conf": "/etc/${ never }.conf", "list": []any{"${ never }"}}, got)
}

func TestMistakesInDocuments(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"dta: {}\n", `d.yaml:1:1: unknown key "dta" (did you mean "data"?)`},
		{"packages: [a]\n", `d.yaml:1:1: unknown key "packages" (put your data under data; allowed beside it: hierarchy, overrides)`},
		{"- a\n", `d.yaml:1:1: expected a table with data, hierarchy and overrides, got a list`},
		{"data: 5\n", `d.yaml:1:7: data: expected a table, got the number 5`},
		{"overrides: []\n", `d.yaml:1:12: overrides: expected a table, got a list`},
		{"overrides:\n  default: x\n", `d.yaml:2:12: default: expected a table, got "x"`},
		{"hierarchy: deep\n", `d.yaml:1:12: hierarchy: expected a table with order and merge, got "deep"`},
		{"hierarchy:\n  odrer: []\n", `d.yaml:2:3: hierarchy: unknown key "odrer" (did you mean "order"?)`},
		{"hierarchy:\n  merge: depp\n", `d.yaml:2:10: hierarchy.merge: expected one of first, deep, got "depp" (did you mean "deep"?)`},
		{"hierarchy:\n  order: x\n", `d.yaml:2:10: hierarchy.order: expected a list, got "x"`},
		{"hierarchy:\n  order:\n    - [x]\n", `d.yaml:3:7: hierarchy.order: expected a list of texts, got a list in it`},
		{"hierarchy:\n  order:\n    - \"x:${ lokup('y') }\"\n", `d.yaml:3:13: hierarchy.order: unknown name "lokup" (did you mean "lookup"?)`},
		{"hierarchy:\n  order:\n    - \"role:{{ lookup('facts.rolle') }}\"\n", `d.yaml:3:16: hierarchy.order: no fact "rolle" (add a default with lookup(path, default) or ??)`},
		{"hierarchy:\n  order: [\"${ Facts.rolle }\"]\n", `d.yaml:2:15: hierarchy.order: no fact "rolle" (add a default with lookup(path, default) or ??)`},
		{"data:\n  a:\n    - |\n      x ${ Facts.nope }\n", `d.yaml:4:12: no fact "nope" (add a default with lookup(path, default) or ??)`},
		{"data:\n  a: ${ file('x') }\n", `d.yaml:2:9: unknown name "file" (files cannot be read in data)`},
		{"data:\n  # @requird\n  a: 1\n", `d.yaml:2:5: unknown annotation @requird (did you mean @require?)`},
		{"data:\n  a: 1 # @validate\n", `d.yaml:2:10: expected an expression after @validate (such as @validate isIPv4(value))`},
		{"data:\n  # @validate isIPv5(value)\n  a: 1\n", `d.yaml:2:15: @validate: unknown name isIPv5`},
		{"data:\n  # @validate value > 0\n  a: 1\n", `d.yaml:2:15: @validate: invalid operation: > (mismatched types string and int) (value is a string: convert it with int(value))`},
		{"data:\n  # @validate value\n  a: 1\n", `d.yaml:2:15: @validate: expected bool, but got string`},
	} {
		_, err := resolve(t, tt.yaml, nil)
		require.EqualError(t, err, tt.want, tt.yaml)
	}
}

func TestRules(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"data:\n  # The user.\n  # @require\n  user: bob\n", ""},
		{"data:\n  # @require\n  user: ''\n", `d.yaml:2:5: data.user is required`},
		{"data:\n  # @required\n  user:\n", `d.yaml:2:5: data.user is required`},
		{"data:\n  # @require\n  # @validate isInt(value)\n  user:\n", `d.yaml:2:5: data.user is required`},
		{"data:\n  on: false # @require\n  n: 0 # @require\n", ""},
		{"data:\n  # @require\n  user: ''\noverrides:\n  default: {user: al}\n", ""},
		{"data:\n  web:\n    # @validate isInt(value)\n    port: eighty\n", `d.yaml:3:7: data.web.port: expected isInt(value), got "eighty"`},
		{"data:\n  # @validate isIPv4(value)\n\n  ip: 1.2.3\n", `d.yaml:2:5: data.ip: expected isIPv4(value), got "1.2.3"`},
		{"data:\n  a: 1\n  # @validate isIPv4(value)\n\n  ip: 1.2.3\n", `d.yaml:3:5: data.ip: expected isIPv4(value), got "1.2.3"`},
		{"data:\n  # @validate isIPv4(value) || isIPv6(value)\n  ip: \"::1\"\n", ""},
		{"data:\n  # @validate isRegex(value, '^[a-z]+$')\n  x: Abc\n", `d.yaml:2:5: data.x: expected isRegex(value, '^[a-z]+$'), got "Abc"`},
		{"data:\n  # @validate is_shellsafe(value)\n  x: a;b\n", `d.yaml:2:5: data.x: expected is_shellsafe(value), got "a;b"`},
		{"data:\n  # @validate isHostname(value)\n  x: -a\n", `d.yaml:2:5: data.x: expected isHostname(value), got "-a"`},
		{"data:\n  # @validate isFQDN(value)\n  x: web\n  # @validate isFQDN(value)\n  y: web.example.com\n", `d.yaml:2:5: data.x: expected isFQDN(value), got "web"`},
		{"data:\n  # @validate isDuration(value)\n  x: 1d12h\n  # @validate isDuration(value)\n  y: soon\n", `d.yaml:4:5: data.y: expected isDuration(value), got "soon"`},
		{"data:\n  # @validate isFloat(value)\n  x: 1.10\n  # @validate int(value) > 1024\n  p: 80\n", `d.yaml:4:5: data.p: expected int(value) > 1024, got "80"`},
		{"data:\n  # @validate isInt(value)\n  t: {a: b}\n  # @validate isInt(value)\n  l: [x]\n", ""},
		{"data:\n  # mail @admin, see @todo\n  # @todo later\n  t: x\n", ""},
		{"data:\n  script: |\n    # @require\n  # @require\n  x: ''\n", `d.yaml:4:5: data.x is required`},
	} {
		_, err := resolve(t, tt.yaml, nil)
		if tt.want == "" {
			require.NoError(t, err, tt.yaml)
			continue
		}
		require.EqualError(t, err, tt.want, tt.yaml)
	}
}
