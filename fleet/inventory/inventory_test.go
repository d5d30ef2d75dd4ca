package inventory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/inventory"
)

// write writes files to a new directory, and returns the directory. A text that begins with #! becomes an executable.
func write(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	return dir
}

func believed(string, bool) error { return nil }

func read(t *testing.T, dir string, names ...string) (*inventory.Inventory, error) {
	for i := range names {
		names[i] = filepath.Join(dir, names[i])
	}
	return inventory.Read(t.Context(), names, believed)
}

func all(string) bool { return false }

// facts returns the names and the variables of the hosts that patterns select.
func facts(t *testing.T, inv *inventory.Inventory, patterns ...string) (names []string, of map[string]map[string]any) {
	t.Helper()
	list, err := inv.Select(patterns)
	require.NoError(t, err)
	of = make(map[string]map[string]any)
	for _, h := range list {
		names = append(names, h.Name)
		f := h.Facts(all, func(unknown *inventory.UnknownError) { err = errors.Join(err, unknown) })
		require.NoError(t, err)
		of[h.Name] = f
	}
	return names, of
}

const ini = `# the machines
bastion ansible_host=192.0.2.1 ansible_user=ops

[web]
web[01:03] ansible_port=2222 role="front end" # the first rack
[db]
db-[a:c:2]:5022 primary=False weights='[1, 2.5, "x", None]'
[v6]
[2001:db8::1]:22
[prod:children]
web
db
[prod:vars]
env = production ; no comment
port=8080 # a comment of Python's
octal=010
binary=0b11
id=12345678901234567890
limits={'files': 1024, 'names': ('a', 'b')}
[web:vars]
env="edge"
`

func TestINI(t *testing.T) {
	inv, err := read(t, write(t, map[string]string{"hosts": "\ufeff" + ini}), "hosts")
	require.NoError(t, err)
	names, of := facts(t, inv)
	require.Equal(t, []string{"bastion", "2001:db8::1", "web01", "web02", "web03", "db-a", "db-c"}, names)
	require.Equal(t, map[string]any{"inventory_hostname": "bastion", "group_names": []string{}, "ansible_host": "192.0.2.1", "ansible_user": "ops"}, of["bastion"])
	require.Equal(t, map[string]any{
		"inventory_hostname": "web02", "group_names": []string{"prod", "web"}, "ansible_port": int64(2222), "role": "front end",
		"env": "edge", "port": int64(8080), "octal": "010", "binary": int64(3), "id": "12345678901234567890", "limits": map[string]any{"files": int64(1024), "names": []any{"a", "b"}},
	}, of["web02"])
	require.Equal(t, int64(5022), of["db-c"]["ansible_port"])
	require.Equal(t, false, of["db-a"]["primary"])
	require.Equal(t, []any{int64(1), 2.5, "x", nil}, of["db-a"]["weights"])
	require.Equal(t, "production ; no comment", of["db-a"]["env"])
	require.Equal(t, int64(22), of["2001:db8::1"]["ansible_port"])
}

func TestPatterns(t *testing.T) {
	inv, err := read(t, write(t, map[string]string{"hosts": ini}), "hosts")
	require.NoError(t, err)
	for patterns, want := range map[string]string{
		"all:!prod":    "bastion 2001:db8::1",
		"prod:!db":     "web01 web02 web03",
		"prod !web":    "db-a db-c",
		"!web,!v6":     "bastion db-a db-c",
		"db,web,!db-a": "db-c web01 web02 web03",
		"prod:&web":    "web01 web02 web03",
		"web*":         "web01 web02 web03",
		"~web0[12]":    "web01 web02",
		"web[0]":       "web01",
		"web[-1]":      "web03",
		"prod[1:3]":    "web02 web03 db-a",
		"web[1:]":      "web02 web03",
		"db-?:bastion": "db-a db-c bastion",
		"web01 web01":  "web01",
		"2001:db8::1":  "2001:db8::1",
		"*":            "bastion 2001:db8::1 web01 web02 web03 db-a db-c",
		"ungrouped":    "bastion",
	} {
		list, err := inv.Select(strings.Fields(patterns))
		require.NoError(t, err, patterns)
		var names []string
		for _, h := range list {
			names = append(names, h.Name)
		}
		require.Equal(t, want, strings.Join(names, " "), patterns)
	}
	// As ansible-core 2.14 lists them with --list-hosts.
	inv, err = read(t, write(t, map[string]string{"hosts": "b\n[web]\na\nb\n[site:children]\nnested\nweb\n[site]\nd\n[nested]\nc\n[db]\na\ndb\n"}), "hosts")
	require.NoError(t, err)
	for pattern, want := range map[string]string{"db": "db", "site": "d", "web[0]": "a", "web[1]": "b", "site[0]": "d", "site[1]": "a", "site[-1]": "c", "*b*[0]": "a", "all[0]": "d"} {
		list, err := inv.Select([]string{pattern})
		require.NoError(t, err)
		require.Equal(t, want, list[0].Name, pattern)
	}
	inv, err = read(t, write(t, map[string]string{"hosts": ini}), "hosts")
	require.NoError(t, err)
	for patterns, want := range map[string]string{
		"wbe":      `no host or group "wbe" in the inventory`,
		"web:!dbs": `no host or group "dbs" in the inventory`,
		"web:!web": "no host of the inventory matches web:!web",
		"web[3]":   "web[3] matches none of 3 hosts",
		"~(":       "~(: error parsing regexp: missing closing ): `^(?:()`",
	} {
		_, err := inv.Select([]string{patterns})
		require.EqualError(t, err, want)
	}
}

func TestYAML(t *testing.T) {
	inv, err := read(t, write(t, map[string]string{"hosts.yml": `
all:
  vars: {env: production, debug: no, quoted: "no", rack: 08, mode: 0644, rate: 1e3, id: 9007199254740993}
  hosts:
    bastion: {ansible_host: 192.0.2.1}
  children:
    web:
      hosts:
        web[1:2]:
      vars: &common {port: 8080, tags: [a, b]}
    db:
      vars:
        <<: *common
        port: 5432
      hosts: {db1: {port: 1.5}}
`}), "hosts.yml")
	require.NoError(t, err)
	names, of := facts(t, inv, "all")
	require.Equal(t, []string{"bastion", "web1", "web2", "db1"}, names)
	require.Equal(t, map[string]any{"inventory_hostname": "web2", "group_names": []string{"web"}, "env": "production", "debug": false, "quoted": "no", "rack": "08", "mode": int64(0o644), "rate": "1e3", "id": "9007199254740993",
		"port": int64(8080), "tags": []any{"a", "b"}}, of["web2"])
	require.Equal(t, 1.5, of["db1"]["port"])
	require.Equal(t, []any{"a", "b"}, of["db1"]["tags"])
}

// Precedence: variables in files before those in the inventory, host before group, nearer group before farther.
func TestFilesOfVariables(t *testing.T) {
	dir := write(t, map[string]string{
		"prod/hosts":                  "[web]\nw1 own=inventory\n[site:children]\nweb\n[site:vars]\nx=site\n[web:vars]\ny=web\n",
		"prod/more.yml":               "web: {hosts: {w2: {}}}",
		"prod/README.md":              "no inventory",
		"prod/group_vars/all.yml":     "x: all\nz: all\nown: all",
		"prod/group_vars/web/a.yml":   "y: file",
		"prod/group_vars/web/b.yaml":  "z: web",
		"prod/group_vars/web/c.txt":   "{{{",
		"prod/group_vars/web/d.yml~":  "{{{",
		"prod/group_vars/web/e~":      "{{{",
		"prod/group_vars/web/.f/g":    "{{{",
		"prod/group_vars/web/h.d/i":   "{{{",
		"prod/group_vars/web.yml":     "{{{", // the directory is read instead
		"prod/host_vars/w1":           "own: file",
		"prod/host_vars/unknown.yml":  "{{{",
		"prod/group_vars/unknown.yml": "{{{",
	})
	inv, err := read(t, dir, "prod")
	require.NoError(t, err)
	_, of := facts(t, inv)
	require.Equal(t, map[string]any{"inventory_hostname": "w1", "group_names": []string{"site", "web"}, "x": "all", "y": "file", "z": "web", "own": "file"}, of["w1"])
	require.Equal(t, "all", of["w2"]["own"])
	inv, err = read(t, write(t, map[string]string{"hosts": "[a]\nh\n[b]\nh\n[a:vars]\nx=a\nansible_group_priority=2\n[b:vars]\nx=b\n"}), "hosts")
	require.NoError(t, err)
	_, of = facts(t, inv)
	require.Equal(t, "a", of["h"]["x"])
}

func TestProgram(t *testing.T) {
	inv, err := read(t, write(t, map[string]string{
		"cloud": `#!/bin/sh
[ "$1" = --list ] || exit 3
echo '{"web": {"hosts": ["w1", "w2"], "vars": {"port": 8080, "big": 12345678901}, "children": ["none"]}, "db": ["d1"], "_meta": {"hostvars": {"w1": {"ansible_host": "192.0.2.7"}}}}'`,
		"old": `#!/bin/sh
case "$1 $2" in "--list ") echo '{"cache": ["c1"]}' ;; "--host c1") echo '{"size": 1.5}' ;; *) exit 3 ;; esac`,
	}), "cloud", "old")
	require.NoError(t, err)
	names, of := facts(t, inv)
	require.Equal(t, []string{"d1", "w1", "w2", "c1"}, names)
	require.Equal(t, map[string]any{"inventory_hostname": "w1", "group_names": []string{"web"}, "ansible_host": "192.0.2.7", "port": int64(8080), "big": int64(12345678901)}, of["w1"])
	require.Equal(t, 1.5, of["c1"]["size"])
}

// A program may leave a child process behind that holds its output open.
func TestProgramLeavesAnother(t *testing.T) {
	began := time.Now()
	dir := write(t, map[string]string{"cloud": "#!/bin/sh\nsleep 1000 &\necho $! > \"$0.pid\"; echo '{\"a\": [\"h1\"], \"_meta\": {}}'"})
	t.Cleanup(func() {
		text, err := os.ReadFile(dir + "/cloud.pid")
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	})
	inv, err := read(t, dir, "cloud")
	require.NoError(t, err)
	names, _ := facts(t, inv)
	require.Equal(t, []string{"h1"}, names)
	require.Less(t, time.Since(began), 15*time.Minute)
}

// A program that is not trusted is not run.
func TestProgramIsNotBelieved(t *testing.T) {
	dir := write(t, map[string]string{"cloud": "#!/bin/sh\ntouch \"$0.ran\"\necho '{}'"})
	_, err := inventory.Read(t.Context(), []string{dir + "/cloud"}, func(path string, runs bool) error {
		require.True(t, runs)
		return os.ErrPermission
	})
	require.ErrorIs(t, err, os.ErrPermission)
	require.NoFileExists(t, dir+"/cloud.ran")
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[web\nweb1":                       `hosts:1: expected a group name such as [web], got "[web"`,
		"[web]; a\nweb1":                   `hosts:1: expected a group name such as [web], got "[web]; a"`,
		"[ web ]\nweb1":                    `hosts:1: expected a group name such as [web], got "[ web ]"`,
		"[web:hosts]":                      `hosts:1: expected [web], [web:vars] or [web:children], got "[web:hosts]"`,
		"w1 role":                          `hosts:1: expected NAME=VALUE after the host, got "role"`,
		"w1 'role=x":                       "hosts:1: unterminated quote '",
		"-oProxyCommand=x":                 `hosts:1: expected a host name, got "-oProxyCommand=x"`,
		"[web:vars]\nx":                    `hosts:2: expected NAME=VALUE, got "x"`,
		"[a:children]\nb":                  "hosts:2: group b lacks a section or hosts",
		"[a:children]\nb\n[b:children]\na": "hosts:1: group a cannot be its own parent",
		"w[1:9999999]":                     `hosts:1: "w[1:9999999]": expected a range such as 01:20, a:f or 1:9:2, got "1:9999999"`,
		"w[1:999][1:999]":                  `hosts:1: "w[1:999][1:999]": range exceeds the limit of 100000 hosts`,
		"$ANSIBLE_VAULT;1.1;AES256\n33":    "hosts: encrypted with ansible-vault, which ccm cannot read",
	} {
		dir := write(t, map[string]string{"hosts": text})
		_, err := read(t, dir, "hosts")
		require.Error(t, err, text)
		require.Equal(t, want, strings.ReplaceAll(err.Error(), dir+"/", ""), text)
	}
	for text, want := range map[string]string{
		"plugin: aws_ec2\n":                "hosts.yml:1: the Ansible inventory plugin aws_ec2 is not supported",
		"web: {host: {}}":                  `hosts.yml:1: expected hosts, vars or children of group web, got "host"`,
		"web: {hosts: [w1, w2]}":           "hosts.yml:1: expected hosts, each followed by a colon",
		"web: [":                           "hosts.yml: yaml: line 1",
		"web: {}\n---\ndb: {}":             "hosts.yml:2: expected one document, found a second one",
		"web: {}\n---\ndb: [":              "hosts.yml: yaml: line 3",
		"web: {hosts: {a: }}\nweb: {}":     `hosts.yml:2: duplicate key "web"`,
		"all: &x {children: {g: *x}}":      "hosts.yml:1: nested more than 200 levels deep, or contains itself",
		"all: &x {vars: &y {<<: *y}}":      "hosts.yml:1: nested more than 200 levels deep, or contains itself",
		"all: {vars: {a: &y {b: [*y]}}}":   "hosts.yml:1: expands to more than 2000000 values or 50 levels",
		"all: &x {hosts: {h: {<<: [*x]}}}": "hosts.yml:1: expands to more than 2000000 values or 50 levels",
	} {
		_, err := read(t, write(t, map[string]string{"hosts.yml": text}), "hosts.yml")
		require.ErrorContains(t, err, want, text)
	}
	for text, want := range map[string]string{
		"#!/bin/sh\necho no >&2; exit 3": "hosts --list: exit status 3: no",
		"#!/bin/sh\necho []":             "hosts --list: expected JSON of groups",
		"#!/bin/sh\necho '{\"a\": 1}'":   "hosts --list: group a:",
		"#!/bin/sh\nyes":                 "hosts --list: exceeds the limit of 16 MiB of output",
	} {
		_, err := read(t, write(t, map[string]string{"hosts": text}), "hosts")
		require.ErrorContains(t, err, want, text)
	}
}

// An unknown value is an error when its variable is requested, and left out of the facts. Unknown values of other
// hosts do not matter.
func TestUnknownValues(t *testing.T) {
	inv, err := read(t, write(t, map[string]string{"h.yml": `
all:
  hosts:
    a: {list: [{x: "{{ y }}"}]}
    b: {password: !vault "$ANSIBLE_VAULT;1.1"}
    c: {}
    d: {}
`, "host_vars/c.yml": "$ANSIBLE_VAULT;1.1;AES256\n3362"}), "h.yml")
	require.NoError(t, err)
	for name, want := range map[string]string{
		"a": "h.yml:4: list of host a: a Jinja template, which ccm does not evaluate",
		"b": "h.yml:5: password of host b: encrypted with ansible-vault, which ccm cannot read",
		"c": "host_vars/c.yml: (c.yml) of host c: encrypted with ansible-vault, which ccm cannot read",
		"d": "",
	} {
		list, err := inv.Select([]string{name})
		require.NoError(t, err)
		var told []string
		facts := list[0].Facts(all, func(err *inventory.UnknownError) { told = append(told, err.Error()) })
		require.Len(t, facts, 2, "inventory_hostname and group_names")
		if want == "" {
			require.Empty(t, told)
			continue
		}
		require.Len(t, told, 1)
		require.Contains(t, told[0], want)
	}
}

// Aliases of aliases are counted with their expanded size, and refused.
func TestLargeYAML(t *testing.T) {
	text := "all: {vars: {a0: &a0 [x, x, x, x, x, x, x, x, x, x]"
	for i := range 9 {
		n := string(rune('0' + i))
		text += ", a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat("*a"+n+", ", 9) + "*a" + n + "]"
	}
	_, err := read(t, write(t, map[string]string{"h.yml": text + "}}"}), "h.yml")
	require.ErrorContains(t, err, "expands to more than 2000000 values")
}

func FuzzINI(f *testing.F) {
	f.Add(ini)
	f.Add("[a:children]\nb\n[b]\nx[1:3][a:c] y={'z': [1, (2,)]}\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, "hosts")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		inv, err := inventory.Read(t.Context(), []string{file}, believed)
		if err != nil {
			return
		}
		list, err := inv.Select(nil)
		for _, h := range list {
			if err == nil && (strings.HasPrefix(h.Name, "-") || strings.ContainsAny(h.Name, " \n\t")) {
				t.Errorf("%q is given to ssh", h.Name)
			}
		}
	})
}

func FuzzYAML(f *testing.F) {
	f.Add("all: {vars: {a: &a [1, yes], b: *a, <<: {c: 1}}, hosts: {x: , 'y[1:3]': {z: !vault 1}}, children: {g: {}}}")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, "hosts.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if inv, err := inventory.Read(t.Context(), []string{file}, believed); err == nil {
			_, _ = inv.Select([]string{"all:!x"})
		}
	})
}

// The hosts that a pattern with a position selects are those of Ansible, in inventories with random groups.
func TestPositionsAsInAnsible(t *testing.T) {
	if _, err := exec.LookPath("ansible"); err != nil {
		t.Skip("ansible is not installed; TestPatterns has a table of its results")
	}
	inventories := 2 // ansible takes seconds for each pattern
	if os.Getenv("CCM_TEST_NIGHTLY") != "" {
		inventories = 40
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range inventories {
		var text strings.Builder
		groups := []string{"web", "db", "site", "zone"}
		random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		text.WriteString("h3\n")
		for i, g := range groups {
			fmt.Fprintf(&text, "[%s]\n", g)
			for range 1 + random.IntN(4) {
				fmt.Fprintf(&text, "h%d\n", random.IntN(9))
			}
			if i > 0 && random.IntN(2) == 0 { // of groups further up, so that none is its own parent
				fmt.Fprintf(&text, "[%s:children]\n%s\n", groups[i-1], g)
			}
		}
		dir := write(t, map[string]string{"hosts": text.String()})
		inv, err := read(t, dir, "hosts")
		require.NoError(t, err)
		for _, pattern := range []string{"site[0]", "zone[1:]", "all[2]", "*e*[0]"} {
			want := strings.Fields(strings.ReplaceAll(ansibleHosts(t, dir, pattern), "hosts", ""))
			var got []string
			if list, err := inv.Select([]string{pattern}); err == nil {
				for _, h := range list {
					got = append(got, h.Name)
				}
			}
			require.Equal(t, strings.Join(want, " "), strings.Join(got, " "), "%s in\n%s", pattern, text.String())
		}
	}
}

// ansibleHosts returns the hosts that ansible --list-hosts prints.
func ansibleHosts(t *testing.T, dir, pattern string) string {
	cmd := exec.Command("ansible", "-i", "hosts", pattern, "--list-hosts")
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err)
	_, hosts, _ := strings.Cut(string(out), ":\n")
	return hosts
}
