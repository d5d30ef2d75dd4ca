package std_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// An absolute path is below the root of the machine, a relative one beside the script.
func TestFs(t *testing.T) {
	l := newLab(t)
	require.NoError(t, os.Symlink("/etc/motd", l.root+"/etc/link"))
	require.NoError(t, os.Symlink("loop", l.root+"/etc/loop"))
	require.NoError(t, os.Symlink("../etc", l.root+"/etc/dir"))
	require.NoError(t, os.Symlink("gone", l.root+"/etc/dangling"))
	require.NoError(t, syscall.Mkfifo(l.root+"/etc/pipe", 0o600))
	owner, _ := hosttest.Me()
	evaluations(t, l, map[string]string{
		`fs.read("/etc/motd")`:                                        `"Welcome\n"`,
		`fs.read("/etc/link")`:                                        `"Welcome\n"`,
		`fs.read("/etc/../etc//motd")`:                                `"Welcome\n"`,
		`fs.read("/nothing", "default")`:                              `"default"`,
		`fs.read("/etc/motd/x", "default")`:                           `"default"`,
		`fs.read("motd.tmpl")`:                                        `"This is {{ .name }}.\n"`,
		`fs.read(ccm.dir .. "/motd.tmpl", "no")`:                      `"no"`, // the site is not below the root
		`fs.exists("/nothing")`:                                       `false`,
		`fs.exists("/etc/dangling")`:                                  `false`,
		`fs.exists("site.yaml")`:                                      `true`,
		`fs.is_file("/etc/link")`:                                     `true`,
		`fs.is_file("/etc/pipe")`:                                     `false`,
		`fs.is_directory("/etc/dir")`:                                 `true`,
		`fs.is_directory("/etc/motd")`:                                `false`,
		`fs.stat("/nothing")`:                                         `nil`,
		`fs.stat("/etc/link").target`:                                 `"/etc/motd"`,
		`fs.stat("/etc/link").kind`:                                   `"link"`,
		`fs.stat("/etc/motd").size`:                                   `8`,
		`fs.stat("/etc/pipe").kind`:                                   `"special"`,
		`tostring(fs.stat("/etc").uid)`:                               `"` + owner + `"`,
		`fs.glob("*.tmpl")`:                                           `{ "motd.tmpl" }`,
		`fs.glob("/etc/conf.d/[b-z]*")`:                               `{ "/etc/conf.d/b.conf" }`,
		`fs.glob("/nothing/*")`:                                       `{}`,
		`#hash.file("/etc/motd", "sha512")`:                           `128`,
		`hash.file("/etc/motd") == hash.sha256(fs.read("/etc/motd"))`: `true`,
	})
	mistakes(t, l, map[string]string{
		`fs.read("/nothing")`:        `fs.read: no file /nothing`,
		`fs.read("nothing")`:         `fs.read: no file SITE/nothing`,
		`fs.read("/etc")`:            `fs.read: /etc: expected a file, found a directory`,
		`fs.read("/etc/pipe")`:       `fs.read: /etc/pipe: expected a file, found a device, socket or pipe`,
		`fs.read("/etc", "default")`: `fs.read: /etc: expected a file, found a directory`,
		`fs.read("")`:                `fs.read: expected a path as argument 1, got an empty string`,
		`fs.read("a\0b")`:            `fs.read: expected a path as argument 1, got a path with a NUL byte`,
		`fs.list("/etc/motd")`:       `fs.list: /etc/motd: not a directory`,
		`fs.list("/nothing")`:        `fs.list: /nothing: no such file or directory`,
		`fs.glob("[")`:               `fs.glob: expected a pattern such as "*.conf", got "["`,
		`fs.is_file("/etc/loop")`:    `fs.is_file: /etc/loop: too many levels of symbolic links`,
		`hash.file("/nothing")`:      `hash.file: no file /nothing`,
	})
	require.NoError(t, os.Truncate(l.root+"/etc/motd", 65<<20))
	require.Equal(t, `fs.read: /etc/motd: expected a file of at most 64.0 MiB, found one of 65.0 MiB`, l.mistake(t, `fs.read("/etc/motd")`))
}

// The inputs of a script are recorded.
func TestInputs(t *testing.T) {
	l := newLab(t)
	sum := func(s string) string { return sha256sum.Bytes([]byte(s)) }
	stat, err := l.View.Lstat("/etc/motd")
	require.NoError(t, err)
	_, err = l.run(t, `
		fs.read("/etc/motd") fs.read("/none", "") fs.exists("/etc") fs.list("/etc/conf.d") fs.glob("/etc/conf.d/*")
		fs.stat("/etc/motd") capture { "printf", "x" } http.get("http://ann:secret@example.test/a?token=1")
		data.load("site.yaml") template.render("motd.tmpl", { name = "x" }) hash.file("/etc/motd")`)
	require.NoError(t, err)
	for i := range l.inputs {
		l.inputs[i].Name = strings.Replace(l.inputs[i].Name, l.site, "SITE", 1)
	}
	yaml, err := os.ReadFile(l.site + "/site.yaml")
	require.NoError(t, err)
	require.Len(t, l.inputs, 11)
	require.Contains(t, l.inputs[5].Value, "file 0644 ")
	l.inputs[5].Value = ""
	require.Equal(t, int64(8), stat.Size)
	require.Equal(t, []std.Input{
		{Kind: "file", Name: "/etc/motd", Value: sum("Welcome\n")},
		{Kind: "file", Name: "/none", Value: "missing"},
		{Kind: "stat", Name: "/etc", Value: "found"},
		{Kind: "list", Name: "/etc/conf.d", Value: sum("a.conf\nb.conf")},
		{Kind: "glob", Name: "/etc/conf.d/*", Value: sum("/etc/conf.d/a.conf\n/etc/conf.d/b.conf")},
		{Kind: "stat", Name: "/etc/motd"},
		{Kind: "command", Name: "printf x", Value: "0 " + sum("x")},
		{Kind: "http", Name: "http://xxxxx@example.test/a?xxxxx", Value: sum("Welcome\n")},
		{Kind: "data", Name: "SITE/site.yaml", Value: sum(string(yaml))},
		{Kind: "file", Name: "SITE/motd.tmpl", Value: sum("This is {{ .name }}.\n")},
		{Kind: "file", Name: "/etc/motd", Value: sum("Welcome\n")},
	}, l.inputs)
}

func TestCapture(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		`capture "printf 'a b'"`: `"a b", 0, ""`,
		`capture { "sh", "-c", "printf 'a\n\n'; echo err >&2; exit 3", check = false }`: `"a", 3, "err"`,
		`capture { "cat", stdin = "in" }`:                                               `"in", 0, ""`,
		`(capture { "sh", "-c", "echo $A$LC_ALL", env = { A = "x" } })`:                 `"xC.UTF-8"`,
		`(capture { "pwd", cwd = "/etc" })`:                                             `"` + mustEval(t, l.root) + `/etc"`,
		`(capture { "printf", "%s", 5 })`:                                               `"5"`,
		`(capture { "true" })`:                                                          `""`,
	})
	mistakes(t, l, map[string]string{
		`capture {}`: `capture: expected a command, got nothing`,
		`capture ""`: `capture: expected a command, got nothing`,
		`capture { "sh", "-c", "echo oops >&2; exit 2" }`: `capture: sh -c 'echo oops >&2; exit 2': exit status 2: oops`,
		`capture { "sleep", "60", timeout = "50ms" }`:     `capture: sleep 60: timed out after 50ms`,
		`capture { "x", timeout = "soon" }`:               `capture: timeout: expected a duration such as "30s" or "5m", got "soon"`,
		`capture { "x", timeout = "0s" }`:                 `capture: timeout: expected more than 0`,
		`capture { "x", cwd = "etc" }`:                    `capture: expected an absolute path as cwd, got "etc"`,
		`capture { "x", {} }`:                             `capture: expected a list of strings, got a table as word 2`,
		`capture { "x", tiemout = "1s" }`:                 `capture: unknown option "tiemout" (did you mean "timeout"?)`,
		`capture { "x", env = { A = {} } }`:               `capture: expected strings in env, got "A" = a table`,
	})
	require.Contains(t, l.mistake(t, `capture { "no-such-command" }`), `capture: command "no-such-command" not found in `)
}

func mustEval(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return real
}

func TestHTTP(t *testing.T) {
	l := newLab(t)
	var asked *http.Request
	l.answer = func(r *http.Request) (*http.Response, error) {
		asked = r
		switch r.URL.Path {
		case "/big":
			return respond(200, strings.Repeat("x", 100))
		case "/gone":
			return respond(404, "")
		case "/down":
			return nil, errors.New("connection refused")
		case "/slow":
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}
		return respond(200, "ok")
	}
	evaluations(t, l, map[string]string{
		`http.get("https://example.test/")`: `"ok"`,
		`http.get("http://example.test/", { headers = { ["X-A"] = "b" }, checksum = hash.sha256("ok") })`: `"ok"`,
		`http.get("http://example.test/big", { limit = 100 }):len()`:                                      `100`,
	})
	l.eval(t, `http.get("http://example.test/", { headers = { Accept = "text/plain" } })`)
	require.Equal(t, "text/plain", asked.Header.Get("Accept"))
	require.Equal(t, "GET", asked.Method)
	mistakes(t, l, map[string]string{
		`http.get("ftp://example.test/")`:                            `http.get: expected an http or https URL, got "ftp://example.test/"`,
		`http.get("motd")`:                                           `http.get: expected an http or https URL, got "motd"`,
		`http.get("ftp://ann:secret@example.test/")`:                 `http.get: expected an http or https URL, got "something else"`,
		`http.get("http://example.test/gone")`:                       `http.get: GET http://example.test/gone: expected status 200, got 404 Not Found`,
		`http.get("http://example.test/down")`:                       `http.get: GET http://example.test/down: connection refused`,
		`http.get("http://example.test/big", { limit = 99 })`:        `http.get: GET http://example.test/big: response of 100 B exceeds the limit of 99 B`,
		`http.get("http://example.test/slow", { timeout = "20ms" })`: `http.get: GET http://example.test/slow: timed out after 20ms`,
		`http.get("http://example.test/", { checksum = "00" })`:      `http.get: GET http://example.test/: checksum mismatch, expected "00" got "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"`,
		`http.get("http://example.test/", { headers = { 1 } })`:      `http.get: expected strings in headers, got 1 = the number 1`,
	})
}

func TestLog(t *testing.T) {
	l := newLab(t)
	_, err := l.run(t, `log.debug("a") log.info("b", { z = 1, a = "x y", list = { 1, 2 } }) log.warn("c") log.error("d")`)
	require.NoError(t, err)
	require.Equal(t, "level=DEBUG msg=a\nlevel=INFO msg=b a=\"x y\" list=\"{ 1, 2 }\" z=1\nlevel=WARN msg=c\nlevel=ERROR msg=d\n", l.log.String())
}

func TestData(t *testing.T) {
	l := newLab(t)
	evaluations(t, l, map[string]string{
		"data.load('site.yaml')\ndata.web.port":                                          `8080`,
		"local d = data.load('site.yaml')\nd.web.tags":                                   `{ "c" }`,
		"data.load('site.yaml')\n#data.web.tags":                                         `1`,
		"data.load('site.yaml')\ndata.empty":                                             `nil`,
		"data.load('site.yaml')\nlookup('data.web.tags.0')":                              `"c"`,
		"data.load('site.yaml')\nlookup('data.web.x', 5)":                                `5`,
		"data.load('site.yaml')\nlookup('data.web.x', nil)":                              `nil`,
		"data.load('site.yaml')\nlookup('data.web.tags.#')":                              `1`,
		"data.load('site.yaml')\nlocal n = '' for k in pairs(data) do n = n .. k end\nn": `"web"`,
		"data.load('site.yaml')\ntbl.keys(data.web)":                                     `{ "port", "tags" }`,
		"data.load('site.yaml')\ndata.web['x' .. '.y'] or 'none'":                        `"none"`,
		"data.load('site.yaml')\ndata.web.proxy or 'none'":                               `"none"`,
		"data.load('site.yaml')\ndata.web.host or 'none'":                                `"none"`,
		"data.load('site.yaml')\ndata.web.ports or 'none'":                               `"none"`,
		`data.web`:                             `nil`,
		`lookup({ "facts", "os", "family" })`:  `"debian"`,
		`lookup({ "data", "a.b", 1 }, "none")`: `"none"`,
		`lookup("facts.os.family")`:            `"debian"`,
		`lookup("env.HOME")`:                   `"/home/ann"`,
		`lookup("facts.os.x", print) == print`: `true`,
	})
	mistakes(t, l, map[string]string{
		"data.load('site.yaml')\ndata.wbe":             `no data "wbe" in data (did you mean "web"?)`,
		"data.load('site.yaml')\ndata.web.prot":        `no data "prot" in data.web (did you mean "port"?)`,
		"data.load('site.yaml')\ndata.web.port = 1\n1": `data.web.port is read-only (copy the table and change the copy)`,
		"data.x = 1\n1":                      `data.x is read-only (copy the table and change the copy)`,
		`lookup("data.web")`:                 `lookup: no data "web"`,
		`lookup({ "facts", "os", "famly" })`: `lookup: no fact "os.famly" (did you mean "family"?)`,
		`lookup({})`:                         `lookup: expected a path, got an empty list`,
		`lookup({ "data", {} })`:             `lookup: expected strings in the list of argument 1, got table at 2`,
		`lookup("facts.os.famly")`:           `lookup: no fact "os.famly" (did you mean "family"?)`,
		`lookup("fcts.os")`:                  `lookup: expected a path that begins with facts, data or env, got "fcts.os" (did you mean "facts"?)`,
		`data.load("nothing.yaml")`:          `data.load: no file SITE/nothing.yaml`,
		`data.load("motd.tmpl")`:             `data.load: SITE/motd.tmpl:1:1: expected a table with data, hierarchy and overrides, got "This is {{ .name }}."`,
	})
	// The data given to the script is there from the start.
	l.Data = map[string]any{"given": int64(1)}
	require.Equal(t, `1`, l.eval(t, `data.given`))
	require.Equal(t, `1, 8080`, l.eval(t, "data.load('site.yaml')\ndata.given, data.web.port"))

	l.Resolve = nil
	require.Equal(t, `data.load: not available here`, l.mistake(t, `data.load("site.yaml")`))
}

func TestTemplates(t *testing.T) {
	l := newLab(t)
	for file, text := range map[string]string{
		"a.jet":     "[[ facts.os.family ]] [[ n ]]\n",
		"b.templ":   "${ facts.os.family } {{ n + 1 }}\n",
		"c.txt":     "<< .n >>",
		"bad.jet":   "one\n[[ nothing ]]\n",
		"bad.tmpl":  "one\n{{ .nothing }}\n",
		"bad.templ": "one\n  ${ nothing }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(l.site, file), []byte(text), 0o644))
	}
	evaluations(t, l, map[string]string{
		`template.render("a.jet", { n = 1 })`:                                                                                            `"debian 1\n"`,
		`template.render("b.templ", { n = 1 })`:                                                                                          `"debian 2\n"`,
		`template.render("c.txt", { n = 1 }, { engine = "go", left = "<<", right = ">>" })`:                                              `"1"`,
		`template.jet("[[ range i, x := list ]][[ i ]]=[[ x.a ]] [[ end ]]", { list = { { a = "x" }, { a = "y" } } })`:                   `"0=x 1=y "`,
		`template.jet('{{ lookup("env.HOME") }}', {}, { left = "{{", right = "}}" })`:                                                    `"/home/ann"`,
		`template.go('{{ lookup "facts.os.x" "none" }} {{ facts.os.family }} {{ range .l }}{{ . }};{{ end }}', { l = { 1, 2.5, "x" } })`: `"none debian 1;2.5;x;"`,
		`template.expand("${ n }", { n = 5 })`:                                                                                           `"5"`,
		`template.expand("plain")`:                                                                                                       `"plain"`,
		"data.load('site.yaml')\ntemplate.jet('[[ data.web.port ]]')":                                                                    `"8080"`,
		`template.go('{{ .l | join ", " }} {{ "a" | indent 1 }} {{ .none.at | default "d" }} {{ default 5 .nope }}{{ with .x | default 2 }}{{ . }}{{ end }}', { l = { 1, true } })`: `"1, true  a d 52"`,
		`template.jet('[[ l | join: "-" ]] [[ m | to_json ]] [[ m | to_yaml ]] [[ default(no.pe, "d") ]] [[ nope | default: 5 ]]', { l = { 1, true }, m = { k = { "2" } } })`:       `'1-true {"k":["2"]} k:\n  - "2" d 5'`,
		"data.load('site.yaml')\ntemplate.go('{{ data.web.port }}')": `"8080"`,
	})
	mistakes(t, l, map[string]string{
		`template.render("bad.tmpl")`:                       `template.render: SITE/bad.tmpl:2: <.nothing>: unknown value "nothing"`,
		`template.render("bad.templ")`:                      `template.render: SITE/bad.templ:2:6: unknown name "nothing" (for a literal one use ${ '${nothing}' })`,
		`template.go("a\n{{ if .x }}\nb\n")`:                `template.go: line 4: {{if .x}} in line 2 without {{end}}`,
		`template.go("a\n{{ if }}")`:                        `template.go: line 2: missing value for if`,
		`template.go("{{ .x.y }}")`:                         `template.go: line 1, column 5: <.x.y>: unknown value "x"`,
		`template.go("{{ .x.y }}", { x = 1 })`:              `template.go: line 1, column 5: <.x.y>: unknown value "y", because the value before it is not a table`,
		`template.go("{{ eq .x .x }}", { x = { 1 } })`:      `template.go: line 1, column 3: <eq .x .x>: expected numbers, strings or booleans to compare, got a list or a table`,
		`template.go("{{ join }}")`:                         `template.go: line 1, column 3: <join>: error calling join: join: expected 1 or 2 values, got 0`,
		`template.go("{{ .nam }}", { name = 1 })`:           `template.go: line 1, column 3: <.nam>: unknown value "nam" (did you mean "name"?)`,
		`template.go("{{ .a.nam }}", { name = 1, a = {} })`: `template.go: line 1, column 5: <.a.nam>: unknown value "nam"`,
		`template.go("{{ .facts.os.family }}")`:             `template.go: line 1, column 9: <.facts.os.family>: unknown value "facts" (write facts without the dot)`,
		`template.go("{{ $.env.HOME }}")`:                   `template.go: line 1, column 4: <$.env.HOME>: unknown value "env" (write env without the dot)`,
		`template.jet("[[ nam ]]", { name = 1 })`:           `template.jet: line 1 of the template: "nam" is not defined (did you mean "name"?)`,
		`template.jet("[[ x ]]")`:                           `template.jet: line 1 of the template: "x" is not defined`,
		`template.jet("[[ 1 | join ]]")`:                    `template.jet: line 1 of the template: join: expected a list, got the number 1`,
		`template.jet('[[ "x" | indent: -1 ]]')`:            `template.jet: line 1 of the template: indent: must be 0 to 1000 spaces, got -1`,
		`template.render("c.txt")`:                          `template.render: expected a file that ends in .jet, .tmpl, .gotmpl or .templ, or an engine, got "c.txt" (for instance { engine = "jet" })`,
		`template.render("none.jet")`:                       `template.render: no file SITE/none.jet`,
		`template.jet("x", { facts = 1 })`:                  `template.jet: facts is already defined in templates (rename the value)`,
		`template.jet("x", { 1 })`:                          `template.jet: expected a table with names as argument 2, got a list`,
		`template.jet("x", { f = print })`:                  `template.jet: f: expected data, got a function`,
		`template.go("{{ range .n }}{{ $.text }}{{ end }}", { n = tbl.range(1, 65), text = ("x"):rep(2^20) })`: `template.go: the result must be at most 64 MiB`,
	})
	require.Contains(t, l.mistake(t, `template.render("bad.jet")`), `template.render: SITE/bad.jet:2: `)
	l.Templates = nil
	require.Equal(t, `template.go: not available here`, l.mistake(t, `template.go("")`))
}
