package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/encryption"
)

// TestSecretsAreDecryptedLazily: of 100 encrypted values only the needed ones are decrypted, each once, with one read
// of the identity; none for a target that needs none.
func TestSecretsAreDecryptedLazily(t *testing.T) {
	long(t)
	dir := t.TempDir()
	identity, public, err := encryption.NewIdentity("today")
	require.NoError(t, err)
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("key", identity)
	write(".ccm/recipients", "ann "+public+"\n")
	r, err := encryption.ReadRecipients("r", "ann "+public+"\n")
	require.NoError(t, err)
	to, err := r.Audience()
	require.NoError(t, err)

	var plainYAML, plainLua strings.Builder
	plainYAML.WriteString("data:\n")
	plainLua.WriteString("return secret.values {\n")
	for i := range 100 {
		fmt.Fprintf(&plainYAML, "  s%d: DEC[hunter%d-yaml]\n", i, i)
		value, err := encryption.EncryptValue(fmt.Sprintf("hunter%d-lua", i), to, encryption.Place{File: "values.lua", Key: fmt.Sprint("s", i)})
		require.NoError(t, err)
		fmt.Fprintf(&plainLua, "  s%d = %q,\n", i, value)
	}
	plainLua.WriteString("}\n")
	sealed, keys, err := encryption.Close(encryption.SyntaxOf("x.yaml"), filepath.Join(dir, "hiera.yaml"), plainYAML.String(), nil,
		func(string) (*encryption.Audience, error) { return to, nil })
	require.NoError(t, err)
	require.Len(t, keys, 100)
	write("hiera.yaml", sealed)
	write("values.lua", plainLua.String())
	whole, err := encryption.Encrypt([]byte("hunter-file"), to, false)
	require.NoError(t, err)
	write("whole.age", string(whole))
	attributes := fmt.Sprintf(`owner = "%d", group = "%d", mode = "0600"`, os.Geteuid(), os.Getegid())
	write("few.lua", `
data.load "hiera.yaml"
local values = require "values"
file { "/a", content = data.s7 .. data.s7 .. data.s93, `+attributes+` }
file { "/b", content = template.jet("[[ 1 ]]") .. lookup("data.s7"), `+attributes+` }
`)
	write("lua.lua", `local values = require "values"
file { "/a", content = values.s7 .. values.s93 .. values.s7, `+attributes+` }`)
	write("none.lua", `data.load "hiera.yaml"
local values = require "values"
file { "/a", content = "x", `+attributes+` }
file { "/e", source = "whole.age", `+attributes+` }
file { "/c", source = "whole.age", `+attributes+` }
file { "/d", content = ccm.lazy(function() return data.s7 end), `+attributes+` }`)
	write("part.jet", "[[ .s3 ]]")
	write("main.jet", `[[ data.s7 ]] [[ isset(data.s8) ]] [[ x := data ]][[ x.s9 | upper ]] [[ if false ]][[ data.s10 ]][[ end ]]
[[ default(data.s11, "x") ]] [[ data.nothing | default: "x" ]] [[ include "part.jet" data ]] [[ data["s7"] + "!" ]]
[[ range name, value := data ]][[ if name == "s13" ]][[ value ]][[ end ]][[ end ]] [[ data.s14 == "hunter14-yaml" ? "same" : data.s15 ]]`)
	write("jet.lua", `data.load "hiera.yaml"
local text = template.render("main.jet", {})
for _, n in ipairs { 7, 11, 3, 13 } do assert(text:find("hunter" .. n .. "-yaml", 1, true), text) end
assert(text:find("true HUNTER9-YAML", 1, true) and text:find("hunter7-yaml!", 1, true) and text:find("same", 1, true), text)
`)
	write("jetall.lua", `data.load "hiera.yaml"
template.jet("[[ json(data) ]]")`)
	write("go.lua", `data.load "hiera.yaml"
local text = template.go [[{{ data.s7 }} {{ data.s9 | upper }} {{ if eq data.s11 "hunter11-yaml" }}same{{ end }}]]
assert(text == "hunter7-yaml HUNTER9-YAML same", text)`)
	write("expressions.lua", `data.load "hiera.yaml"
assert(template.expand "${ data.s7 } {{ data.s9 }}" == "hunter7-yaml hunter9-yaml")`)
	write("tree/a.conf", "{{ .data.s7 }} {{ lookup \"data.s7\" }}")
	write("tree/b.conf", "{{ $d := .Data.s9 }}{{ $d }} and the data of the rest")
	write("jettree/a.conf", "[[ data.s7 ]] [[ .Data.s9 ]]")
	write("scaffold.lua", `data.load "hiera.yaml"
scaffold { "/go", source = "tree", engine = "go" }`)
	write("jetscaffold.lua", `data.load "hiera.yaml"
scaffold { "/jet", source = "jettree", engine = "jet" }`)
	write("document.toml", "when = 2026-01-02\n[db]\nname = \"app\"\n"+func() string {
		var lines strings.Builder
		for i := range 3 {
			value, err := encryption.EncryptValue(fmt.Sprintf("hunter%d-toml", i), to, encryption.Place{File: "document.toml", Key: fmt.Sprint("db.s", i)})
			require.NoError(t, err)
			fmt.Fprintf(&lines, "s%d = %q\n", i, value)
		}
		return lines.String()
	}())
	write("toml.lua", `local d = data.read "document.toml"
assert(d.db.s1 == "hunter1-toml" and d.db.name == "app" and d.when == "2026-01-02")`)
	t.Setenv(encryption.IdentityFileVariable, filepath.Join(dir, "key"))
	t.Setenv("CCM_STATE_DIR", filepath.Join(dir, "state"))
	for _, c := range []struct {
		args            []string
		decrypted, read int
	}{
		{[]string{"plan", "few.lua"}, 2, 1},
		{[]string{"run", "few.lua"}, 2, 1},
		{[]string{"plan", "lua.lua"}, 2, 1},
		{[]string{"plan", "none.lua", "--target", "file#/a"}, 0, 0},
		{[]string{"plan", "none.lua", "--target", "file#/e"}, 1, 1},
		{[]string{"run", "none.lua"}, 2, 1},
		{[]string{"plan", "none.lua", "--target", "file#/e"}, 1, 1},
		{[]string{"data", "hiera.yaml"}, 0, 0},
		{[]string{"plan", "jet.lua"}, 6, 1},
		{[]string{"plan", "jetall.lua"}, 100, 1},
		{[]string{"plan", "go.lua"}, 3, 1},
		{[]string{"plan", "expressions.lua"}, 2, 1},
		{[]string{"run", "scaffold.lua"}, 2, 1},
		{[]string{"run", "jetscaffold.lua"}, 2, 1},
		{[]string{"plan", "toml.lua"}, 1, 1},
	} {
		args := append([]string{c.args[0]}, append(c.args[1:], "--root", filepath.Join(dir, "root"))...)
		args[1] = filepath.Join(dir, args[1])
		if args[0] == "data" {
			args = args[:2]
		}
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "root"), 0o755))
		var out bytes.Buffer
		e := newEnv(strings.NewReader(""), &out, &out, clock)
		require.Zero(t, run(context.Background(), e, args), out.String())
		require.Equal(t, c.decrypted, e.Decrypter().Decrypted(), "%q: %s", c.args, out.String())
		require.Equal(t, c.read, e.Decrypter().Identities.Reads(), "%q", c.args)
		require.NotContains(t, out.String(), "hunter")
	}
	for file, want := range map[string]string{
		"go/a.conf": "hunter7-yaml hunter7-yaml", "go/b.conf": "hunter9-yaml and the data of the rest", "jet/a.conf": "hunter7-yaml hunter9-yaml",
	} {
		text, err := os.ReadFile(filepath.Join(dir, "root", file))
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimSpace(string(text)), file)
	}
}
