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

// TestSecretsAreDecryptedLazily: of 100 encrypted values those are decrypted that are needed, each once, with
// one read of the identity; none for a target that needs none.
func TestSecretsAreDecryptedLazily(t *testing.T) {
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
	} {
		args := append([]string{c.args[0]}, append(c.args[1:], "--root", filepath.Join(dir, "root"))...)
		args[1] = filepath.Join(dir, args[1])
		if args[0] == "data" {
			args = args[:2]
		}
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "root"), 0o755))
		var out bytes.Buffer
		e := newEnv(strings.NewReader(""), &out, &out, clock)
		require.Zero(t, e.run(context.Background(), args), out.String())
		require.Equal(t, c.decrypted, e.Decrypter().Decrypted(), "%q: %s", c.args, out.String())
		require.Equal(t, c.read, e.Decrypter().Identities.Reads(), "%q", c.args)
		require.NotContains(t, out.String(), "hunter")
	}
}
