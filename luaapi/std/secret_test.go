package std_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// secretly evaluates a script and returns its output with secrets hidden, and the warnings.
func (l *lab) secretly(t testing.TB, script string) (printed string, warned []string, err error) {
	t.Helper()
	reg, err := resource.NewRegistry()
	require.NoError(t, err)
	keep := secret.New(func() ([]byte, error) { return make([]byte, secret.KeySize), nil })
	var out bytes.Buffer
	in := luaapi.New(luaapi.Options{
		Registry: reg, Builder: new(catalog.Builder), Facts: l.facts, Print: &out, Timeout: 20 * time.Second, Extend: l.Extend, Secrets: keep,
		Env: func(name string) (string, bool) {
			return map[string]string{"PW": "hunter2", "EMPTY": ""}[name], name == "PW" || name == "EMPTY"
		},
		Warn: func(_ diag.Pos, msg string) { warned = append(warned, msg) },
	})
	defer in.Close()
	err = in.Run(context.Background(), filepath.Join(l.site, "site.lua"), script)
	text := keep.Redact(strings.TrimSuffix(out.String(), "\n"))
	for {
		before, after, ok := strings.Cut(text, "(secret ")
		if !ok {
			return printed + text, warned, err
		}
		printed, text = printed+before+"#", after[9:]
	}
}

// A value derived from a secret is secret, and a value beside it is not. # stands for hidden text.
func TestDerivedSecrets(t *testing.T) {
	const head = "local s = secret('Hunter-Two77')\n"
	for script, want := range map[string]string{
		`print(s, "a" .. s .. "b", ("%q"):format(s), #s)`:                                  `#	a#b	"#"	12`,
		`print(s:upper(), s:lower(), ("x " .. s .. " y"):upper())`:                         `#	#	X # Y`,
		`print(s:reverse(), s:sub(1, 8), s:sub(3), ("%.6s|"):format(s))`:                   `#	#	#	#`,
		`print(("user=app pw=" .. s .. " port=1"):match("user=(%w+) pw=(.-) port=(%d+)"))`: `app	#	1`,
		`for w in ("alpha " .. s .. " beta"):gmatch("%S+") do print(w) end`:                "alpha\n#\nbeta",
		`for w in ("alpha " .. s .. " beta"):gmatch("%S%S%S%S%S") do print(w) end`:         "alpha\n#\n#",
		`print((s:gsub("%u", string.lower)))`:                                              `#`,
		`print((("pw=" .. s .. " and more"):gsub(".-=(.-) .*", "nothing")))`:               `nothing`,
		`local n, t = 0, {}
		setmetatable(t, { __index = function(_, w) n = n + 1 return w:upper() end })
		local text = ("u=" .. s .. " 1"):gsub("%a%a+", t)
		print(text, n)`: "u=# 1\t2",
		`local n, o = 0, {}
		setmetatable(o, { __tostring = function() n = n + 1 return "o" end })
		print(("%s %s"):format(s, o), n)`: "# o\t1",
		`print((("pw=" .. s .. " and more"):gsub("Two77", "")))`:                                                              `pw=# and more`,
		`print((s:gsub("-", "+")), s:rep(2, ","), str.replace(s, "-", "_"))`:                                                  `#	#,#	#`,
		`print(base64.encode(s), base64.encode("user:" .. s), base64.decode(base64.encode(s)))`:                               `#	dXNlcjp#c=	#`,
		`print(hash.sha256(s), hash.md5("salt" .. s), hash.hmac("sha1", s, "public text"))`:                                   `#	#	#`,
		`print(table.concat({ "a", s, "b" }, ","), json.encode({ a = s, b = "plain" }))`:                                      `a,#,b	{"a":"#","b":"plain"}`,
		`print(unpack(str.split("public:" .. s .. ":also public", ":")))`:                                                     `public	#	also public`,
		`print(unpack(str.lines("one line\ntwo " .. s .. "\nthree lines")))`:                                                  `one line	two #	three lines`,
		`local t = { name = "plain", pw = s } print(tbl.get(t, "name"), tbl.get(t, "pw"), inspect(tbl.keys(t)))`:              "plain	#	{ \"name\", \"pw\" }",
		`print(template.go("{{ .name }} is public", { name = "this", pw = s }))`:                                              `this is public`,
		`print(template.go("pw {{ .pw }} {{ printf \"%x\" .pw }}", { pw = s }), template.jet("[[ upper(pw) ]]", { pw = s }))`: `pw # #	#`,
		`print(template.expand("${ pw } ${ upper(pw) }", { pw = s }))`:                                                        `# #`,
		`local t = json.decode('{"a": "' .. s .. '", "b": "public"}') print(t.a, t.b)`:                                        `#	public`,
		`print(yaml.encode({ a = s, list = { s } }))`:                                                                         "a: #\nlist:\n  - #\n",
		`print(str.shell_quote({ "echo", s .. " it's" }))`:                                                                    `echo '# it'\''s'`,
		`local _, err = pcall(error, { s }) print(err[1]) print(select(2, pcall(error, s, 0)))`:                               "#\n#",
		`local seen = 0 tbl.map({ s }, function(v) seen = seen + 1 return v .. "!" end) print(seen)`:                          `1`,
		`print(net.join_host_port(s, 80), path.join("/a", s), version.compare("1", "2"))`:                                     `#:80	/a/#	-1`,
	} {
		got, _, err := newLab(t).secretly(t, head+script)
		require.NoError(t, err, script)
		if want != got {
			t.Errorf("%s\nexpected %q\n got %q", script, want, got)
		}
	}
}

// Without secrets nothing is hidden, and there is no cost.
func TestNoSecrets(t *testing.T) {
	got, _, err := newLab(t).secretly(t, `print(("Hunter"):upper(), base64.encode("Hunter-Two"))`)
	require.NoError(t, err)
	require.Equal(t, "HUNTER	SHVudGVyLVR3bw==", got)
}

func TestSecretSources(t *testing.T) {
	l := newLab(t)
	put := func(name, text string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(filepath.Join(l.site, name), []byte(text), mode))
	}
	put("key", "hunter2\r\n\n", 0o640)
	put("open", "hunter2\n", 0o644)
	put("short", "abc\n", 0o600)
	put("empty", "\n", 0o600)
	for _, tt := range []struct{ script, want, err, warned string }{
		{script: `print(secret "hunter2", #secret("hunter2"))`, want: "#	7"},
		{script: `print(secret.env "PW")`, want: "#"},
		{script: `print(secret.file "key", #secret.file "key")`, want: "#	7"},
		{script: `print(secret.file "open")`, want: "#", warned: "secret.file: " + l.site + "/open is world-readable (mode 0644)"},
		{script: `print(secret.cmd "printf hunter2\\n")`, want: "#"},
		{script: `print(secret.cmd { "cat", stdin = "hunter2\n" })`, want: "#"},
		{script: `secret("")`, err: "secret: it is empty"},
		{script: `secret("abc")`, err: "secret: it has less than 4 bytes, and masking it would mask other text (use a longer secret)"},
		{script: `secret("      ")`, err: "secret: it contains only white space"},
		{script: `secret(12345)`, err: "secret: expected a string, got a number (quote it)"},
		{script: `secret { "hunter2" }`, err: "secret: expected a string, got a table"},
		{script: `secret.env "NOTHING"`, err: "secret.env: the variable NOTHING is not set (export it, or set it in the service that runs ccm)"},
		{script: `secret.env "EMPTY"`, err: "secret.env: the variable EMPTY is empty"},
		{script: `secret.file "nothing"`, err: "secret.file: no file " + l.site + "/nothing"},
		{script: `secret.file "short"`, err: "secret.file: it has less than 4 bytes, and masking it would mask other text (use a longer secret)"},
		{script: `secret.file "empty"`, err: "secret.file: it is empty"},
		{script: `secret.cmd "true"`, err: "secret.cmd: true: empty output"},
		{script: `secret.cmd { "sh", "-c", "echo hunter2; exit 3" }`, err: "secret.cmd: sh -c 'echo hunter2; exit 3': exit status 3"},
		{script: `secret.cmd { "sh", "-c", "echo why >&2; exit 3" }`, err: "secret.cmd: sh -c 'echo why >&2; exit 3': exit status 3: why"},
		{script: `secret.vault "x"`, err: `secret: unknown name "vault"`},
	} {
		got, warned, err := l.secretly(t, tt.script)
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, tt.script)
			continue
		}
		require.NoError(t, err, tt.script)
		require.Equal(t, tt.want, got)
		require.Equal(t, tt.warned, strings.Join(warned, ""))
	}
	// The inputs are recorded without anything that reveals their content.
	l.inputs = nil
	_, _, err := l.secretly(t, `secret.file "key" secret.cmd "printf hunter2"`)
	require.NoError(t, err)
	require.Equal(t, []std.Input{{Kind: "file", Name: l.site + "/key", Secret: true}, {Kind: "command", Name: "printf hunter2", Secret: true}}, l.inputs)
}
