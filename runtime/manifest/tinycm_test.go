package manifest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

const tinyHeader = `
global:
  foo: bar
  port: 8080
  nameservers:
    - 8.8.8.8
    - 8.8.4.4
  dns:
    domain: example.com
host:
  - filter: .*\.office\.example\.com
    constants:
      nameservers: [10.0.0.1, 10.0.0.2]
  - filter: office
    constants: {foo: not this}
---
`

func TestTinyCM(t *testing.T) {
	w := newWorld(t, map[string]string{
		"template.conf": "The value of the foo constant is {{foo}}\n\n{% for ns in nameservers %}\nnameserver {{ns}}\n{% endfor %}\n\nsearch {{dns.domain}}\n",
	})
	w.Loader.Fetch = func(_ context.Context, url string) ([]byte, error) {
		if url != "https://example.com/latin1.txt" {
			return nil, errors.New("status 404")
		}
		return []byte("gr\xfc\xdfe {{ foo }}"), nil
	}
	_, err := w.load(t, "site.cm.yml", tinyHeader+`
file:
  name: /tmp/example
  ensure: contents
  type: constant
  interpolate: true
  contents: |
    The value of the foo constant is {foo}

    nameserver {nameservers[0]}
    nameserver {nameservers[1]}
    search {dns['domain']} {dns[domain]} {dns.domain} {port} {{literal}}
  owner: root
---
file:
  name: /etc/as-written
  contents: "{foo}"
  owner: 0
  group: 1000
  permission-mask: 640
  after: /tmp/example
---
file:
  name: /etc/once
  ensure: exists
  contents: first text
  owner: root
  group: root
  permission-mask: 64x
  after: ["file::/tmp/example", file::/etc/as-written]
---
file: {name: /etc/empty, ensure: exists, owner: root}
---
file: {name: /etc/gone, ensure: removed}
---
file: {name: /etc/template, type: template, contents: template.conf}
---
file: {name: /etc/raw, type: template, contents: template.conf, interpolate: false}
---
file: {name: /etc/remote, type: http, contents: "https://example.com/x.txt"}
---
file: {name: /etc/latin1, type: http, contents: "https://example.com/latin1.txt", encoding: latin-1, interpolate: true}
---
name: /etc/bare
contents: x
---
`)
	require.NoError(t, err)
	f := spec[File](t, w, "file#/tmp/example")
	require.Equal(t, "The value of the foo constant is bar\n\nnameserver 10.0.0.1\nnameserver 10.0.0.2\nsearch example.com example.com example.com 8080 {literal}\n", *f.Content)
	require.Equal(t, []string{"root", "-1", "xxx"}, []string{f.Owner, f.Group, string(*f.Mode)}, "what is not given is left alone")
	f = spec[File](t, w, "file#/etc/as-written")
	require.Equal(t, []string{"{foo}", "0", "1000", "640"}, []string{*f.Content, f.Owner, f.Group, string(*f.Mode)})
	require.False(t, f.ContentOnce)
	f = spec[File](t, w, "file#/etc/once")
	require.True(t, f.ContentOnce)
	require.Equal(t, []string{"first text", "64x"}, []string{*f.Content, string(*f.Mode)})
	f = spec[File](t, w, "file#/etc/empty")
	require.Nil(t, f.Content)
	require.False(t, f.ContentOnce)
	require.Equal(t, Ensure("absent"), spec[File](t, w, "file#/etc/gone").Ensure)
	require.Equal(t, "The value of the foo constant is bar\n\n\nnameserver 10.0.0.1\n\nnameserver 10.0.0.2\n\n\nsearch example.com", *spec[File](t, w, "file#/etc/template").Content)
	require.Equal(t, "/site/template.conf", spec[File](t, w, "file#/etc/raw").Source)
	require.Equal(t, "https://example.com/x.txt", spec[File](t, w, "file#/etc/remote").Source)
	require.Equal(t, "grüße bar", *spec[File](t, w, "file#/etc/latin1").Content)
	require.Equal(t, "x", *spec[File](t, w, "file#/etc/bare").Content)

	c, err := w.Builder.Build()
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, []int{c.Deps[2][0].Index, c.Deps[2][1].Index})
}

// TestTinyCMMasks has the examples of its documentation.
func TestTinyCMMasks(t *testing.T) {
	for _, tt := range []struct{ text, two, want, fail string }{
		{"x00", "", "x00", ""},
		{"7xx", "xx0", "7x0", ""},
		{"644", "644", "644", ""},
		{"77x", "x55", "", "m.cm.yml:3:65: file#/a: permission-mask: 77x and x55 differ in the digit of the group\n  m.cm.yml:1:65: first one"},
	} {
		w := newWorld(t, nil)
		text := "file: {name: /a, contents: x, owner: root,      permission-mask: " + tt.text + "}\n"
		if tt.two != "" {
			text += "---\nfile: {name: /a,                            permission-mask: " + tt.two + "}\n"
		}
		_, err := w.load(t, "m.cm.yml", text)
		if tt.fail != "" {
			require.ErrorContains(t, err, "permission-mask: 77x and x55 differ in the digit of the group\n  m.cm.yml:1:")
			require.ErrorContains(t, err, "m.cm.yml:3:")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.want, string(*spec[File](t, w, "file#/a").Mode))
		require.Len(t, w.Resources(), 1)
	}
}

func TestTinyCMMistakes(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"globl: {}\n", `m.cm.yml:1:1: unknown key "globl" (did you mean "global"?)`},
		{"plugins: [vim]\n", `m.cm.yml:1:1: plugins of TinyCM are not supported`},
		{"global: [a]\n", `m.cm.yml:1:9: global: expected a table of constants, got a list`},
		{"host: x\n", `m.cm.yml:1:7: host: expected a list, got "x"`},
		{"host: [{constants: {}}]\n", `m.cm.yml:1:8: host: filter is required`},
		{"host: [{filter: \"(\", constants: {}}]\n", "m.cm.yml:1:17: host: filter: error parsing regexp: missing closing ): `^(?:()`"},
		{"host: [{filtr: x, filter: y}]\n", `m.cm.yml:1:9: host: unknown key "filtr" (did you mean "filter"?)`},
		{"global: {}\n---\n- a\n", `m.cm.yml:3:1: expected a definition, got a list`},
		{"global: {}\n---\nuser: {name: bob}\n", `m.cm.yml:3:1: expected a definition of a file, got "user"`},
		{"global: {}\n---\nfile:\nname: /a\ncontents: x\n", `m.cm.yml:3:1: file: unknown property "file"`},
		{"file: x\n", `m.cm.yml:1:7: file: expected a table of properties, got "x"`},
		{"file: {contents: x}\n", `m.cm.yml:1:7: file: name is required`},
		{"file: {name: /a, contnts: x}\n", `m.cm.yml:1:18: file: unknown property "contnts" (did you mean "contents"?)`},
		{"file: {name: /a, ensure: absent}\n", `m.cm.yml:1:26: file#/a: ensure: expected one of contents, exists, removed, got "absent"`},
		{"file: {name: /a, type: file, contents: x}\n", `m.cm.yml:1:24: file#/a: type: expected one of constant, http, template, got "file"`},
		{"file: {name: /a}\n", `m.cm.yml:1:14: file#/a: contents is required unless ensure is exists or removed`},
		{"file: {name: /a, contents: x, interpolate: on}\n", `m.cm.yml:1:44: file#/a: interpolate: expected true or false, got "on"`},
		{"file: {name: /a, contents: x, permission-mask: 0644}\n", `m.cm.yml:1:48: file#/a: permission-mask: expected three digits from 0 to 7 or x such as "64x", got the number 0644`},
		{"file: {name: /a, contents: x, permission-mask: 68x}\n", `m.cm.yml:1:48: file#/a: permission-mask: expected three digits from 0 to 7 or x such as "64x", got "68x"`},
		{"file: {name: /a, type: http, contents: x.conf}\n", `m.cm.yml:1:40: file#/a: contents: expected an http or https URL, got "x.conf"`},
		{"file: {name: /a, type: template, contents: \"http://x/y\"}\n", `m.cm.yml:1:44: file#/a: contents: expected a path, got "http://x/y" (type: http requires a URL)`},
		{"file: {name: /a, type: template, contents: nope.conf}\n", `m.cm.yml:1:44: file#/a: contents: no file /site/nope.conf`},
		{"file: {name: /a, type: http, contents: \"http://x/y\", encoding: klingon}\n", `m.cm.yml:1:64: file#/a: encoding: unknown encoding "klingon" (such as utf-8, latin1 or windows-1252)`},
		{"file: {name: /a, type: http, contents: \"http://x/y\", interpolate: true}\n", `m.cm.yml:1:40: file#/a: contents: downloads are not available here`},
		{"global: {foo: bar}\n---\nfile:\n  name: /a\n  interpolate: true\n  contents: |\n    one\n    two {fo} three\n", `m.cm.yml:8:9: file#/a: contents: no constant "fo" (did you mean "foo"?)`},
		{"global: {l: [a]}\n---\nfile: {name: /a, interpolate: true, contents: \"x {l[3]}\"}\n", `m.cm.yml:3:50: file#/a: contents: no value at "3" in {l[3]}`},
		{"global: {l: [a]}\n---\nfile: {name: /a, interpolate: true, contents: \"x {l}\"}\n", `m.cm.yml:3:50: file#/a: contents: expected a string or number constant in {l}, got list`},
		{"file: {name: /a, interpolate: true, contents: \"x } y\"}\n", `m.cm.yml:1:50: file#/a: contents: unexpected } (for a literal brace use }})`},
		{"file: {name: /a, interpolate: true, contents: \"x {y\"}\n", `m.cm.yml:1:50: file#/a: contents: missing } after { (for a literal brace use {{)`},
		{"file: {name: /a, interpolate: true, contents: \"{}\"}\n", `m.cm.yml:1:48: file#/a: contents: expected the name of a constant in { }, got ""`},
		{"file: {name: /a, type: template, contents: bad.conf}\n", "/site/bad.conf:2: file#/a: contents: unknown name \"nope\"\n  m.cm.yml:1:44: read from here"},
		{"file: {name: /a, contents: x}\n---\nfile: {name: /a, contents: y}\n", "m.cm.yml:3:28: file#/a: contents: expected \"x\" as before, got \"y\"\n  m.cm.yml:1:28: first one"},
		{"file: {name: /a, contents: x, after: file::/b}\n", `m.cm.yml:1:38: file#/a: require: no resource file#/b (did you mean file#/a?)`},
		{"file: {name: a, contents: x, owner: root}\n", `m.cm.yml:1:14: file#a: name: expected an absolute path, got "a"`},
	} {
		w := newWorld(t, map[string]string{"bad.conf": "a\n{{ nope }}\n"})
		_, err := w.load(t, "m.cm.yml", tt.yaml)
		require.EqualError(t, err, tt.want, tt.yaml)
	}
}

func TestDialect(t *testing.T) {
	w := newWorld(t, nil)
	w.Dialect = "tinycm"
	_, err := w.load(t, "site.yaml", "file: {name: /a, contents: x, owner: root}\n")
	require.NoError(t, err)
	w = newWorld(t, nil)
	w.Dialect = "ccm"
	_, err = w.load(t, "site.cm.yml", "ccm: {resources: []}\n")
	require.NoError(t, err)
}
