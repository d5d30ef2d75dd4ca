package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// twenty are secrets of many kinds by the names under which the site finds them.
var twenty = [][2]string{
	{"plain", "Tr0ub4dor-plain"},
	{"quotes", `it's "quoted" twice`},
	{"unicode", "grüße-ünïcödé-☃-key"},
	{"base64ish", "c2VjcmV0LXZhbHVlLWJhc2U2NA=="},
	{"jsonish", `{"k": "v\n<tag>&", "n": [1]}`},
	{"url", "https://robot:s3cr3t-in-url@127.0.0.1:1/x.tgz?y=z"},
	{"shell", "$(rm -rf) `id` && $HOME; !! *"},
	{"key", "-----BEGIN TEST KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf\nQx==\nCw8d5bz4q7mZ0JxJbF7hY1sPp1yUzq3rT8v\n-----END TEST KEY-----"},
	{"backslash", `back\slash\\double\n`},
	{"digits", "8675309912"},
	{"spaces", "four words in it"},
	{"percent", "100%25 sure %s %d"},
	{"tab", "tab\tand-control\x01char"},
	{"word", "postgresqlpw"},
	{"long", strings.Repeat("0123456789abcdef", 20)},
	{"lua", "]] .. os.exit() .. [["},
	{"env", "from-the-environment-77"},
	{"cmd", "from-a-command-88"},
	{"marked", "marked-in-the-data-99"},
	{"template", "${ not an expression }"},
}

// other returns a secret of the same kind.
func other(s string) string {
	if strings.HasPrefix(s, "https://") {
		return strings.ReplaceAll(s, "s3cr3t", "4n0th3r")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("-", r): // of the key
			return r
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= '0' && r <= '9':
			return '0' + (r-'0'+5)%10
		}
		return r
	}, s)
}

const secretSite = `
local dir = arg[1]
local s = {}
for _, name in ipairs { "plain", "quotes", "unicode", "base64ish", "jsonish", "url", "shell", "key", "backslash", "digits", "spaces", "percent", "tab", "word", "long", "lua", "template" } do
  s[name] = secret.file("secrets/" .. name)
end
s.env = secret.env "SECRET_OF_TEST"
s.cmd = secret.cmd { "cat", ccm.dir .. "/secrets/cmd" }
data.load "data.yaml"
s.marked = data.db.password
local own = { owner = "-1", group = "-1", mode = "0600" }
file.defaults(own)

local lines = { "# begin" }
for name, value in tbl.pairs(s) do
  lines[#lines + 1] = "before " .. name
  lines[#lines + 1] = string.format("%s = %s", name, value)
  lines[#lines + 1] = "after " .. name
end
file { dir .. "/all.conf", content = str.join(lines, "\n") .. "\n" .. "count = " .. (env.COUNT or "1") .. "\n", backup = true }
file { dir .. "/key.pem", content = s.key .. "\n" }
file { dir .. "/all.json", content = json.encode(s) }
file { dir .. "/all.yaml", content = yaml.encode(s) }
file { dir .. "/template", content = template.jet("pw [[ pw ]] end\n", { pw = s.plain }) .. template.go("{{ .pw }}\n", { pw = s.quotes }) }
file { dir .. "/derived", content = table.concat({ base64.encode("user:" .. s.plain), string.upper(s.word), hash.sha256(s.plain), s.unicode:sub(1, 12), s.long:reverse() }, "\n") }
file { dir .. "/lazy", content = ccm.lazy(function() return "later " .. secret.file("secrets/plain") .. "\n" end) }

-- Edits of one file, one of them with a secret.
local ini = require "std.ini"
ini { "a port", path = dir .. "/app.ini", section = "a", key = "port", value = env.COUNT or "1" }
ini { "a password", path = dir .. "/app.ini", section = "a", key = "password", value = s.plain }
ini { "b port", path = dir .. "/app.ini", section = "b", key = "port", value = env.COUNT or "1" }

-- A type whose state tells the value.
local vault = ccm.type {
  name = "vault", doc = "Keeps a value in a file.",
  properties = { name = { name = true, doc = "The path." }, value = { doc = "The value." }, note = { doc = "Another." } },
  status = function(want, host)
    local text = host.read(want.name)
    if not text then return { value = "", note = "" } end
    return { value = text, note = want.note }
  end,
  perform = function(action, want, have, host)
    host.write(want.name, want.value, { mode = "0600" })
  end,
}
vault { dir .. "/vault", value = s.word, note = "public" }

for _, provider in ipairs { "posix", "shell" } do
  exec { "echo " .. provider, command = provider == "shell" and 'echo "$A $B"; echo "$A" >&2' or "sh -c 'echo \"$A\"; echo \"$B\" >&2'",
    provider = provider, environment = { "A=" .. s.quotes, "B=" .. s.shell }, logoutput = true }
end
exec { "cat", command = "cat", stdin = s.key .. "\n" .. s.tab .. "\n", logoutput = true }
exec { "fails", command = "sh -c 'echo \"$A\" >&2; echo \"$B\" | base64; exit 3'", environment = { "A=" .. s.jsonish, "B=" .. s.long } }
exec { "json", command = "cat all.json all.yaml", cwd = dir, logoutput = true }
file { dir .. "/invalid", content = "x " .. s.percent .. "\ny " .. s.lua .. "\n", validate = "sh -c 'cat %s; exit 1'" }
file { dir .. "/nobody", content = "x", owner = s.spaces }
archive { dir .. "/a.tgz", url = s.url, owner = "root", group = "root", headers = { ["X-Token"] = s.digits } }
archive { dir .. "/b.tgz", url = "https://127.0.0.1:1/b.tgz", owner = "root", group = "root", username = "me", password = s.backslash }
exec { "healthy", command = "true", health_checks = { { command = "sh -c 'echo $SECRET_OF_TEST; exit 1'", name = "tells" } } }

ccm.warn(s.plain, s.quotes, "in a warning")
print(s.unicode, inspect(s), base64.encode(s.shell), tostring(s.tab))
log.info(s.percent, { pw = s.lua, table = s })
ccm.print({ s.jsonish })
`

const secretManifest = `
data:
  db:
    user: app
    password: {sensitive: true, value: MARKED}
    list:
      sensitive: true
      value: [JSON]
overrides:
  "never": {db: {password: x}}
ccm:
  resources:
    - file:
        - DIR/from-manifest:
            content: "user=${ Data.db.user } password=${ Data.db.password } list=${ Data.db.list[0] } ${ upper(Data.db.password) }\n"
            owner: "-1"
            group: "-1"
            mode: "0600"
        - DIR/bad:
            content: "${ lookup('data.db.password') }"
            owner: "-1"
            group: "-1"
            mode: "0600"
            validate: "sh -c 'cat %s; exit 1'"
`

// A secretWorld is a site with secrets, and all that was ever printed.
type secretWorld struct {
	t       *testing.T
	dir     string // of the site
	out     string // what is managed
	state   string
	printed bytes.Buffer
	values  []string // all that there were
}

func newSecretWorld(t *testing.T) *secretWorld {
	isolate(t)
	w := &secretWorld{t: t, dir: t.TempDir(), out: t.TempDir(), state: os.Getenv("CCM_STATE_DIR")}
	w.write("site.lua", secretSite)
	t.Setenv("HOME", t.TempDir())
	require.NoError(t, os.WriteFile(w.out+"/app.ini", []byte("[a]\nport=0\npassword=old-and-unknown-pw\n[b]\nport=0\ntoken=another-unknown\n"), 0o600))
	w.values = append(w.values, "old-and-unknown-pw", "another-unknown")
	w.secrets(func(s string) string { return s })
	return w
}

func (w *secretWorld) write(name, text string) {
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// secrets gives every secret a value.
func (w *secretWorld) secrets(value func(string) string) {
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, s := range twenty {
		v := value(s[1])
		w.values = append(w.values, v)
		w.write("secrets/"+s[0], v+"\n")
		switch s[0] {
		case "env":
			w.t.Setenv("SECRET_OF_TEST", v)
		case "marked":
			w.write("data.yaml", "data: {db: {user: app, password: {sensitive: true, value: "+quoted(v)+"}}}\n")
			text := strings.ReplaceAll(secretManifest, "DIR", w.out)
			text = strings.ReplaceAll(strings.ReplaceAll(text, "MARKED", quoted(v)), "[JSON]", "["+quoted(value(twenty[4][1]))+"]")
			w.write("site.yaml", text)
		}
	}
}

// ccm runs a command and keeps what it printed.
func (w *secretWorld) ccm(stdin string, args ...string) (string, int) {
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs, clock: hosttest.Clock{}}
	status := e.run(w.t.Context(), args)
	fmt.Fprintf(&w.printed, "\n$ ccm %s\n%s\n2> %s\n", strings.Join(args, " "), out.String(), errs.String())
	if out.Len() > 0 {
		for _, a := range args {
			if a == "json" {
				dec := json.NewDecoder(&out)
				for dec.More() {
					var v any
					require.NoError(w.t, dec.Decode(&v), "%s: %s", strings.Join(args, " "), out.String())
				}
			}
		}
	}
	return out.String() + errs.String(), status
}

// search fails if a secret, or what it is in JSON or in base64, is in what was
// printed or below the directories, packed or not.
func (w *secretWorld) search(dirs ...string) {
	w.t.Helper()
	files := map[string][]byte{"what was printed": w.printed.Bytes()}
	for _, dir := range dirs {
		require.NoError(w.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			files[path] = text
			if z, e := gzip.NewReader(bytes.NewReader(text)); e == nil {
				unpacked, _ := io.ReadAll(z)
				files[path+", unpacked"] = unpacked
			}
			return err
		}))
	}
	for _, value := range w.values {
		quoted, _ := json.Marshal(value)
		var plain bytes.Buffer
		enc := json.NewEncoder(&plain)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(value)
		forms := []string{value, strings.Trim(string(quoted), `"`), strings.Trim(strings.TrimSpace(plain.String()), `"`), base64.RawStdEncoding.EncodeToString([]byte(value))}
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= 4 {
				forms = append(forms, line)
			}
		}
		for name, text := range files {
			for _, form := range forms {
				if i := bytes.Index(text, []byte(form)); i >= 0 {
					w.t.Errorf("%q is in %s: ...%s...", value, name, text[max(0, i-300):min(len(text), i+len(form)+60)])
					return
				}
			}
		}
	}
}

// Twenty secrets through every command and form of output, then a search of all
// that was written: none. The files have them.
func TestTwentySecrets(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a hundred commands")
	}
	w := newSecretWorld(t)
	site, manifest := w.dir+"/site.lua", w.dir+"/site.yaml"
	round := func() {
		for _, f := range []string{site, manifest} {
			for _, more := range [][]string{
				{"plan", "-v"}, {"plan", "-v", "--output", "json"}, {"plan", "--diff", "full", "--debug"}, {"plan", "-q"},
				{"run", "--noop", "--diff", "full", "--output", "json", "-v"}, {"catalog"}, {"catalog", "--output", "json"}, {"graph"},
			} {
				w.ccm("", append(append(more[:len(more):len(more)], f), w.out)...)
			}
		}
		w.ccm("", "run", "--render", manifest)
		w.ccm("", "convert", manifest)
		for _, form := range []string{"text", "json", "yaml"} {
			w.ccm("", "data", w.dir+"/data.yaml", "--output", form)
			w.ccm("", "hiera", "parse", w.dir+"/data.yaml", "--output", form)
		}
		w.ccm("", "run", "-v", "--output", "json", "--diff", "full", "--debug", site, w.out)
		w.ccm("", "run", "-v", "--diff", "full", manifest)
		w.ccm("", "run", "-v", "--diff", "full", "--check-idempotent", site, w.out)
	}
	look := func() {
		list, _ := w.ccm("", "history", "--output", "json")
		for line := range strings.Lines(list) {
			var run struct {
				ID string `json:"run_id"`
			}
			if json.Unmarshal([]byte(line), &run) != nil {
				continue
			}
			for _, form := range []string{"text", "json"} {
				w.ccm("", "history", "show", run.ID, "--output", form)
				w.ccm("", "diff", run.ID, "--output", form)
				w.ccm("", "restore", run.ID, "--noop", "--diff", "full", "--output", form)
			}
		}
		w.ccm("", "history")
		w.ccm("", "history", "--pending")
		for _, f := range []string{site, manifest} {
			for _, form := range []string{"text", "json"} {
				w.ccm("", "drift", f, "-v", "--output", form)
			}
		}
	}
	round()
	for _, s := range twenty[:18] {
		if s[0] == "env" || s[0] == "cmd" {
			continue
		}
		text, err := os.ReadFile(w.out + "/all.conf")
		require.NoError(t, err, w.printed.String())
		require.Contains(t, string(text), s[0]+" = "+s[1])
	}
	require.FileExists(t, w.out+"/vault", w.printed.String())
	look()
	w.search(w.state)

	// What the files hold is drift.
	require.NoError(t, os.WriteFile(w.out+"/all.conf", []byte("password = drifted\n"), 0o600))
	look()

	// Every secret is another one.
	before, err := os.ReadFile(w.out + "/key.pem")
	require.NoError(t, err)
	t.Setenv("COUNT", "2")
	w.secrets(other)
	round()
	after, err := os.ReadFile(w.out + "/key.pem")
	require.NoError(t, err)
	require.NotEqual(t, string(before), string(after), w.printed.String())
	look()
	w.search(w.state)

	// They go, and the files with them.
	w.write("site.lua", `for _, name in ipairs { "all.conf", "key.pem", "all.json", "vault" } do
  file { arg[1] .. "/" .. name, ensure = "absent" }
end
file { arg[1] .. "/template", content = "nothing\n", owner = "-1", group = "-1", mode = "0600" }
`)
	for _, more := range [][]string{{"plan", "-v", "--diff", "full"}, {"plan", "--output", "json", "--diff", "full"}, {"run", "-v", "--diff", "full"}} {
		_, status := w.ccm("", append(more, site, w.out)...)
		require.Equal(t, exitOK, status, w.printed.String())
	}
	look()
	for _, form := range []string{"text", "json"} {
		w.ccm("", "undo", "--noop", "--diff", "full", "--output", form)
	}
	out, status := w.ccm("", "undo", "--diff", "full")
	require.Equal(t, exitOK, status, out)
	now, err := os.ReadFile(w.out + "/key.pem")
	require.NoError(t, err)
	require.Equal(t, string(after), string(now), "what was sealed comes back as it was")
	look()
	w.search(w.state)
	require.Contains(t, w.printed.String(), "(secret ", "something was masked")
}

// Errors of scripts, the prompt, tests, single resources and programs tell no
// secrets either.
func TestSecretsInOtherPlaces(t *testing.T) {
	w := newSecretWorld(t)
	head := fmt.Sprintf("local s, q = secret.file %q, secret.file %q\n", w.dir+"/secrets/plain", w.dir+"/secrets/quotes")
	for _, script := range []string{
		`file { "/x", content = s, owner = "-1", group = "-1", mode = s }`,
		`file { "/x", content = s, owner = "-1", group = "-1", mode = "0600", [q] = 1 }`,
		`service { "x", ensure = q }`,
		`exec { "echo " .. s }`,
		`exec { "x", command = "mysql -p'" .. s .. "'" }`,
		`exec { "x", command = "true", unless = "test " .. s }`,
		`file { "/x", content = "x", owner = "-1", group = "-1", mode = "0600", validate = "check %s " .. s }`,
		`exec { "x", command = "true", health_checks = { { command = "check " .. s } } }`,
		`package { "x", ensure = s }`,
		`file { "/tmp/" .. s, ensure = "absent" }`,
		`error(s .. q)`, `error { s }`, `ccm.fail(s, q)`, `local x = s + 1`, `local x = s.nothing.more`, `assert(false, q)`, `facts[s]()`,
		`capture { "echo", s }`, `secret.cmd { "echo", s }`, `secret.cmd { "sh", "-c", "cat ` + w.dir + `/secrets/quotes >&2; exit 1" }`,
		`secret(12345)`, `secret("abc")`, `secret({ s })`, `json.decode(q .. "{")`, `yaml.decode("a: [" .. s)`, `re.match("x", "(" .. s)`,
		`template.go("{{ .nothing }}" .. s, {})`, `str.split(s)`, `net.network(s)`, `lookup(s)`, `data.load(s)`, `require(s)`, `string.rep(s, -1, {})`,
		`local t = setmetatable({}, { __index = function(t, k) error("no " .. s) end }) print(t.x)`,
		`local x = load("x = = '" .. q)() `,
		`ccm.lazy(s)`, `pcall(error, s) print(select(2, pcall(error, s)))`, `print(debug.traceback(s))`,
	} {
		w.write("bad.lua", head+script+"\n")
		for _, args := range [][]string{{"plan"}, {"plan", "--output", "json"}, {"catalog", "--output", "json"}, {"eval", head + script}} {
			if args[0] == "eval" {
				w.ccm("", args...)
				continue
			}
			w.ccm("", append(args, w.dir+"/bad.lua")...)
		}
	}
	// A literal beside a mistake of the syntax or of the static checks.
	for _, script := range []string{
		`file { "/x", content = secret("Tr0ub4dor-plain"), mdoe = }`,
		`local pw = secret "Tr0ub4dor-plain" undefined()`,
		`file { "/x", content = secret 'Tr0ub4dor-plain', mdoe = "1" }`,
	} {
		w.write("bad.lua", script+"\n")
		w.ccm("", "plan", w.dir+"/bad.lua")
		w.ccm("", "lint", w.dir+"/bad.lua")
		w.ccm("", "lint", "--output", "json", w.dir+"/bad.lua")
	}
	for _, text := range []string{
		"data: {pw: {sensitive: true, value: Tr0ub4dor-plain}}\nccm: {resources: [file: [{/x: {content: \"${ Data.pw }\", mode: \"${ Data.pw }\"}}]]}\n",
		"data: {pw: {sensitive: true, value: Tr0ub4dor-plain}, a: [}\n",
		"data: {pw: {sensitive: true, value: abc}}\nccm: {resources: []}\n",
		"data: {pw: {sensitive: true, value: Tr0ub4dor-plain}}\nccm: {resources: [exec: [{x: {command: \"echo ${ Data.pw }\"}}]]}\n",
		"data: {pw: {sensitive: true, value: Tr0ub4dor-plain}}\nccm: {resources: [exec: [{x: {command: \"${ Data.pw + 1 } ${ nothing(Data.pw) }\"}}]]}\n",
	} {
		w.write("bad.yaml", text)
		w.ccm("", "plan", w.dir+"/bad.yaml")
		w.ccm("", "data", w.dir+"/bad.yaml")
	}
	// The prompt, without a terminal.
	w.ccm("pw = secret.file('"+w.dir+"/secrets/plain')\npw\n{ a = pw, [pw] = 1 }\npw .. 1 + {}\n", "repl")
	for _, form := range []string{"lua", "json", "yaml"} {
		w.ccm("return { secret.file('"+w.dir+"/secrets/jsonish'), x = secret.file('"+w.dir+"/secrets/digits') }\n", "repl", "--output", form)
		w.ccm("", "eval", "--output", form, "{ x = secret.file('"+w.dir+"/secrets/jsonish') }")
	}
	// Tests.
	w.write("site_spec.lua", `local s = secret.file("secrets/plain")
describe("a " .. s, function()
  it("differs from " .. s, function() assert.are.equal("x", s) end)
  it("is not the same", function() assert.are.same({ a = s }, { a = "y" }) end)
  it("throws", function() error(s) end)
end)
`)
	for _, form := range []string{"text", "json", "tap", "junit"} {
		w.ccm("", "test", "--output", form, w.dir+"/site_spec.lua")
	}
	// Single resources, sessions, programs.
	sessions := t.TempDir()
	t.Setenv("CCM_SESSION_STORE", sessions)
	hierarchy := w.dir + "/data.yaml"
	expand := "pw=${ lookup('data.db.password') }\n"
	for _, form := range []string{"text", "json"} {
		for _, noop := range []string{"--noop", "--noop=false"} {
			w.ccm("", "ensure", "file", w.out+"/single-"+form, "--content", expand, "--owner", "-1", "--group", "-1", "--mode", "0600", "--data", hierarchy, "--output", form, "--diff", "full", noop)
			w.ccm("", "ensure", "file", w.out+"/single-bad-"+form, "--content", expand, "--owner", "-1", "--group", "-1", "--mode", "0600", "--data", hierarchy, "--output", form, noop, "--validate", "sh -c 'cat %s; exit 1'")
			w.ccm("", "ensure", "exec", "x", "--command", "echo ${ lookup('data.db.password') }", "--data", hierarchy, "--output", form, noop)
			w.ccm("", "ensure", "exec", "y", "--command", "sh -c 'echo $A; exit 1'", "--environment", "A=${ lookup('data.db.password') }", "--data", hierarchy, "--output", form, noop)
		}
		w.ccm("", "session", "report", "--output", form)
	}
	text, err := os.ReadFile(w.out + "/single-json")
	require.NoError(t, err, w.printed.String())
	require.Equal(t, "pw="+twenty[18][1]+"\n", string(text))
	var requests strings.Builder
	for _, mode := range []string{"0600", "${ lookup('data.db.password') }"} {
		request, err := json.Marshal(map[string]any{"protocol": requestProtocol, "type": "file", "properties": map[string]any{
			"name": w.out + "/piped", "content": expand + mode, "owner": "-1", "group": "-1", "mode": mode,
		}})
		require.NoError(t, err)
		requests.WriteString(string(request) + "\n")
	}
	w.ccm(requests.String(), "ensure", "api", "pipe", "--stream", "--data", hierarchy, "--diff", "full")
	w.ccm(strings.SplitAfter(requests.String(), "\n")[0], "ensure", "api", "pipe", "--yaml", "--data", hierarchy, "--diff", "full")
	w.search(w.state, sessions)
	require.NotContains(t, w.printed.String(), "the number 12345")
	require.NotContains(t, w.printed.String(), "Tr0ub4dor")
}

// What was typed is kept when it is known what in it is secret.
func TestSecretsAtThePrompt(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(home+"/pw", []byte("Tr0ub4dor\n"), 0o600))
	s := onScreen(t, screenOptions{home: home}, "repl", "-q")
	s.ends("ccm>")
	s.enter(`pw = secret.file "` + home + `/pw"`)
	s.ends("ccm>")
	s.enter(`pw .. "!"`)
	s.shows(`!"`)
	s.ends("ccm>")
	s.enter(`x = "a Tr0ub4dor b"`) // nothing but the value tells
	s.ends("ccm>")
	s.enter(`y = secret("another-one") z = "another-one"`)
	s.ends("ccm>")
	s.enter(`error(pw)`)
	s.shows("(secret ")
	s.ends("    | ^^^^^", "ccm>")
	s.press(ctrlD)
	require.Equal(t, 0, s.status())
	text, err := os.ReadFile(filepath.Join(home, "state", "repl_history"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "Tr0ub4dor")
	require.NotContains(t, string(text), "another-one")
	require.Regexp(t, `x = .{1,4}a \(secret [0-9a-f]{8}\) b`, string(text))
}

// That ccm is broken it says by the same way as anything else.
func TestBroken(t *testing.T) {
	isolate(t)
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs} // without a clock
	site := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(`secret "goroutine"`), 0o600))
	require.Equal(t, exitFailed, e.run(t.Context(), []string{"run", site}))
	require.Contains(t, errs.String(), "ccm is broken: ")
	require.NotContains(t, errs.String(), "goroutine")
}
