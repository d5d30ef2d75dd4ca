package module_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/module"
)

// A text that is accepted as a lock is written back byte for byte.
func FuzzLock(f *testing.F) {
	l := module.Lock{Modules: []module.LockedModule{{Name: "base", Version: "v1.0.0", Source: module.Source{Git: "https://example.org/base"}, Hash: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", Exports: []string{"base"}}}}
	f.Add(l.Text())
	f.Add([]byte(`{"format":1,"modules":[],"sum":""}`))
	f.Add((&module.Lock{}).Text())
	f.Fuzz(func(t *testing.T, text []byte) {
		lock, err := module.ParseLock("ccm.lock", text)
		if err != nil {
			return
		}
		if !bytes.Equal(lock.Text(), text) {
			t.Fatalf("%q was read, and it is written as %q", text, lock.Text())
		}
	})
}

// A ccm.mod.lua is either read, or refused with the place of the mistake; after an edit it has the new dependency.
func FuzzModFile(f *testing.F) {
	f.Add(`return { dependencies = { nginx = { version = "1.2.0", git = "https://example.org/nginx" }, } }`)
	f.Add("return {\n  name = 'a/b', -- c\n  exports = { [[b]], \"b.c\" };\n  dependencies = {},\n}")
	f.Add(`return { allow = { ["*"] = { "http" } }, signers = { a = "x" }, replace = { a = "../a" }, ccm = ">= 1, < 2" }`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := module.ParseFile("ccm.mod.lua", text)
		if err != nil {
			return
		}
		for _, name := range []string{"base", "example.org/base"} {
			more, err := file.SetDependency(name, "v1.5.0", module.Source{Git: "https://git.example.org/x"})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			again, err := module.ParseFile("ccm.mod.lua", more)
			if err != nil || again.Dependency(name).Version != "v1.5.0" {
				t.Fatalf("%q became %q: %v", text, more, err)
			}
			less, err := again.RemoveDependency(name)
			if err != nil {
				t.Fatalf("%q: %v", more, err)
			}
			if last, err := module.ParseFile("ccm.mod.lua", less); err != nil || last.Dependency(name) != nil {
				t.Fatalf("%q became %q: %v", more, less, err)
			}
		}
	})
}

// Mistakes in a ccm.mod.lua are reported with their places.
func TestModFileMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`return { nmae = "x" }`:                                                     `ccm.mod.lua:1:10: unknown key "nmae" (did you mean "name"?)`,
		`return { name = "../x" }`:                                                  `1:17: module name "../x": expected letters`,
		`return { name = "x", exports = { "y" } }`:                                  `1:34: "y" is not "x" and does not begin with "x."`,
		`return { dependencies = { x = "1" } }`:                                     `1:31: "1" is not a version`,
		`return { dependencies = { x = { git = "ext::sh" } } }`:                     `repository "ext::sh": expected`,
		`return { dependencies = { x = { version = "v1.0.0", folder = "../y" } } }`: `is not a path below this directory`,
		`return { capabilities = { "root" } }`:                                      `unknown capability "root" (available: capture, data, env, fs, http, secret`,
		`return { name = os.getenv("X") }`:                                          `1:17: expected a string, number, boolean or table, found os`,
		`return { name = "a" .. "b" }`:                                              `1:17: expected a string, number, boolean or table, found "a" .. "b"`,
		`return { name = ("a") }`:                                                   `1:17: expected a string, number, boolean or table, found ("a")`,
		`return { name = - (1) }`:                                                   `1:17: expected a string, number, boolean or table, found - (1`,
		`return { ["na" .. "me"] = "a" }`:                                           `1:11: expected a name or a string as key, found "na" .. "me"`,
		`return { [("name")] = "a" }`:                                               `1:12: expected a name or a string as key, found "name"`,
		"return { name = f(\n1) }":                                                  "1:17: expected a string, number, boolean or table, found f( (use",
		`return { name = -1 }`:                                                      `1:17: expected a text, found a number`,
		"return { name = \"a\" ":                                                    `1:20: expected a comma or } in the table that begins on line 1, got the end`,
		`return { }, { }`:                                                           `1:8: expected a table after return, found { }, { }`,
		``:                                                                          `1:1: expected return { ... }, found the end of the file`,
		`local x = 1 return { }`:                                                    `1:1: expected return { ... }, found local`,
		`return { ccm = "new" }`:                                                    `is not a version constraint:`,
		"return { name = \"a\nb\" }":                                                `1:17: expected a quote to end the string that begins here`,
		`return { name = "a", name = "b" }`:                                         `duplicate key "name"`,
	} {
		_, err := module.ParseFile("ccm.mod.lua", text)
		require.ErrorContains(t, err, want, text)
	}
}

// The nearest ccm.mod.lua above a script is found, but not one above the script's git repository, nor one in a
// directory that is world-writable.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"ccm.mod.lua": "return {}", "site/roles/web/site.lua": "", "site/.git/HEAD": ""})
	find := func(at string) *module.Site {
		s, err := module.Find(nil, dir+at, false, []string{dir}, nil)
		require.NoError(t, err)
		return s
	}
	require.Nil(t, find("/site/roles/web"), "the repository ends before it")
	write(t, dir, map[string]string{"site/ccm.mod.lua": "return {}"})
	require.Equal(t, dir+"/site", find("/site/roles/web").Dir)
	require.NoError(t, os.Remove(dir+"/site/ccm.mod.lua"))
	require.NoError(t, os.RemoveAll(dir+"/site/.git"))
	require.Equal(t, dir, find("/site/roles/web").Dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	require.Nil(t, find("/site/roles/web"), "it is world-writable")
	require.NotNil(t, find(""), "whoever runs a script there has named it")
}
