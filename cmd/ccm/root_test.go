package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/docs"
	"github.com/luaccm/ccm/docs/markdown"
	"github.com/luaccm/ccm/site"
)

// belowRoot runs ccm below /mnt for each site below /tmp/sites, on a machine that consists of layers over this one: $1/upper
// gets what is written to the machine, $1/below what is written below /mnt, and /tmp is $1/tmp. The network has no
// interfaces. Exit status 77 means that this cannot be had here.
const belowRoot = `
{
	mount --make-rprivate / &&
	mount -t tmpfs tmpfs "$1/layers" && mkdir "$1/layers/w1" "$1/layers/w2" "$1/layers/upper" "$1/layers/below" &&
	mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layers/upper,workdir=$1/layers/w1" "$1/machine" &&
	mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layers/below,workdir=$1/layers/w2" "$1/machine/mnt" &&
	mount --rbind /dev "$1/machine/dev" && mount --rbind /proc "$1/machine/proc" && mount -o remount,bind,ro "$1/machine/proc" &&
	mount --bind "$1/tmp" "$1/machine/tmp"
} || exit 77
# Without indexes apt knows at once that it cannot install anything: reading those of the machine takes it minutes.
mount -t tmpfs tmpfs "$1/machine/mnt/var/lib/apt/lists" 2> "$1/tmp/state/nolists" || :
# Virtual environments and npm without a network are most of the processor time of this test.
for program in python3 npm; do
	[ ! -e "$1/machine/mnt/usr/bin/$program" ] || cp --remove-destination "$1/tmp/record" "$1/machine/mnt/usr/bin/$program"
done
real=$PATH
for path in /tmp/fake "$real"; do
	for site in "$1"/tmp/sites/*; do
		for command in "plan --root /mnt site.lua" "run --root /mnt site.lua" "drift --root /mnt site.lua" "run --root /mnt absent.lua" "undo"; do
			# What only reads is known from the programs that record their calls.
			case $path:$command in "$real:plan "* | "$real:drift "*) continue ;; esac
			PATH=$real chroot "$1/machine" /bin/sh -c 'PATH=$1 CCM_STATE_DIR=/tmp/state/$2; export CCM_STATE_DIR; cd "/tmp/sites/$2" && shift 2 && exec /tmp/confinedccm "$@"' sh "$path" "${site##*/}" $command >> "$site/out" 2>&1
			echo "$path $command: $?" >> "$site/out"
		done
	done
done
PATH=$real
find "$1/layers/upper" -mindepth 1 > "$1/upper.txt"
find "$1/layers/below" -mindepth 1 > "$1/below.txt"
`

// TestRootIsTheWholeMachine: with --root nothing is done outside of it, by any type. The examples of all types run on a
// machine that is made of layers, first with programs that only record how they are called, and then with those of this
// machine.
func TestRootIsTheWholeMachine(t *testing.T) {
	long(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, program := range []string{"unshare", "mount", "chroot", "find"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	site.AddShipped(reg)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"layers", "machine", "tmp/fake", "tmp/home", "tmp/state"} {
		require.NoError(t, os.MkdirAll(at(d), 0o755))
	}
	own, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(own)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(at("tmp/confinedccm"), program, 0o755))
	require.NoError(t, os.WriteFile(at("tmp/calls"), nil, 0o666))
	require.NoError(t, os.Chmod(at("tmp/calls"), 0o666)) // whatever the umask
	require.NoError(t, os.WriteFile(at("tmp/record"), []byte("#!/bin/sh\necho \"${0##*/} $*\" >> /tmp/calls\n"), 0o755))
	fake := func(name string) { _ = os.Symlink("/tmp/record", at("tmp/fake/"+name)) }
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(d)
		for _, e := range entries {
			fake(e.Name())
		}
	}
	for _, typ := range reg.Types() {
		for _, b := range reg.Bindings(typ) {
			for _, name := range b.Describe().Commands {
				fake(name)
			}
		}
		plantExample(t, typ.Name, at("tmp/sites/"+typ.Name))
	}

	cmd := exec.Command("unshare", "--mount", "--net", "sh", "-c", belowRoot, "sh", dir)
	cmd.Env = append(os.Environ(), "CCM_CACHE_DIR=/tmp/cache", "HOME=/tmp/home", "XDG_CONFIG_HOME=/tmp/home", "TMPDIR=/tmp/home", "NO_COLOR=1", "NPM_CONFIG_FETCH_RETRIES=0", "PIP_RETRIES=0", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && (cmd.ProcessState.ExitCode() == 77 || strings.HasPrefix(string(out), "unshare:")) {
		t.Skipf("layers over this machine cannot be had here: %s", out)
	}
	require.NoError(t, err, string(out))
	read := func(name string) string {
		text, err := os.ReadFile(at(name))
		require.NoError(t, err)
		return string(text)
	}
	require.Empty(t, read("upper.txt"), "something outside of the root was changed")
	require.Contains(t, read("below.txt"), "/etc/motd\n")
	for line := range strings.Lines(read("tmp/calls")) {
		assert.True(t, strings.Contains(line, " /mnt") || strings.HasPrefix(line, "sleep "), "a program was called that may act outside of the root: %s", line)
	}
	require.Contains(t, read("tmp/calls"), "--prefix /mnt") // of useradd
	absent := 0
	for _, typ := range reg.Types() {
		got := read("tmp/sites/" + typ.Name + "/out")
		require.Regexp(t, `(?m)^/tmp/fake run .*: [04]$`, got, "the example was not run")
		require.NotContains(t, got, "is broken")
		if absentRun.MatchString(got) {
			absent++
		}
	}
	require.Greater(t, absent, len(reg.Types())/2) // the others cannot be absent, or not with the properties of the example
	require.NotContains(t, read("tmp/sites/exec/out"), "below --root")
	// Nothing is left in the places of the test but what it put there, and the state of ccm.
	var left []string
	entries, err := os.ReadDir(at("tmp"))
	require.NoError(t, err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.Subset(t, []string{"cache", "calls", "confinedccm", "fake", "home", "record", "sites", "state"}, left)
}

var absentRun = regexp.MustCompile(`(?m)^/tmp/fake run --root /mnt absent.lua: [04]$`)

// plantExample makes a site directory with the example of a type, and with one in which all is to be absent. Neither
// waits.
func plantExample(t *testing.T, typ, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	script := ""
	for _, b := range markdown.Parse(docs.Text("reference/types/" + typ)).Blocks() {
		if b.Language == "lua" {
			script = b.Code
			break
		}
	}
	require.NotEmpty(t, script, typ)
	script = strings.ReplaceAll(script, `"2m"`, `"10ms"`)
	called := typ
	if strings.Contains(script, "std."+typ) {
		called = "std." + typ
	}
	for name, defaults := range map[string]string{"site.lua": "", "absent.lua": called + ".defaults { ensure = \"absent\" }\n"} {
		if typ == "wait_for" {
			defaults += called + ".defaults { within = \"10ms\", interval = \"1ms\" }\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(defaults+script), 0o644))
	}
	archive, err := os.ReadFile("../../docs/reference/examples/" + typ + ".txtar")
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
		return
	}
	for _, f := range txtar.Parse(archive).Files {
		if strings.Contains(f.Name, "/") {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644))
		}
	}
}
