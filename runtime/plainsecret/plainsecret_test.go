package plainsecret_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/plainsecret"
)

// The tokens are put together at run time, so that secret scanners do not report this file.
var (
	ageKey = "AGE-SECRET-" + "KEY-1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQS"
	pemKey = "-----BEGIN OPENSSH " + "PRIVATE KEY-----"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		file, line string
		kind       string // "" if nothing is reported
		part       string // the reported part of the text
	}{
		{"id", pemKey, "a private key", pemKey},
		{"id", "-----BEGIN PUBLIC KEY-----", "", ""},
		{"key.txt", ageKey, "a private key of age", ageKey},
		{"a.lua", `local key = "` + "AKIA" + `IOSFODNN7EXAMPLE"`, "an access key of AWS", "AKIA" + "IOSFODNN7EXAMPLE"},
		{"a.lua", `url = "https://ann:hunter22@example.org/x"`, "a password in a URL", "hunter22"},
		{"a.lua", `url = "https://ann:${password}@example.org/x"`, "", ""},
		{"a.lua", `url = "https://example.org:8080/@x"`, "", ""},
		{"a.lua", `  password = "hunter22",`, "a plain secret", `"hunter22"`},
		{"a.lua", `["db_password"] = 'hunter22',`, "a plain secret", `'hunter22'`},
		{"a.lua", `file { "/etc/key: 1", x = "café: y", db = { ["password"] := "hunter22" } }`, "a plain secret", `"hunter22"`},
		{"a.lua", `é.Api_Key="hunter22", secret = { "x" }`, "", ""},
		{"a.lua", `é Api_Key="hunter22", secret = { "x" }`, "a plain secret", `"hunter22"`},
		{"a.lua", `x = sensitive, é{secret("hunter22")}`, "a plain secret", `"hunter22"`},
		{"a.lua", `password = data.db.password`, "", ""},
		{"a.lua", `password = secret.env "DB_PASSWORD"`, "", ""},
		{"a.lua", `-- password = "hunter22"`, "", ""},
		{"a.lua", `password = "hunter22" -- ccm: ignore`, "", ""},
		{"a.lua", `password_file = "hunter22"`, "", ""},
		{"a.yaml", `  db_password: hunter22`, "a plain secret", "hunter22"},
		{"a.yaml", `  db_password: ENC[age,AAAA]`, "", ""},
		{"a.yaml", `  db_password: "{{ lookup('data.x') }}"`, "", ""},
		{"a.yaml", `  password:`, "", ""},
		{"a.yaml", `  pin: !secret hunter22`, "a plain secret", "hunter22"},
		{"a.yaml", `  pin: {sensitive: true, value: hunter22}`, "a plain secret", "hunter22"},
		{"a.yaml", `  pin: !secret ENC[age,AAAA]`, "", ""},
		{"a.lua", `local pw = secret "hunter22"`, "a plain secret", `"hunter22"`},
		{"a.lua", `local pw = secret.env "HUNTER22"`, "", ""},
		{"a.json", `{"apiKey": "0123456789abcdef"}`, "a plain secret", `"0123456789abcdef"`},
		{"a.env", `export API_TOKEN=0123456789abcdef`, "a plain secret", "0123456789abcdef"},
		{"a.go", `token := next`, "", ""},
		{"README.md", `password: hunter22`, "", ""},
		{"shadow", "ann:$6$saltsalt$" + strings.Repeat("ab", 43) + ":1::::", "a password hash", "$6$saltsalt$" + strings.Repeat("ab", 43)},
	} {
		found := plainsecret.Text(c.file, "first line\n"+c.line+"\n")
		if c.kind == "" {
			require.Empty(t, found, c.line)
			continue
		}
		require.Len(t, found, 1, c.line)
		f := found[0]
		require.Equal(t, c.kind, f.Kind, c.line)
		require.Equal(t, 2, f.Line)
		require.Equal(t, c.part, c.line[f.Column-1:f.Column-1+f.Length])
		require.NotContains(t, f.String(), strings.Trim(c.part, `"'`), "a finding does not tell the secret")
	}
}

func TestScan(t *testing.T) {
	tree := fstest.MapFS{
		"site.lua":        {Data: []byte("password = \"hunter22\"\n")},
		"keys/host":       {Data: []byte(pemKey + "\n")},
		"keys/host.age":   {Data: []byte("age-encryption.org/v1\n-> X25519 abc\npassword = \"hunter22\"\n")},
		"left":            {Data: []byte("hush\n")},
		"left.age":        {Data: []byte("age-encryption.org/v1\n-> X25519 abc\n")},
		".git/config":     {Data: []byte("url = https://ann:hunter22@example.org\n")},
		"drafts/site.lua": {Data: []byte("password = \"hunter22\"\n")},
		"image":           {Data: []byte("\x00\x01password = \"hunter22\"\n")},
	}
	found, err := plainsecret.Scan(tree, func(path string, dir bool) bool { return dir && path == "drafts" })
	require.NoError(t, err)
	var files []string
	for _, f := range found {
		files = append(files, f.File)
	}
	require.Equal(t, []string{"keys/host", "left", "site.lua"}, files)
	require.Equal(t, "this looks like the plain text of left.age", found[1].Message())
}

// TestLinksAreNotFollowed: a file outside the tree is not read through a link.
func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.lua")
	require.NoError(t, os.WriteFile(outside, []byte("password = \"hunter22\"\n"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "site.lua")))
	found, err := plainsecret.Scan(os.DirFS(dir), nil)
	require.NoError(t, err)
	require.Empty(t, found)
}
