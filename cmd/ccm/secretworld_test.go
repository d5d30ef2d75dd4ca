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

// twenty are secrets of many kinds, by the names under which the site reads them.
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

// other returns another secret of the same kind.
func other(s string) string {
	if strings.HasPrefix(s, "https://") {
		return strings.ReplaceAll(s, "s3cr3t", "4n0th3r")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("-", r): // of a PEM key
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

// A secretWorld is a site with secrets, and all output of its commands.
type secretWorld struct {
	t       *testing.T
	dir     string // directory of the site
	out     string // directory of managed files
	state   string
	printed bytes.Buffer
	values  []string // all values so far
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

// secrets sets the values of all secrets.
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

// ccm runs a command and keeps its output.
func (w *secretWorld) ccm(stdin string, args ...string) (string, int) {
	var out, errs bytes.Buffer
	e := newEnv(strings.NewReader(stdin), &out, &errs, hosttest.Clock{})
	status := run(w.t.Context(), e, args)
	fmt.Fprintf(&w.printed, "\n$ ccm %s\n%s\n2> %s\n", strings.Join(args, " "), out.String(), errs.String())
	if out.Len() > 0 {
		for _, a := range args {
			if a == "json" {
				dec := json.NewDecoder(bytes.NewReader(out.Bytes()))
				for dec.More() {
					var v any
					require.NoError(w.t, dec.Decode(&v), "%s: %s", strings.Join(args, " "), out.String())
				}
			}
		}
	}
	return out.String() + errs.String(), status
}

// search fails if a secret, also in its form in JSON or base64, is in the output or in a file below the directories,
// compressed or not.
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
