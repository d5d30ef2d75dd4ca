package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/manifest"
)

// Twenty secrets are used by every command and output format; none of them appears in any output, and the managed
// files have them.
func TestTwentySecrets(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a hundred commands: make test-all")
	}
	w := newSecretWorld(t)
	site, manifest := w.dir+"/site.lua", w.dir+"/site.yaml"
	round := func() {
		for _, f := range []string{site, manifest} {
			for _, more := range [][]string{
				{"plan", "-v"}, {"plan", "-v", "--output", "json"}, {"plan", "--diff", "full", "--debug"}, {"plan", "-q"},
				{"run", "--noop", "--diff", "full", "--output", "json", "-v"}, {"catalog"}, {"catalog", "--output", "json"}, {"catalog", "--output", "dot"},
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
		require.Greater(t, strings.Count(list, "\n"), 2, list)
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
				w.ccm("", "undo", run.ID, "--noop", "--diff", "full", "--output", form)
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

	// The content of the files drifts.
	require.NoError(t, os.WriteFile(w.out+"/all.conf", []byte("password = drifted\n"), 0o600))
	look()

	// All secrets change.
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

	// The secrets and their files are removed.
	w.write("site.lua", `for _, name in ipairs { "all.conf", "key.pem", "all.json", "vault" } do
  file { arg[1] .. "/" .. name, ensure = "absent" }
end
file { arg[1] .. "/template", content = "nothing\n", owner = "-1", group = "-1", mode = "0600" }
`)
	for _, more := range [][]string{{"plan", "-v", "--diff", "full"}, {"plan", "--output", "json", "--diff", "full"}, {"run", "-v", "--diff", "full"}} {
		_, status := w.ccm("", append(more, site, w.out)...)
		require.Equal(t, cli.ExitOK, status, w.printed.String())
	}
	look()
	for _, form := range []string{"text", "json"} {
		w.ccm("", "undo", "--noop", "--diff", "full", "--output", form)
	}
	out, status := w.ccm("", "undo", "--diff", "full")
	require.Equal(t, cli.ExitOK, status, out)
	now, err := os.ReadFile(w.out + "/key.pem")
	require.NoError(t, err)
	require.Equal(t, string(after), string(now), "what was sealed comes back as it was")
	look()
	w.search(w.state)
	require.Contains(t, w.printed.String(), "(secret ", "something was masked")
}

// Errors of scripts, the prompt, tests, single resources and programs do not contain secrets either.
func TestSecretsInOtherPlaces(t *testing.T) {
	long(t)
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
	// A literal secret beside a mistake in syntax or in static checks.
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
		request, err := json.Marshal(map[string]any{"protocol": manifest.RequestProtocol, "type": "file", "properties": map[string]any{
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

// The history is written once it is known which parts of the input are secret.
func TestSecretsAtThePrompt(t *testing.T) {
	needPTY(t)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(home+"/pw", []byte("Tr0ub4dor\n"), 0o600))
	s := onScreen(t, screenOptions{home: home}, "repl", "-q")
	s.ends("ccm>")
	s.enter(`pw = secret.file(env.HOME .. "/pw")`) // short enough for one line, wherever the directory is
	s.ends("ccm>")
	s.enter(`pw .. "!"`)
	s.shows(`!"`)
	s.ends("ccm>")
	s.enter(`x = "a Tr0ub4dor b"`) // only the value shows that it is a secret
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

// A crash of ccm is reported through the same writer as other messages.
func TestBroken(t *testing.T) {
	isolate(t)
	var out, errs bytes.Buffer
	e := newEnv(strings.NewReader(""), &out, &errs, nil) // without a clock, which causes the crash
	site := filepath.Join(t.TempDir(), "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(`secret "goroutine"`), 0o600))
	require.Equal(t, cli.ExitFailed, run(t.Context(), e, []string{"run", site}))
	require.Contains(t, errs.String(), "internal error in ccm: ")
	require.NotContains(t, errs.String(), "goroutine")
}
