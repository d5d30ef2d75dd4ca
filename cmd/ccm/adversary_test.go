package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// scriptsAmongUsers are scripts that root runs while a user exchanges files in HOME. Each call may fail; the script
// goes on.
var scriptsAmongUsers = map[string]string{
	"copy of a directory into the home": `
		local directory = require "std.directory"
		for _, at in ipairs { "dir/dir", "dir" } do
			directory { "HOME/" .. at, source = "SITE/files", owner = "UID", group = "UID", mode = "0644", dir_mode = "0755", exclude = { ".*" }, purge = at == "dir" }
		end`,
	"copy of a directory of the home": `
		local directory = require "std.directory"
		directory { "SITE/copy", source = "HOME/dir", exclude = { ".*" }, purge = true }
		directory { "SITE/below", source = "HOME/dir/dir", exclude = { ".*" }, purge = true }`,
	"attributes of all in a directory": `
		local directory = require "std.directory"
		directory { "HOME/dir/dir", recurse = true, owner = "UID", group = "UID", mode = "u=rwX,go=rX" }
		directory { "HOME/dir", recurse = true, owner = "UID", group = "UID", mode = "0644", dir_mode = "0755" }`,
	"edits of lines": `
		local line, block, kv, ini, replace = require "std.line", require "std.block", require "std.kv", require "std.ini", require "std.replace"
		for _, p in ipairs { "f", "dir/f", "dir/secret", "dir/dir/f" } do
			local create = { mode = "0644", owner = "UID", group = "UID" }
			line { "line " .. p, path = "HOME/" .. p, line = "more", create = create }
			block { "block " .. p, path = "HOME/" .. p, content = "lines", create = create }
			kv { "key " .. p, path = "HOME/" .. p, key = "key", value = "x", create = create }
			ini { "ini " .. p, path = "HOME/" .. p, section = "s", key = "key", value = "x", create = create }
			replace { "replace " .. p, path = "HOME/" .. p, match = "mine|old", replacement = "x" }
		end`,
	"what is no longer declared": `
		if not arg[1] then
			local link = require "std.link"
			for _, p in ipairs { "f", "dir/f", "dir/dir/f", "dir/dir", "dir" } do
				file { "HOME/" .. p .. "/new", content = "new", mode = "0644", owner = "UID", group = "UID" }
				file { "HOME/" .. p .. "/newdir", ensure = "directory", mode = "0755", owner = "UID", group = "UID" }
				link { "HOME/" .. p .. "/newlink", target = "new" }
			end
		end`,
	"removal of a directory": `
		local directory = require "std.directory"
		directory { "HOME/dir/dir", ensure = "absent" }
		directory { "HOME/dir", ensure = "absent" }`,
	"host": `
		local t = ccm.type {
			name = "among", properties = { name = { name = true }, ensure = { default = "present" } },
			status = function(want, host)
				for _, p in ipairs { "f", "dir/f", "dir/secret", "dir" } do
					for _, look in ipairs { "read", "stat", "list", "tree", "is_directory", "real" } do
						print(p, look, json.encode({ pcall(host[look], "HOME/" .. p) }))
					end
				end
				print(pcall(host.glob, "HOME/dir/*"), pcall(host.compare, "HOME/dir", "HOME/dir/dir", {}))
				return { ensure = "absent" }
			end,
			decide = function() return { diff = { { "ensure", "absent", "present" } }, actions = { { "go", "went" } } } end,
			perform = function(action, want, have, host)
				local attr = { mode = "0644", owner = "UID", group = "UID" }
				for _, p in ipairs { "f", "dir/f", "dir/secret", "dir/dir/f" } do
					p = "HOME/" .. p
					pcall(host.write, p, "new", attr)
					pcall(host.chmod, p, "0644")
					pcall(host.chown, p, "UID", "UID")
					pcall(host.copy, p, "SITE/copied")
					pcall(host.copy, "SITE/files/f", p, attr)
					pcall(host.symlink, "x", p)
					pcall(host.remove, p)
				end
				local many = { "many" }
				for i = 1, 10 do table.insert(many, "many/" .. i) end
				for _, at in ipairs { "HOME/dir", "HOME/dir/dir", "HOME/dir/new" } do
					pcall(host.copy_tree, "SITE/files", at, many, { mode = "0644", owner = "UID", group = "UID" })
					pcall(host.copy_tree, "HOME/dir", "SITE/taken", { ".", "f", "secret", "dir", "dir/f" })
				end
				pcall(host.mkdir, "HOME/dir/new/dir", attr)
				pcall(host.chmod, "HOME/dir", "0755")
				pcall(host.remove, "HOME/dir/dir", { recursive = true })
				pcall(host.remove, "HOME/dir", { recursive = true })
			end,
		}
		t { "x" }`,
	"commands in the home": `
		for _, at in ipairs { "dir", "dir/dir" } do
			exec { "touch " .. at, command = "touch touched", cwd = "HOME/" .. at }
			pcall(capture, { "touch", "captured", cwd = "HOME/" .. at })
		end`,
	"keys and settings": `
		local authorized_key, known_host = require "std.authorized_key", require "std.known_host"
		local json_setting, yaml_setting, toml_setting = require "std.json_setting", require "std.yaml_setting", require "std.toml_setting"
		local wait_for = require "std.wait_for"
		local key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPM8dYdjBcJZzFO4y6Nn3FAbfDEQ1B3L8FhFJPYI4pB"
		for i, p in ipairs { "f", "dir/f", "dir/secret", "dir/dir/f" } do
			local create = { mode = "0644", owner = "UID", group = "UID" }
			authorized_key { "key " .. p, user = "root", key = key, path = "HOME/" .. p }
			known_host { "h" .. i .. ".example.org", key = key, path = "HOME/" .. p }
			json_setting { "json " .. p, key = "a", path = "HOME/" .. p, value = 1, create = create }
			yaml_setting { "yaml " .. p, key = "a", path = "HOME/" .. p, value = 1, create = create }
			toml_setting { "toml " .. p, key = "a", path = "HOME/" .. p, value = 1, create = create }
			wait_for { "file " .. p, file = "HOME/" .. p, match = ".", within = "1ms", interval = "1ms" }
		end
		archive { "SITE/copied.tar", source = "a.tar", extract_parent = "HOME/dir", strip = 1, owner = "UID", group = "UID" }`,
	"fs": `
		for _, p in ipairs { "f", "dir/f", "dir/secret", "dir/dir/f", "dir" } do
			for _, look in ipairs { "read", "stat", "list", "exists", "is_file", "is_directory" } do
				print(p, look, json.encode({ pcall(fs[look], "HOME/" .. p) }))
			end
		end
		print(pcall(fs.glob, "HOME/dir/*"))
		exec { "true", onlyif = "false" }`,
}

// furtherRuns are commands that follow the run of a script, without the script's name.
var furtherRuns = map[string][]string{
	"what is no longer declared": {"prune", "--yes", "--diff", "full", "--backup-size", "1MiB"},
}

// TestAdversaryOfScripts: root runs scripts in a user's directory while the user exchanges files in it. No file of
// others is changed or read.
func TestAdversaryOfScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for name, script := range scriptsAmongUsers {
		t.Run(name, func(t *testing.T) {
			tries := tally.Of(t, "a user swaps files, links, pipes and directories in his own directory while root runs scripts of ten kinds there: std.directory from it, to it, absent and for the owners of all in it, std.line and its like, keys, settings and stripped archives, commands with it as cwd, prunes, all of host.* and all of fs.*",
				"files and directories of root beside it keep content, mode, owner and entries, and nothing of them can be read")
			isolate(t)
			a := hosttest.NewAdversary(t, "f", "dir")
			site := t.TempDir()
			for _, name := range []string{"f", "dir/f", "many/1", "many/2", "many/3", "many/4", "many/5", "many/6", "many/7", "many/8", "many/9", "many/10"} {
				path := filepath.Join(site, "files", name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte("of the site\n"), 0o644))
			}
			require.NoError(t, os.WriteFile(filepath.Join(site, "a.tar"), hosttest.Tar(t,
				hosttest.Dir("top", 0o755), hosttest.File("top/f", "unpacked"), hosttest.Dir("top/dir", 0o755), hosttest.File("top/dir/f", "unpacked"),
			), 0o600))
			file := filepath.Join(site, "site.lua")
			text := strings.NewReplacer("HOME", a.Home, "SITE", site, "UID", strconv.Itoa(int(a.UID))).Replace(script)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			secret := strings.TrimSpace(hosttest.Secret)
			done, runs := 0, tally.Times(8, 2000)
			for range runs {
				a.Wait()
				tries.Add(1)
				stdout, stderr, status := ccm(t, nil, "run", "--diff", "full", "--backup-size", "1MiB", file)
				require.Contains(t, []int{cli.ExitOK, cli.ExitFailed}, status, stderr)
				require.NotContains(t, stdout+stderr, secret, "root was led to read a file of root")
				if status == cli.ExitOK {
					done++
				}
				if args := furtherRuns[name]; args != nil {
					stdout, stderr, status := ccm(t, nil, append(slices.Clone(args), file, "later")...)
					require.Contains(t, []int{cli.ExitOK, cli.ExitFailed}, status, stderr)
					require.NotContains(t, stdout+stderr, secret, "root was led to read a file of root")
				}
			}
			for _, copied := range listed(t, site) {
				if text, err := os.ReadFile(copied); err == nil {
					require.NotContains(t, string(text), secret, copied)
				}
			}
			t.Logf("%d runs, %d of them did what was wanted, %d swaps", runs, done, a.Lost(t))
		})
	}
}
