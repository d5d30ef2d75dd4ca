package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// removable are the types that can remove a thing and work without packages, in several ways of use.
var removable = map[string]struct {
	site string // MORE stands for ensure = "absent" and its like
	tree string // the directory that foreign data is put into, below DIR/w; "" for none
	file string // the file that has a foreign line, below DIR/w; "" for none
	stay string // further file of others, below DIR/w, that is there before; "" for none
}{
	"file, a directory":       {site: `file { DIR .. "/w/d", ensure = "directory", owner = "0", group = "0", mode = "0755" MORE }`, tree: "d"},
	"directory":               {site: `require "std.directory" { DIR .. "/w/d" MORE }`, tree: "d"},
	"directory with a source": {site: `require "std.directory" { DIR .. "/w/d", source = "tree" MORE }`, tree: "d"},
	"scaffold":                {site: `scaffold { DIR .. "/w/d", source = "tree" MORE }`, tree: "d"},
	"archive":                 {site: `archive { DIR .. "/w/a.tgz", source = "a.tgz", extract_parent = DIR .. "/w/d", creates = DIR .. "/w/d/lib/f", owner = "0", group = "0" MORE }`, tree: "d"},
	"git":                     {site: `require "std.git" { DIR .. "/w/d", url = DIR .. "/repository" MORE }`, tree: "d"},
	"user with a home":        {site: `require "std.user" { "ccm-foreign", home = DIR .. "/w/d", manage_home = true MORE }`, tree: "d"},
	"file":                    {site: `file { DIR .. "/w/f", content = "x\n", owner = "0", group = "0", mode = "0644" MORE }`},
	"link":                    {site: `require "std.link" { DIR .. "/w/l", target = "stays" MORE }`, stay: "stays"},
	"link to a directory":     {site: `require "std.link" { DIR .. "/w/l", target = "sub" MORE }`, stay: "sub/stays"},
	"line":                    {site: `require "std.line" { DIR .. "/w/f", line = "x" MORE }`, file: "f"},
	"block":                   {site: `require "std.block" { "b", path = DIR .. "/w/f", content = "x" MORE }`, file: "f"},
	"kv":                      {site: `require "std.kv" { "k", path = DIR .. "/w/f", value = "x" MORE }`, file: "f"},
	"ini":                     {site: `require "std.ini" { "k", path = DIR .. "/w/f", section = "s", value = "x" MORE }`, file: "f"},
	"yaml_setting":            {site: `require "std.yaml_setting" { "k", path = DIR .. "/w/f", value = "x" MORE }`, file: "f"},
	"host":                    {site: `require "std.host" { "h.example.org", ip = "192.0.2.9", path = DIR .. "/w/f" MORE }`, file: "f"},
	"authorized_key":          {site: `require "std.authorized_key" { "root", path = DIR .. "/w/f", key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv" MORE }`, file: "f"},
	"known_host":              {site: `require "std.known_host" { "h.example.org", path = DIR .. "/w/f", key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv" MORE }`, file: "f"},
	"cron":                    {site: `require "std.cron" { "ccm-foreign", command = "true", schedule = "@daily" MORE }`},
}

// TestRemovesOnlyItsOwn: for every type that can remove a thing and works without packages, ensure = "absent" and prune
// leave what others have put below it, beside it, and on a file system that is mounted inside of it. That is no failure.
func TestRemovesOnlyItsOwn(t *testing.T) {
	long(t)
	archive := hosttest.TarGzip(t, hosttest.Dir("lib", 0o755), hosttest.File("lib/f", "x"))
	for name, c := range removable {
		for _, way := range []string{"absent", "prune"} {
			t.Run(name+", "+way, func(t *testing.T) {
				dir, err := os.MkdirTemp("/var/tmp", "ccm-foreign-")
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
				require.NoError(t, os.Chmod(dir, 0o755))
				declared := fmt.Sprintf("local DIR = %q\n%s\n", dir, strings.ReplaceAll(c.site, "MORE", ""))
				removed := fmt.Sprintf("local DIR = %q\n", dir)
				remove := "ccm run --state-dir state site.lua"
				if way == "absent" {
					site := strings.Replace(strings.ReplaceAll(c.site, "MORE", `, ensure = "absent"`), `ensure = "directory", owner = "0", group = "0", mode = "0755" `, "", 1)
					removed += strings.Replace(site, " , ensure", ", ensure", 1)
				} else {
					remove += "; ccm prune --noop --state-dir state site.lua; ccm prune --yes --state-dir state site.lua"
				}
				for file, text := range map[string]string{"site.lua": declared, "removed.lua": removed, "tree/f": "x\n", "a.tgz": string(archive)} {
					require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
				}
				before := "cd " + dir + "\nexport HOME=" + dir + "\nmkdir w; git init -q repository; cd repository; echo x > f; git add f; git -c user.name=x -c user.email=x@y commit -qm x; cd ..\n"
				do := "cd " + dir + "\nset -e\n"
				var mine []string
				if c.stay != "" {
					mine = append(mine, "w/"+c.stay)
					do += "mkdir -p $(dirname w/" + c.stay + "); echo mine > w/" + c.stay + "\n"
				}
				if c.file != "" {
					do += "echo '# mine' > w/" + c.file + "\n"
				}
				do += "ccm run --state-dir state site.lua\n"
				do += "echo mine > w/beside\n"
				mine = append(mine, "w/beside")
				if c.tree != "" {
					do += fmt.Sprintf("mkdir -p w/%[1]s/sub w/%[1]s/mounted; echo mine > w/%[1]s/sub/below; mount -t tmpfs inside w/%[1]s/mounted; echo mine > w/%[1]s/mounted/inside\n", c.tree)
					mine = append(mine, "w/"+c.tree+"/sub/below", "w/"+c.tree+"/mounted/inside")
				}
				do += "cp removed.lua site.lua\n" + remove + "\n" + remove + "\necho DONE\ncat " + strings.Join(mine, " ")
				if c.file != "" {
					do += "; grep mine w/" + c.file
				}
				if c.tree != "" {
					do += "; grep -c ' " + dir + "/w/" + c.tree + "/mounted ' /proc/self/mountinfo"
				}
				out, err := inOwnMounts(t, ownEtc+"\n"+before, "sh", "-c", do).CombinedOutput()
				require.NoError(t, err, "%s", out)
				_, after, found := strings.Cut(string(out), "DONE\n")
				require.True(t, found, "%s", out)
				want := strings.Repeat("mine\n", len(mine))
				if c.file != "" {
					want += "# mine\n"
				}
				if c.tree != "" {
					want += "1\n"
				}
				require.Equal(t, want, after, "%s", out)
			})
		}
	}
}
