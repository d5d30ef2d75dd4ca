package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/session"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/site"
)

// longest limits the inputs of fuzz tests; longer ones only take longer.
const longest = 1 << 14

// hostileScripts are scripts that attack the limits.
var hostileScripts = []string{
	"while true do end", "local function f() return f() + 1 end f()", "local s = 'x' while true do s = s .. s end", "local x = ('x'):rep(1e10)",
	"local t = {} for i = 1, 1e9 do t[i] = i end", "repeat pcall(error) until false", "pcall(pcall, pcall, error, {}, nil)",
	"local t = setmetatable({}, { __index = function(t, k) return t[k .. k] end }) local x = t.a", "local t = setmetatable({}, {}) getmetatable(t).__index = t local x = t.a",
	"local m = {} m.__concat = function(a, b) return a .. b end local x = setmetatable({}, m) .. 'x'", "local t = {} t[t] = t file { t }", "local t = {} t.t = t json.encode(t)",
	"local co co = coroutine.wrap(function() co() end) co()", "local function f() coroutine.wrap(f)() end f()", "coroutine.wrap(function() while true do coroutine.yield() end end)()",
	"for k, v in pairs(_G) do pcall(v) pcall(v, {}) pcall(v, '', '') pcall(v, nil, 1, 2) end",
	"for _, lib in pairs { string, table, math, str, tbl, fs, json, yaml, toml, re, net, path, time, hash, base64, version, template, data, http } do for _, f in pairs(lib) do pcall(f) pcall(f, {}) pcall(f, 'x', 'x') pcall(f, -1, 1e300) pcall(f, 0/0) end end",
	"for _, t in pairs { file, package, service, exec, archive, scaffold, apply } do pcall(t) pcall(t, {}) pcall(t, { 1 }) pcall(t, { '' }) pcall(t, { '/x', name = '/y' }) pcall(t.defaults, {}) end",
	"getmetatable('').__index = nil", "getmetatable(_G).__index = rawget", "rawset(_G, 'file', nil) file { '/x' }", "string.rep = nil", "setmetatable(string, nil)", "local x = string.format('%99999d', 1)",
	"('x'):rep(1000):find(('x*'):rep(1000) .. 'y')", "('a'):rep(1e5):gsub('a', ('b'):rep(1e5))", "('x'):rep(100):gsub('', ('%0'):rep(1e6))", "string.format(('%s'):rep(1e5), 'x')",
	"local x = ('x'):rep(0/0)", "local x = math.random(0, 1e300)", "local x = math.random(0/0)", "local x = unpack({}, 1, 1e8)", "local x = table.concat({}, 'x', 1, 1e9)", "table.sort({ 3, 2, 1, 5, 4 }, function() return true end)", "local t = {} t[2^53] = 1 t[-1] = 1 table.insert(t, 1e15, 1)",
	"local x = " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), "local x = " + strings.Repeat("{", 300) + strings.Repeat("}", 300), strings.Repeat("do ", 300) + strings.Repeat("end ", 300),
	"local x = 1" + strings.Repeat(" .. 1", 500), "local x = " + strings.Repeat("not ", 500) + "1", strings.Repeat("local x = 1 ", 250), "goto x ::x:: goto x", "local x <close> = 1", "\xff\xfe", "#!x\n\x00", "return ...",
	"fs.read('../../../../etc/passwd')", "fs.read('/out')", "fs.read('/dev/zero')", "fs.glob('/*/*/*/*/*/*/*/*')", "require '../../x'", "require 'module'.greet({})", "apply { 'other.lua' }", "apply { 'script.lua' }",
	"local x = capture { 'rm', '-rf', '/' }", "local x = http.get 'http://169.254.169.254/'", "exec { 'x', command = 'rm -rf /', onlyif = 'true' }", "file { '/../../../outside', ensure = 'absent' }", "file { '/out', content = 'x', owner = 'root', group = 'root', mode = '0644' }",
	"file { '/etc/motd', content = 'x', owner = 'root', group = 'root', mode = '0644', validate = 'rm %s' }", "file { '/d', ensure = 'directory', source = '../..', recurse = true }", "archive { '/a.tar', url = 'http://x/a.tar', extract_parent = '/', creates = '/x' }",
	"type.define 'x' { properties = { name = 'string' }, look = function() while true do end end } x { 'y' }", "ccm.fail({})", "ccm.after(function() error {} end)", "error(setmetatable({}, { __tostring = function() error('x') end }))",
	"local x = template.go '{{ range 100000000000 }}{{ end }}'", "local x = template.jet '[[ block a() ]][[ yield a() ]][[ end ]]'", "local x = template.expand '${ sum(1..100000, sum(1..100000, 1)) }'",
	"local x = yaml.decode('a: &a [x, x]\\nb: &b [*a, *a, *a]\\nc: &c [*b, *b, *b]\\nd: [*c, *c, *c]')", "local x = json.decode(('['):rep(5000))", "local x = re.match(('a*'):rep(500), 'a')", "local x = tbl.merge(_G, _G)", "local x = inspect(_G)",
}

// FuzzScript evaluates scripts as ccm plan does, with all libraries and types.
func FuzzScript(f *testing.F) {
	long(f)
	for _, text := range hostileScripts {
		f.Add(text)
	}
	if fuzzing() {
		for _, text := range endless {
			f.Add(text)
		}
		for _, text := range corpus(f, ".lua") {
			f.Add(text)
		}
	}
	w := newHostile(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > longest {
			t.Skip()
		}
		w.holds(t, "script.lua", text)
	})
}

// hostileManifests are manifests that attack the limits.
var hostileManifests = []string{
	"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\nccm: {resources: [*f]}\n",
	"ccm: &a {resources: [*a]}\n", "&a ccm: {resources: [{*a : {}}]}\n", "<<: &x {<<: *x}\n", "<<: [{ccm: {resources: []}}]\n", "ccm: {<<: {resources: []}, <<: 1}\n",
	"ccm: !!binary aGVsbG8=\n", "ccm: {resources: !!set {a, b}}\n", "!!python/object:x {ccm: 1}\n", "ccm: {resources: [{file: [{/x: {mode: !!float 0644, owner: !!null x}}]}]}\n", "%YAML 9.9\n---\nccm: 1\n", "--- |\n ccm\n...\n--- x\n",
	strings.Repeat("[", 2000), strings.Repeat("{a: ", 2000), strings.Repeat("- ", 2000), strings.Repeat("? ", 1000), strings.Repeat("&a ", 100) + "x", "ccm:\n" + strings.Repeat(" ", 3000) + "x",
	"ccm: {resources_jet_file: motd.jet}\n", "ccm: {resources_jet_file: /dev/zero}\n", "ccm: {resources: [{apply: [{other.lua: }]}]}\n", "ccm: {resources: [{apply: [{manifest.yaml: }]}]}\n", "ccm: {modules: [module, ../../x, \"\"], resources: []}\n",
	"ccm: {resources: [{file: [{/x: {content: \"${ file('/dev/zero') }\"}}]}]}\n", "ccm: {resources: [{file: [{/x: {content: \"${ template('x${ template(1) }') }\"}}]}]}\n", "ccm: {resources: [{file: [{/x: {content: \"${ Facts.x.y ?? {} }\"}}]}]}\n",
	"ccm: {resources: [{file: [{/x: {content: \"${ jet('[[ block a() ]][[ yield a() ]][[ end ]]') }\"}}]}]}\n", "ccm: {resources: [{file: [{\"${ repeat('x', 1000000) }\": {}}]}]}\n", "ccm: {resources: [{file: [{/x: {owner: \"${ sum(1..1000000, 1) }\"}}]}]}\n",
	"data: {a: \"${ lookup('data.a') }\"}\nccm: {resources: []}\n", "hierarchy: {order: [\"${ lookup('facts.os') }\", common]}\noverrides: {common: {a: 1}}\nccm: {resources: []}\n", "hierarchy: {order: [x], merge: deep}\noverrides: 5\nccm: {}\n",
	"ccm: {resources: [{file: {}}, {file: []}, {file: }, {file: 5}, {: }, {nosuch: [{a: }]}, {file: [{/a: 5}, {/a: }]}]}\n", "ccm:\n  resources:\n    - exec: [{a: {command: \"${{ x }}\", if: 1, require: [exec#a]}}]\n",
	"defaults: {}\nimports: [manifest.yaml]\nfile: {/x: {contents: \"{a}\", interpolate: true}}\n", "file:\n  /x: {contents: \"{% for i in range(10) %}{{ i }}{% endfor %}\", interpolate: true}\nconstants: {a: [1]}\n",
}

// FuzzManifest loads manifests as ccm plan does, in both dialects.
func FuzzManifest(f *testing.F) {
	long(f)
	for _, text := range hostileManifests {
		f.Add(text, false)
		f.Add(text, true)
	}
	if fuzzing() {
		for _, text := range corpus(f, ".yaml") {
			f.Add(text, false)
		}
		for _, text := range corpus(f, ".yml") {
			f.Add(text, true)
		}
	}
	w := newHostile(f)
	f.Fuzz(func(t *testing.T, text string, tiny bool) {
		if len(text) > longest {
			t.Skip()
		}
		w.holds(t, map[bool]string{false: "manifest.yaml", true: "manifest.cm.yml"}[tiny], text)
	})
}

// FuzzDecode decodes values into the properties of every type that ships with ccm: a decoded value can be written,
// and is read back equal.
func FuzzDecode(f *testing.F) {
	long(f)
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(f, err)
	site.AddShipped(reg)
	types := reg.Types()
	for i, typ := range types {
		every := make(map[string]any)
		for _, s := range typ.Properties() {
			for k, field := range s.Fields {
				every[field.Name] = []any{"x", int64(k), true, []any{"a#b", map[string]any{"k": 1.5}}, map[string]any{"": nil}}[k%5]
				text, err := json.Marshal(map[string]any{s.Fields[0].Name: "/x", field.Name: []any{field.Default, int64(-1), "present", "0644", "5m", "file#/x"}[k%6]})
				require.NoError(f, err)
				f.Add(string(text), uint8(i))
			}
		}
		text, err := json.Marshal(every)
		require.NoError(f, err)
		f.Add(string(text), uint8(i))
	}
	for _, text := range []string{"[]", "a: 1e400", "{name: /x, mode: 0o644, owner: ~, owner: 1}", "name: !!binary gIGC", "name: [/x]", "{name: {name: x}}", "name: \"\\0\"", "name: 1.10\nensure: 0x1F", "name: .nan", "name: 9223372036854775808"} {
		f.Add(text, uint8(len(text)))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		doc, err := data.Parse("x", text)
		if err != nil || doc.Root.Kind != schema.Map || len(text) > longest {
			t.Skip()
		}
		typ := types[int(n)%len(types)]
		tab := manifest.ValueOf(doc.Root).Table()
		from := resource.Origin{Pos: diag.Pos{File: "x", Line: 1}, Dir: "/site"}
		r, err := typ.Decode(tab, from)
		again, errAgain := typ.Decode(tab, from)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(errAgain), "the second time")
		if err != nil {
			mistaken(t, "x", text, err)
			return
		}
		require.Equal(t, r.Spec, again.Spec, "the second time")
		mix := typ.Properties()
		written, err := mix.Encode(r.Spec, r.Common).MarshalJSON()
		if err != nil {
			require.Contains(t, err.Error(), "unsupported value", "%s", written) // NaN and infinities have no JSON
			return
		}
		back := new(schema.Table)
		require.NoError(t, json.Unmarshal(written, back), "%s", written)
		b, err := typ.Decode(back, from)
		require.NoError(t, err, "%s", written)
		require.Equal(t, r.ID, b.ID)
		require.Equal(t, r.Spec, b.Spec, "%s", written)
		require.Equal(t, r.Common, b.Common, "%s", written)
		require.Equal(t, typ.Schema().Fingerprint(r.Spec), typ.Schema().Fingerprint(b.Spec), "%s", written)
		require.NotNil(t, mix.Conceal(r.Properties()))
	})
}

// FuzzRequest answers requests as ccm ensure api does: a single text, or a stream of lines. They are performed
// on a confined machine.
func FuzzRequest(f *testing.F) {
	long(f)
	ask := func(typ, properties string) string {
		return fmt.Sprintf(`{"protocol":%q,"type":%q,"properties":%s}`, manifest.RequestProtocol, typ, properties)
	}
	file := ask("file", `{"name":"/etc/motd","content":"x","owner":"root","group":"root","mode":"0644"}`)
	for _, text := range []string{
		file, file + "\n\n" + file + "\n[]\n{\n", "{", "[]", "", "null", "protocol: " + manifest.RequestProtocol + "\ntype: file\nproperties: {name: /x, ensure: absent}\n", strings.Repeat("[", 20000), strings.Repeat(`{"a":`, 12000),
		ask("file", `{"name":"/out/../../outside","ensure":"absent"}`), ask("file", `{"name":"/../outside","content":"x","owner":"root","group":"root","mode":"0644"}`), ask("file", `{"name":"/l","ensure":"link","target":"/etc"}`),
		ask("file", `{"name":"/d","ensure":"directory","owner":"root","group":"root","mode":"7777","source":"."}`), ask("file", `{"name":"/etc","ensure":"absent","force":true}`), ask("file", `{"name":"/x","content":"${ file('/dev/zero') }"}`),
		ask("exec", `{"name":"rm -rf /","subscribe":["file#/etc/motd"],"refreshonly":true}`), ask("exec", `{"name":"x","control":{"if":"sum(1..1000,1)>0","unless":5}}`), ask("exec", `{"name":"x","before":["file#/y"]}`), ask("exec", `{"name":"x","require":["exec#x"]}`),
		ask("package", `{"name":"zsh","ensure":"latest"}`), ask("service", `{"name":"x","ensure":"running","enable":true}`), ask("archive", `{"name":"/a.tar","url":"http://x/a.tar","extract_parent":"/x","creates":"/x/y"}`), ask("scaffold", `{"name":"/s","source":"."}`),
		ask("apply", `{"name":"other.lua"}`), ask("apply", `{"name":"/dev/zero"}`), ask("nosuch", `{}`), ask("file", `5`), ask("line", `{"name":"/etc/motd","line":"x"}`), strings.Replace(file, "ensure", "x", 1), strings.Replace(file, `{`, `{"type":1,"x":{},"protocol":null,`, 1),
		strings.ReplaceAll(file, `"x"`, `{"$bytes":"gIGC"}`), strings.ReplaceAll(file, "/etc/motd", `\u0000\ud800`),
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	w := newHostile(f)
	f.Fuzz(func(t *testing.T, text []byte, stream bool) {
		if len(text) > 1<<16 {
			t.Skip()
		}
		for _, dir := range []string{"machine", "state"} {
			require.NoError(t, os.RemoveAll(filepath.Join(w.base, dir)))
		}
		w.write(t)
		t.Chdir(filepath.Join(w.base, "site"))
		before := w.snapshot(t)
		defer func() { w.untouched(t, before, "machine", "state") }()
		var stdout, stderr bytes.Buffer
		e := w.env(bytes.NewReader(text), &stdout, &stderr)
		x := w.exchange(t, e, stream)
		lines := 1
		if stream {
			lines = 0
			for line := range bytes.Lines(text) {
				if len(bytes.TrimSpace(line)) > 0 {
					lines++
				}
			}
			_ = x.answerAll(t.Context())
		} else {
			answer := func() report.Response {
				out, _ := x.answer(t.Context(), func() (manifest.Request, error) { return manifest.ReadRequest(text) })
				x.oneOff.Close()
				return out
			}
			out := answer()
			require.NoError(t, writeAnswer(e, &apiFlags{output: cli.NewChoice("json", "json", "yaml")}, out))
			if out.State != nil && out.State.Outcome == "changed" && out.State.Type == "file" {
				again := answer()
				require.NotNil(t, again.State, again.Error)
				require.Equal(t, "stable", again.State.Outcome, "the second time: %+v", again.State)
			}
		}
		answers := strings.SplitAfter(stdout.String(), "\n")
		require.Empty(t, answers[len(answers)-1])
		require.Len(t, answers, lines+1)
		for _, line := range answers[:lines] {
			var r report.Response
			require.NoError(t, json.Unmarshal([]byte(line), &r), line)
			require.Equal(t, report.ResponseProtocol, r.Protocol)
			require.NotEqual(t, r.State == nil, r.Error == "", line)
			sane(t, string(text), r.Error)
			if r.State != nil {
				for _, problem := range r.State.Errors {
					sane(t, string(text), problem)
				}
			}
		}
	})
}

// exchange answers requests on the confined machine.
func (w *hostileHost) exchange(t *testing.T, e *cli.Env, stream bool) *exchange {
	o := site.OneOffOptions{
		Kind: "request", Site: &site.Options{EvalTimeout: fuzzTimeout, Facts: site.FactOptions{Facts: w.facts}, Data: site.DataOptions{None: true}},
		Record: site.RecordOptions{StateDir: filepath.Join(w.base, "state"), LockTimeout: time.Second, Limits: state.DefaultLimits}, Diff: report.DiffSummary,
	}
	if stream {
		o.Session = session.Memory()
	}
	x := &exchange{env: e, diff: report.DiffSummary}
	var err error
	x.oneOff, err = e.NewOneOff(t.Context(), o)
	require.NoError(t, err)
	return x
}
