package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/module"
)

// writeModuleSite makes a site with modules in vendor, by their names. Each is one file; a first line "-- needs:
// capture" declares that capability.
func writeModuleSite(t testing.TB, allow string, modules map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	put := func(name, text string) {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	var lock module.Lock
	asked := ""
	for name, text := range modules {
		m := module.LockedModule{Name: name, Version: "v1.0.0", Source: module.Source{Git: "https://git.example.org/" + name}, Tag: "v1.0.0", Exports: []string{name}}
		if needs, ok := strings.CutPrefix(strings.SplitN(text, "\n", 2)[0], "-- needs: "); ok {
			m.Capabilities = strings.Fields(needs)
		}
		put("vendor/"+name+"/ccm.mod.lua", fmt.Sprintf("return { name = %q, exports = { %q } }\n", name, name))
		put("vendor/"+name+"/"+name+".lua", text)
		put("vendor/"+name+"/private.lua", "return { private = true }\n")
		var err error
		m.Hash, err = module.HashDir(filepath.Join(dir, "vendor", name))
		require.NoError(t, err)
		lock.Modules = append(lock.Modules, m)
		asked += fmt.Sprintf("[%q] = { version = \"v1.0.0\", git = \"https://git.example.org/%s\" }, ", name, name)
	}
	put("ccm.mod.lua", fmt.Sprintf("return { dependencies = { %s }, allow = { %s } }\n", asked, allow))
	put("ccm.lock", string(lock.Text()))
	put("lib/ofsite.lua", "return 1\n")
	return dir
}

// The code of a module has only the sandbox, unless it declares a capability and the site allows it, by any way of
// access.
func TestModulesAreConfined(t *testing.T) {
	isolate(t)
	denied := `but does not declare capability "capture"`
	for code, want := range map[string]string{
		`return capture { "echo", "x" }`: denied,
		`return _G.capture`:              denied,
		`return rawget(_G, "table") == table and rawget(_G, "file") ~= nil`:                                     "true",
		`local n = 0 for k in pairs(_G) do if k == "capture" then error "seen" end n = n + 1 end return n > 30`: "true",
		`return _G._G == _G and _G.string == string`:                                                            "true",
		`return rawget(_G, "capture")`:                                                                          "nil",
		`return load("return capture")()`:                                                                       denied,
		`return loadstring("return capture")()`:                                                                 denied,
		`return require "std.capture"`:                                                                          denied,
		`return pcall(require, "std.capture")`:                                                                  "false",
		`return (coroutine.wrap(require)("std.capture"))`:                                                       "Lua function expected",
		`return select(2, xpcall(function() error("std.capture", 0) end, require))`:                             "capability",
		`return package.loaded`:                                                                                 "nil",
		`return package.preload`:                                                                                "nil",
		`return getmetatable("")`:                                                                               "nil",
		`return getmetatable(_G)`:                                                                               "false",
		`string.format = nil return 1`:                                                                          "1",
		`return fs.read "/etc/hostname"`:                                                                        `capability "fs"`,
		`return template.render("/etc/hostname", {}, { engine = "go" })`:                                        "a module cannot read files of others",
		`return template.render("../other/other.lua", {}, { engine = "go" })`:                                   "a module cannot read files of others",
		`return template.expand("${ readFile('/etc/hostname') }")`:                                              `capability "fs"`,
		`return template.go("{{ env.HOME }}")`:                                                                  "HOME",
		`return template.render("private.lua", {}, { engine = "go" }):match "private"`:                          "private",
		`return env.HOME`:                                                                                       `capability "env"`,
		`return data.x`:                                                                                         `capability "data"`,
		`return lookup("data.x", 5)`:                                                                            `capability "data"`,
		`return secret.env "HOME"`:                                                                              `capability "secret"`,
		`return http.get "http://localhost/"`:                                                                   `capability "http"`,
		`return require "ofsite"`:                                                                               "not found in m",
		`return require "other"`:                                                                                "module other is not a dependency of m",
		`return require("private").private`:                                                                     "true",
		`return require("std.link") ~= nil`:                                                                     "true",
		`return handed()`:                                                                                       `undefined global "handed"`,
		`file { "/etc/x", content = "y", owner = "root", group = "root", mode = "0644" } return facts.os.family ~= nil`: "true",
		`package { "x" } return 1`: "1",
	} {
		t.Run(code, func(t *testing.T) {
			dir := writeModuleSite(t, "", map[string]string{"m": "return function() " + code + " end\n", "other": "return 1\n"})
			script := filepath.Join(dir, "site.lua")
			require.NoError(t, os.WriteFile(script, []byte(`print(require "m"())`), 0o644))
			_, stderr, _ := ccm(t, nil, "catalog", script)
			require.Contains(t, stderr, want)
			require.NotContains(t, stderr, "internal error")
		})
	}
	// The capability is declared, and allowed or not; and the site passes the function as an argument.
	text := "-- needs: capture\nreturn { own = function() return capture({ \"echo\", \"mine\" }) end, call = function(f) return f() end }\n"
	for allow, want := range map[string]string{"": `but the site does not allow it capability "capture"`, `m = { "capture" }`: "mine"} {
		dir := writeModuleSite(t, allow, map[string]string{"m": text})
		script := filepath.Join(dir, "site.lua")
		require.NoError(t, os.WriteFile(script, []byte(`print(require("m").own())`), 0o644))
		_, stderr, _ := ccm(t, nil, "catalog", script)
		require.Contains(t, stderr, want)
		require.NoError(t, os.WriteFile(script, []byte(`print(require("m").call(function() return capture { "echo", "handed" } end))`), 0o644))
		_, stderr, _ = ccm(t, nil, "catalog", script)
		require.Contains(t, stderr, "handed")
	}
}

// manyModules makes a site with 100 modules of a few files each.
func manyModules(t testing.TB) (dir, all string) {
	modules := make(map[string]string)
	for i := range 100 {
		name := fmt.Sprintf("m%02d", i)
		modules[name] = "return {}\n"
		all += fmt.Sprintf("require %q\n", name)
	}
	return writeModuleSite(t, "", modules), all
}

// BenchmarkLockedModules plans an empty site with 100 locked modules: without a require, with one, and with all.
// "plain" requires 100 files of the site instead, which need no verification: the difference to "all" is the cost of
// modules. It waits first until the files are old enough for the cache of hashes.
func BenchmarkLockedModules(b *testing.B) {
	dir, all := manyModules(b)
	plain := b.TempDir()
	for i := range 100 {
		require.NoError(b, os.WriteFile(filepath.Join(plain, fmt.Sprintf("m%02d.lua", i)), []byte("return {}\n"), 0o644))
	}
	b.Setenv("CCM_CACHE_DIR", b.TempDir())
	require.NoError(b, os.MkdirAll(os.Getenv("CCM_CACHE_DIR")+"/modules", 0o755))
	b.Setenv("CCM_STATE_DIR", b.TempDir())
	program := filepath.Join(b.TempDir(), "ccm")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(b, err, "%s", out)
	time.Sleep(2500 * time.Millisecond)
	for _, x := range []struct{ name, dir, text string }{{"none", dir, ""}, {"one", dir, `require "m00"`}, {"all", dir, all}, {"plain", plain, all}} {
		script := filepath.Join(x.dir, x.name+".lua")
		require.NoError(b, os.WriteFile(script, []byte(x.text), 0o644))
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				out, err := exec.Command(program, "run", script).CombinedOutput()
				require.NoError(b, err, "%s", out)
			}
		})
	}
}

// Processes that get the same modules into one cache at once all find them complete and equal.
func TestModulesGotAtOnce(t *testing.T) {
	long(t)
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	s := newShell(t)
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755))
		s.write(name, text)
	}
	git := func(dir string, args ...string) {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=ann", "-c", "user.email=ann@example.org"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	get := []string{"mod", "get"}
	const modules, processes = 4, 4
	for i := range modules {
		name := fmt.Sprintf("m%d", i)
		put(name+"/ccm.mod.lua", fmt.Sprintf("return { name = %q, exports = { %q } }\n", name, name))
		put(name+"/lib/"+name+".lua", fmt.Sprintf("return %d\n", i))
		repo := filepath.Join(s.dir, name)
		git(repo, "init", "-q")
		git(repo, "add", "-A")
		git(repo, "commit", "-q", "-m", "v1.0.0")
		git(repo, "tag", "v1.0.0")
		get = append(get, "file://"+repo)
	}
	cache := filepath.Join(s.dir, "one-cache")
	var all sync.WaitGroup
	for i := range processes {
		dir := fmt.Sprintf("site%d", i)
		put(dir+"/site.lua", "print(\"the sum is \" .. require \"m0\" + require \"m1\" + require \"m2\" + require \"m3\")\n")
	}
	locks := make([]string, processes)
	failures := make([]error, processes)
	for i := range processes {
		all.Go(func() {
			dir := filepath.Join(s.dir, fmt.Sprintf("site%d", i))
			for _, args := range [][]string{{"mod", "init"}, get, {"mod", "verify"}, {"catalog", "site.lua"}} {
				c := exec.Command("ccm", args...)
				c.Dir, c.Env = dir, append(os.Environ(), "CCM_CACHE_DIR="+cache, "CCM_STATE_DIR="+filepath.Join(dir, "state"), "GIT_CONFIG_GLOBAL=/dev/null")
				out, err := c.CombinedOutput()
				if err == nil && args[0] == "catalog" && !strings.Contains(string(out), "the sum is 6") {
					err = errors.New("the modules say something else")
				}
				if err != nil {
					failures[i] = fmt.Errorf("%s in %s: %w\n%s", args, dir, err, out)
					return
				}
			}
			text, err := os.ReadFile(filepath.Join(dir, "ccm.lock"))
			locks[i], failures[i] = string(text), err
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
	for _, lock := range locks {
		require.Equal(t, locks[0], lock)
	}
	trees, err := os.ReadDir(filepath.Join(cache, "modules", "h1"))
	require.NoError(t, err)
	require.Len(t, trees, modules)
	left, err := os.ReadDir(filepath.Join(cache, "modules", "tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}
