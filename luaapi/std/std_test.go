package std_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/template"
)

// A lab is a machine below one directory and a site in another, with the files that examples use.
type lab struct {
	std.Options
	root, site string
	facts      *facts.Facts
	inputs     []std.Input
	log        bytes.Buffer
	answer     func(*http.Request) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper: no test uses the network.
func (l *lab) RoundTrip(r *http.Request) (*http.Response, error) { return l.answer(r) }

func respond(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Header: http.Header{}}, nil
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{root: t.TempDir(), site: t.TempDir(), answer: func(*http.Request) (*http.Response, error) { return respond(200, "Welcome\n") }}
	for file, text := range map[string]string{
		l.root + "/etc/motd":          "Welcome\n",
		l.root + "/etc/app.key":       "correct horse\n",
		l.root + "/etc/conf.d/a.conf": "",
		l.root + "/etc/conf.d/b.conf": "",
		l.site + "/db.age":            "(encrypted)",
		l.site + "/db.enc.json":       "{}",
		l.site + "/motd.tmpl":         "This is {{ .name }}.\n",
		l.site + "/users.yaml":        "- name: ann\n",
		l.site + "/site.yaml":         "hierarchy: {order: [\"os:${ facts.os.family }\"]}\ndata: {web: {port: 80, tags: [a, b]}, empty: ~}\noverrides:\n  os:debian: {web: {port: 8080, tags: [c]}}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	h := host.New(host.Options{Root: l.root, Clock: hosttest.Clock{}, Transport: l, Runner: command.Exec{}})
	outside := host.New(host.Options{Clock: hosttest.Clock{}})
	l.facts = facts.Static(map[string]any{"os": map[string]any{"family": "debian"}})
	templates := func(tree map[string]any, dir string) *template.Env {
		return template.New(template.Options{Facts: l.facts, Data: tree, Dir: dir, Environ: map[string]string{"HOME": "/home/ann"}, ReadFile: os.ReadFile, Now: h.Now})
	}
	l.Options = std.Options{
		View: &h.View, ScriptView: &outside.View, Cwd: "/home/ann",
		Log: slog.New(slog.NewTextHandler(&l.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
		Record: func(in std.Input) {
			in.Text = "" // Value is its digest
			l.inputs = append(l.inputs, in)
		},
		Resolve: func(file, text string) (map[string]any, error) {
			doc, err := data.Parse(file, text)
			if err != nil {
				return nil, err
			}
			r, err := data.Resolve(doc, templates(nil, "").ForData(), nil, nil)
			return r.Data, err
		},
		Templates: templates,
		Registrations: func(cluster, protocol, service, address string) (registration.Entries, error) {
			if cluster == "lost" {
				return nil, errors.New("no server answered")
			}
			if service == "none" {
				return nil, nil
			}
			ttl := registration.NewTTL(time.Minute)
			return registration.Entries{
				{Cluster: "c", Service: "web", Protocol: protocol, Address: "192.0.2.1", Port: int64(80), Priority: 1, TTL: &ttl, Annotations: map[string]string{"v": "1"}},
				{Cluster: "c", Service: "web", Protocol: protocol, Address: address, Priority: 2},
			}, nil
		},
		Decrypt: func(string, []byte) ([]byte, error) { return []byte("correct horse\n"), nil },
	}
	return l
}

// run evaluates a script and returns its output.
func (l *lab) run(t testing.TB, script string) (string, error) {
	t.Helper()
	reg, err := resource.NewRegistry()
	require.NoError(t, err)
	var out bytes.Buffer
	in := luaapi.New(luaapi.Options{
		Registry: reg, Builder: new(catalog.Builder), Facts: l.facts, Print: &out, Timeout: 20 * time.Second,
		Env:    func(name string) (string, bool) { return "correct horse", name == "DB_PASSWORD" },
		Extend: l.Extend,
	})
	defer in.Close()
	err = in.Run(context.Background(), filepath.Join(l.site, "site.lua"), script)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// show is a script that prints the values of an example with inspect.
func show(example string) string {
	statements, expression := "", example
	if _, err := parse.Parse(strings.NewReader("return "+example), ""); err != nil {
		i := strings.LastIndexByte(example, '\n')
		statements, expression = example[:i+1], example[i+1:]
	}
	return "local function show(...) local out = {} for i = 1, select('#', ...) do out[i] = inspect((select(i, ...))) end print('result:' .. table.concat(out, ', ')) end " +
		statements + "\nshow(" + expression + ")"
}

// eval returns the values of an expression, formatted with inspect.
func (l *lab) eval(t testing.TB, expression string) string {
	t.Helper()
	out, err := l.run(t, show(expression))
	require.NoError(t, err, expression)
	_, out, _ = strings.Cut(out, "result:")
	return out
}

// mistake returns the message of an invalid expression.
func (l *lab) mistake(t testing.TB, expression string) string {
	t.Helper()
	out, err := l.run(t, show(expression))
	require.Error(t, err, "%s gave %s", expression, out)
	var list diag.List
	require.ErrorAs(t, err, &list)
	return strings.ReplaceAll(list[0].Message(), l.site, "SITE")
}

// Each function has a description, and its example has the stated result.
func TestExamples(t *testing.T) {
	programs := t.TempDir() // with a program in place of sops
	require.NoError(t, os.WriteFile(filepath.Join(programs, "sops"), []byte("#!/bin/sh\necho correct horse\n"), 0o755))
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	l := newLab(t)
	seen := make(map[string]bool)
	for _, lib := range std.Libraries() {
		require.NotEmpty(t, lib.Doc, lib.Name)
		check := func(name, doc, example, result string) {
			t.Run(name, func(t *testing.T) {
				require.False(t, seen[name], "declared twice")
				seen[name] = true
				require.Regexp(t, `^[A-Z].*\.$`, doc)
				require.Contains(t, example, strings.TrimSuffix(name, "()"))
				got := strings.ReplaceAll(l.eval(t, example), l.site, "/site")
				require.Equal(t, result, got, example)
			})
		}
		for _, v := range lib.Values {
			check(lib.Name+"."+v.Name, v.Doc, v.Example, v.Result)
		}
		for _, f := range lib.Funcs {
			name := lib.Name + "." + f.Name()
			if f.Name() == lib.Name {
				name = lib.Name
			}
			check(name, f.Doc, f.Example, f.Result)
		}
	}
	require.Greater(t, len(seen), 110)
}

func TestLibrariesAreModules(t *testing.T) {
	l := newLab(t)
	for _, lib := range std.Libraries() {
		if lib.Name != "ccm" {
			require.Equal(t, "true", l.eval(t, `require "std.`+lib.Name+`" == `+lib.Name), lib.Name)
		}
	}
	require.Equal(t, `str: unknown name "splt" (did you mean "split"?)`, l.mistake(t, `str.splt("a", "b")`))
	require.Equal(t, `str.x is read-only (copy the table and change the copy)`, l.mistake(t, "str.x = 1\n1"))
	require.Equal(t, `undefined global "jsno" (did you mean "json"?)`, l.mistake(t, `jsno.decode("1")`))
	require.Equal(t, `ccm: unknown name "asb" (did you mean "abs"?)`, l.mistake(t, `ccm.asb("a")`))
}

// A mistake in an argument says what was wanted, what was found and where.
func TestArguments(t *testing.T) {
	l := newLab(t)
	for expression, want := range map[string]string{
		`str.split(nil, ",")`:                     `str.split: expected a string as argument 1, got nil`,
		`str.split("a")`:                          `str.split: expected a string as argument 2, got nil`,
		`str.split("a", 1)`:                       `str.split: expected a string as argument 2, got the number 1`,
		`str.split("a", "b", 1.5)`:                `str.split: expected an integer as argument 3, got the number 1.5`,
		`str.split("a", "b", "1")`:                `str.split: expected an integer as argument 3, got "1"`,
		`str.join("a")`:                           `str.join: expected a list as argument 1, got "a"`,
		`str.join({ a = 1 })`:                     `str.join: expected a list as argument 1, got a table with the name "a"`,
		`str.join { "a", {} }`:                    `str.join: expected a list of strings and numbers as argument 1, got a table as item 2`,
		`tbl.map({}, "x")`:                        `tbl.map: expected a function as argument 2, got "x"`,
		`json.decode("1", { null = false })`:      `json.decode: unknown option "null" (did you mean "nulls"?)`,
		`json.encode(1, { indent = "x" })`:        `json.encode: expected an integer as indent, got "x"`,
		`hash.hmac("sha265", "a", "b")`:           `hash.hmac: expected one of "sha256", "sha512", "sha1", "md5" as argument 1, got "sha265" (did you mean "sha256"?)`,
		`tbl.deep_merge({}, {}, {lists = "jon"})`: `tbl.deep_merge: expected one of "replace", "join" as lists, got "jon" (did you mean "join"?)`,
		`http.get(json.null)`:                     `http.get: expected a string as argument 1, got json.null`,
		`path.join("a", {})`:                      `path.join: expected a string as argument 2, got a table`,
		`capture { "x", timeout = 5 }`:            `capture: expected a string as timeout, got the number 5`,
		`net.host("10.0.0.0/8", true)`:            `net.host: expected an integer as argument 2, got true`,
		`time.format(0/0)`:                        `time.format: expected a time between the years 1 and 9999 as argument 1, got the number nan`,
		`str.trim(string.rep("x", 70) and print)`: `str.trim: expected a string as argument 1, got a function`,
	} {
		got := l.mistake(t, expression)
		require.Equal(t, want, strings.Replace(got, "number NaN", "number nan", 1), expression)
	}
	_, err := l.run(t, "local x = 1\nlocal y = str.trim(x)\n")
	require.ErrorContains(t, err, "site.lua:2:11: str.trim: expected a string as argument 1, got the number 1")
	require.Equal(t, `false, "`+l.site+`/site.lua:2:6: str.trim: expected a string as argument 1, got nil"`, l.eval(t, "pcall(str.trim)"))
}
