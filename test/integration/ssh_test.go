//go:build integration

package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An sshLab is a real sshd on this machine, with the temporary keys, configuration and known hosts that a real ssh
// needs to reach it. Processes of sshd have their own home directory.
type sshLab struct {
	t        *testing.T
	dir      string // directory of all its files
	home     string // home directory of processes of sshd
	ccm      string
	port     int
	sshd     *exec.Cmd
	settings []string // further lines of sshd's configuration
}

// newSSHLab starts sshd. The test runs in parallel with others.
func newSSHLab(t *testing.T, settings ...string) *sshLab {
	t.Parallel()
	for _, name := range []string{"ssh", "ssh-keygen", "/usr/sbin/sshd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s", name)
		}
	}
	dir, err := os.MkdirTemp("", "s") // short, because it has sockets
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := &sshLab{t: t, dir: dir, home: dir + "/home", ccm: filepath.Join(binaries, "ccm"), settings: settings}
	require.NoError(t, os.Mkdir(l.home, 0o700))
	for _, key := range []string{"hostkey", "key"} {
		require.NoError(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir+"/"+key).Run())
	}
	l.port = freePort(t)
	pub, err := os.ReadFile(dir + "/hostkey.pub")
	require.NoError(t, err)
	l.write("known", fmt.Sprintf("[127.0.0.1]:%d %s", l.port, pub))
	l.write("config", fmt.Sprintf("Host *\n  HostName 127.0.0.1\n  Port %d\n  IdentityFile %s/key\n  IdentitiesOnly yes\n  UserKnownHostsFile %[2]s/known\n  StrictHostKeyChecking yes\n", l.port, dir))
	l.start()
	l.write("site/site.lua", `file { "`+dir+`/made-" .. (fact("inventory.role") or "none"), content = "hi\n", owner = "-1", group = "-1", mode = "0644" }`+"\n")
	return l
}

// lastPort is the port that freePort returned last.
var lastPort atomic.Int32

// freePort returns a free port, each one once. It is below those that the system gives to connections, so that nothing
// else gets it before sshd listens.
func freePort(t *testing.T) int {
	for range 4000 {
		port := 20_000 + int(lastPort.Add(1))
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
	require.FailNow(t, "no free port")
	return 0
}

// write writes a file in the directory.
func (l *sshLab) write(name, text string) {
	path := filepath.Join(l.dir, name)
	require.NoError(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	// A process that is started meanwhile would hold a script open for writing, and the script could not be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(l.t, os.WriteFile(path, []byte(text), 0o600))
}

// start starts sshd.
func (l *sshLab) start() {
	if os.Geteuid() == 0 {
		require.NoError(l.t, os.MkdirAll("/run/sshd", 0o755))
	}
	l.write("sshd_config", fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s/hostkey\nPidFile none\nAuthorizedKeysFile %[2]s/key.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nMaxStartups 500\nSetEnv HOME=%s XDG_CACHE_HOME=%[3]s/cache XDG_STATE_HOME=%[3]s/state CCM_STATE_DIR=%[3]s/state/ccm\n%s\n",
		l.port, l.dir, l.home, strings.Join(l.settings, "\n")))
	l.sshd = exec.Command("/usr/sbin/sshd", "-D", "-f", l.dir+"/sshd_config", "-E", l.dir+"/sshd.log")
	require.NoError(l.t, l.sshd.Start())
	l.t.Cleanup(func() { _ = l.sshd.Process.Kill(); _ = l.sshd.Wait() })
	require.Eventually(l.t, func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", l.port))
		if err == nil {
			c.Close()
		}
		return err == nil
	}, patience, 10*time.Millisecond)
}

// command returns ccm ssh, without the configuration of the user who runs the test.
func (l *sshLab) command(args ...string) *exec.Cmd {
	cmd := exec.Command(l.ccm, append([]string{"ssh"}, args...)...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "CCM_SSH=ssh -F "+l.dir+"/config", "XDG_RUNTIME_DIR="+l.dir+"/run", "XDG_CACHE_HOME="+l.dir+"/mine", "HOME="+l.dir+"/mine")
	require.NoError(l.t, os.MkdirAll(l.dir+"/run", 0o700))
	return cmd
}

// run runs ccm ssh, and returns its output and exit status.
func (l *sshLab) run(args ...string) (out string, code int) {
	l.t.Helper()
	cmd := l.command(args...)
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

// says fails unless ccm ssh has that output and exit status.
func (l *sshLab) says(code int, part string, args ...string) string {
	l.t.Helper()
	out, got := l.run(args...)
	require.Equal(l.t, code, got, out)
	require.Contains(l.t, out, part)
	return out
}

func TestSSH(t *testing.T) {
	l := newSSHLab(t)
	for _, host := range []string{"new", "known"} { // on a quiet machine a second, and a third of one
		began := time.Now()
		l.says(0, "", "one", "--", "facts", "os.name")
		t.Logf("a %s host: %s", host, time.Since(began).Round(10*time.Millisecond))
	}
	l.says(0, "created the file", "one", "--", "plan", "-q=false", "site") // nothing is done
	require.NoFileExists(t, l.dir+"/made-none")
	l.says(0, "Created the file", "one", "--", "run", "site/")
	require.FileExists(t, l.dir+"/made-none")
	l.says(0, "Nothing to do", "one", "two", "-j", "1", "--", "run", "site/site.lua")
	sites, err := os.ReadDir(l.home + "/cache/ccm/sites")
	require.NoError(t, err)
	require.Len(t, sites, 1, "a site is known by its folder")
	l.says(0, "/sites/site_", "one", "--", "history")
	l.write("site/site.lua", "file { '"+l.dir+"/none/x', content = 'x' }\n")
	l.says(1, "one  site.lua:1:1: file#", "one", "two", "-j", "1", "--", "run", "site")
	l.write("site/site.lua", "file { '"+l.dir+"/none/x', content = 'x', owner = '-1', group = '-1', mode = '0644' }\n")
	l.says(4, "is no longer declared", "one", "--", "run", "site") // which is printed once a day
	out := l.says(4, "does not exist", "one", "two", "-j", "1", "--", "run", "site")
	require.Contains(t, out, "2 hosts: one, two:")
	require.Contains(t, out, "0 of 2 hosts ok, 2 failed")
	l.says(1, "command lint cannot run on other machines", "one", "--", "lint", "site")

	// Only the cache and the state stay, and no process.
	var left []string
	require.NoError(t, filepath.WalkDir(l.home, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(l.home, path)
		if !d.IsDir() && !strings.HasPrefix(rel, "cache/ccm/") && !strings.HasPrefix(rel, "state/ccm/") {
			left = append(left, rel)
		}
		return err
	}))
	require.Empty(t, left)
	running, _ := exec.Command("pgrep", "-af", l.home).Output() // fails if there is none
	require.Empty(t, string(running))
}

// A new program on a host removes all but the last four.
func TestSSHOldPrograms(t *testing.T) {
	l := newSSHLab(t)
	bin := l.home + "/cache/ccm/bin"
	for i, name := range []string{"v1.0", strings.Repeat("0", 64), strings.Repeat("1", 64), strings.Repeat("2", 64), strings.Repeat("3", 64), strings.Repeat("4", 64)} {
		l.write("home/cache/ccm/bin/"+name+"/ccm", "an old program")
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		require.NoError(t, os.Chtimes(bin+"/"+name, at, at))
	}
	l.says(0, "", "one", "--", "facts", "os.name")
	entries, err := os.ReadDir(bin)
	require.NoError(t, err)
	var kept []string
	for _, entry := range entries {
		kept = append(kept, entry.Name()[:4])
	}
	require.Len(t, kept, 5, "the new one, three before it, and what has another name: %v", kept)
	require.Subset(t, kept, []string{"v1.0", "2222", "3333", "4444"})
}

// Facts in the list of hosts, the JSON report, and the choice of hosts.
func TestSSHManyHosts(t *testing.T) {
	l := newSSHLab(t)
	l.write("hosts", "a role=front # the first\nb 'role=back end'\n")
	l.says(0, "back end", "--hosts", "hosts", "-j", "1", "--", "facts", "inventory.role")
	l.says(0, "2 of 2 hosts ok", "--hosts", "hosts", "-j", "1", "--", "run", "site")
	cmd := l.command("--hosts", "/dev/fd/3", "--", "facts", "inventory.role") // as <(a program) of a shell
	pipe, w, err := os.Pipe()
	require.NoError(t, err)
	fmt.Fprintln(w, "a role=piped")
	require.NoError(t, w.Close())
	cmd.ExtraFiles = []*os.File{pipe}
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	require.Contains(t, string(text), "piped")
	require.NoError(t, os.Chmod(l.dir+"/hosts", 0o666))
	if os.Geteuid() == 0 {
		l.says(1, "hosts", "--hosts", "hosts", "--", "facts")
	}
	require.NoError(t, os.Chmod(l.dir+"/hosts", 0o600))
	require.FileExists(t, l.dir+"/made-back end")
	out := l.says(0, `"protocol":"io.choria.ccm.v1.ssh.result","target":"a","exit":0`, "a", "--output", "json", "--", "run", "site")
	require.Contains(t, out, `{"target":"a","protocol":"io.choria.ccm.v1.`)
	l.write("config", "Host down*\n  Port 9\n"+l.read("config"))
	out = l.says(5, "2 of 3 hosts ok, 1 unreachable", "a", "down", "b", "-j", "1", "--", "facts", "os.name")
	require.Contains(t, out, "down  unreachable: ssh: connect to host 127.0.0.1 port 9: Connection refused")
	l.says(5, "0 of 4 hosts ok, 2 unreachable, 2 not started", "down1", "down2", "a", "b", "--max-failed", "1", "--serial", "1", "--", "facts")

	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("h%03d", i))
	}
	began := time.Now()
	l.says(0, "200 of 200 hosts ok", append(names, "--", "facts", "os.name")...)
	t.Logf("200 hosts: %s", time.Since(began).Round(100*time.Millisecond))
}

// Hosts, ports and facts of an inventory, and a program that is run only if nobody else could have written it.
func TestSSHInventory(t *testing.T) {
	l := newSSHLab(t)
	l.write("config", strings.Replace(l.read("config"), fmt.Sprintf("  Port %d\n", l.port), "", 1)) // the inventory has it
	l.write("hosts", fmt.Sprintf("[web]\nw[1:2] role=front\n[old]\nw2\n[web:vars]\nansible_port=%d\n", l.port))
	l.says(0, "front", "-i", "hosts", "web:!old", "--", "facts", "inventory.role")
	l.says(0, "Created the file", "-i", "hosts", "w1", "--", "run", "site")
	require.FileExists(t, l.dir+"/made-front")
	l.says(0, "2 of 2 hosts ok", "-i", "hosts", "-j", "1", "--", "history")
	l.says(1, "no host or group \"none\" in the inventory", "-i", "hosts", "none", "--", "history")
	l.write("cloud", fmt.Sprintf("#!/bin/sh\necho '{\"web\": {\"hosts\": [\"c1\"], \"vars\": {\"ansible_host\": \"127.0.0.1\", \"ansible_port\": %d, \"role\": \"cloud\"}}}'\n", l.port))
	require.NoError(t, os.Chmod(l.dir+"/cloud", 0o755))
	l.says(0, "cloud", "-i", "cloud", "--", "facts", "inventory.role")
	require.NoError(t, os.Chmod(l.dir+"/cloud", 0o757))
	l.says(1, "cloud", "-i", "cloud", "--", "facts", "inventory.role")
}

// All supported commands work.
func TestSSHCommands(t *testing.T) {
	l := newSSHLab(t)
	l.write("site/site_spec.lua", `describe("the site", function() it("is tested there", function() assert.is_true(fact("os.family") ~= "") end) end)`)
	for _, x := range []struct{ want, args string }{
		{"Would have created the file", "plan site"}, {"Created the file", "run site"}, {"+++ b" + l.dir + "/made-none", "diff last"}, {"Nothing to do", "apply site"},
		{"1 changed", "history"}, {"No drift: 1 resource", "drift"}, {"1 success / 0 failures", "test site"},
		{"up to date", "ensure exec true --creates /"}, {"Linux", "facts kernel.name"},
		{"present", "status file " + l.dir + "/made-none"}, {"lock", "doctor"}, {"ccm", "version"}, {"Removed what the run created", "undo"},
		{"Created the file", "run site"}, {"Nothing to prune", "prune --noop site"},
	} {
		t.Log(x.args)
		l.says(0, x.want, append([]string{"one", "--"}, strings.Fields(x.args)...)...)
	}
	l.write("site/site.lua", "")
	l.says(1, "prune requires a terminal (remove without asking with --yes", "one", "--", "prune", "site")
	l.says(0, "Removed the file", "one", "--", "prune", "--yes", "site")
	require.NoFileExists(t, l.dir+"/made-none")
	// A script on standard input, without its folder. Another script is another site.
	for _, content := range []string{"a", "b"} {
		cmd := l.command("one", "--", "run", "-")
		cmd.Stdin = strings.NewReader(`file { "` + l.dir + "/" + content + `", content = "x", owner = "-1", group = "-1", mode = "0644" }`)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, "x", l.read(content))
		require.NotContains(t, string(out), "no longer declared")
	}
	l.says(0, "Undo the last run that changed files", "nowhere.invalid", "--", "undo", "--help")
	l.says(0, "a: present", "one", "two", "--", "status", "file", l.dir+"/a")
}

// A machine behind ssh becomes a site here, and each of several a directory. Secrets stay there.
func TestSSHImport(t *testing.T) {
	l := newSSHLab(t)
	for name, text := range map[string]string{
		"etc/os-release": "ID=debian\n", "etc/hostname": "web1\n", "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n",
		"etc/shop/a.conf": "a = 1\n", "etc/shop/key": "password = hunter2hunter\n",
		"var/lib/dpkg/status": "Package: shop\nStatus: install ok installed\nPriority: required\nArchitecture: all\nVersion: 1\n",
	} {
		l.write("root/"+name, text)
	}
	require.NoError(t, os.Chmod(l.dir+"/root/etc/shop/a.conf", 0o644))
	l.write("config", "Host down*\n  Port 9\n"+l.read("config"))
	scan := []string{"--", "import", "machine", "--root", l.dir + "/root"}
	l.says(0, "wrote imported: ", append([]string{"one"}, append(scan, "--out", "imported")...)...)
	require.Contains(t, l.read("imported/lib/files.lua"), "a = 1")
	out, err := exec.Command("grep", "-r", "hunter2", l.dir+"/imported").Output()
	require.Error(t, err, string(out))
	l.says(5, "2 of 3 hosts ok, 1 unreachable", append([]string{"one", "down", "two"}, append(scan, "--out=machines", "--only", "files")...)...)
	require.FileExists(t, l.dir+"/machines/one/site.lua")
	require.FileExists(t, l.dir+"/machines/two/site.lua")
	require.NoDirExists(t, l.dir+"/machines/down")
	l.says(1, "expected an empty directory", append([]string{"one"}, append(scan, "--out", "imported")...)...)
	l.says(1, `got "all"`, append([]string{"one"}, append(scan, "--out", "other", "--only", "all")...)...)
	require.NoDirExists(t, l.dir+"/other")

	against := append(scan, "--against", "imported")
	l.says(0, "items are not described by imported\n", append([]string{"one"}, against...)...)
	l.write("root/etc/shop/new.conf", "b = 1\n")
	l.says(2, "file#/etc/shop/new.conf: no package owns it", append([]string{"one", "two", "-j", "1"}, against...)...)
}

func (l *sshLab) read(name string) string {
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	require.NoError(l.t, err)
	return string(text)
}

// Difficulties between people and their machines.
func TestSSHDifficulties(t *testing.T) {
	shell := func(name string) string {
		return `ForceCommand ` + name + ` -c "$SSH_ORIGINAL_COMMAND"`
	}
	for name, x := range map[string]struct {
		settings []string
		program  string
	}{
		"fish":              {[]string{shell("fish")}, "fish"},
		"csh":               {[]string{shell("tcsh")}, "tcsh"},
		"noisy":             {[]string{`ForceCommand echo "{ \"noise\": 1 }"; echo noise; echo more >&2; printf "without end "; sh -c "$SSH_ORIGINAL_COMMAND"`}, "sh"},
		"one session":       {[]string{"MaxSessions 1"}, "sh"},
		"sudo without need": {nil, "sudo"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(x.program); err != nil {
				t.Skipf("there is no %s", x.program)
			}
			l := newSSHLab(t, x.settings...)
			args := []string{"one", "--", "run", "site"}
			if x.program == "sudo" {
				args = append([]string{"--become", "sudo -n --preserve-env"}, args...)
			}
			l.says(0, "Created the file", args...)
			l.says(0, "Nothing to do", args...)
		})
	}
}

// Hosts with unusual answers: each call ends with an error that describes it.
func TestSSHOddHosts(t *testing.T) {
	for name, x := range map[string]struct {
		command string // command of the login
		exit    int
		want    string
	}{
		"its login shell hangs":      {"sleep 120", 5, "unreachable: no response within 3s"},
		"it never ends to talk":      {"yes", 1, "failed: output before ccm started there exceeds the limit of 16 MiB"},
		"one line without an end":    {`yes | tr -d "\\n"`, 1, "failed: line exceeds the limit of 16 MiB"},
		"nobody may log in":          {"echo This account is currently not available.; exit 1", 1, "failed: This account is currently not available."},
		"it has no home":             {`unset HOME XDG_CACHE_HOME; sh -c "$SSH_ORIGINAL_COMMAND"`, 1, "HOME: parameter"},
		"it does nothing":            {"true", 5, "unreachable: connection closed too early"},
		"it repeats what it is told": {`printf "%s\n" "$SSH_ORIGINAL_COMMAND"; sh -c "$SSH_ORIGINAL_COMMAND"`, 0, "Created the file"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newSSHLab(t, "ForceCommand "+x.command)
			args := []string{"--hosts", "hosts", "--", "run", "site"}
			if x.want == "unreachable: no response within 3s" {
				args = append([]string{"--connect-timeout", "3s"}, args...)
			}
			l.write("hosts", "one\n")
			l.says(x.exit, x.want, args...)
		})
	}
	t.Run("mute", func(t *testing.T) {
		l := newSSHLab(t)
		mute, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer mute.Close()
		l.write("config", fmt.Sprintf("Host mute*\n  Port %d\n", mute.Addr().(*net.TCPAddr).Port)+l.read("config"))
		began := time.Now()
		out := l.says(5, "1 of 3 hosts ok, 2 unreachable", "--connect-timeout", "20s", "mute1", "mute2", "one", "--", "version")
		require.Contains(t, out, "2 hosts: mute1, mute2  unreachable: no response within 20s")
		l.says(5, "2 hosts: mute1, mute2  unreachable: no response within 2s", "--timeout", "2s", "mute1", "mute2", "--", "version")
		require.Less(t, time.Since(began), 2*time.Minute)

		// Ctrl-C ends a waiting call at once.
		cmd := l.command("--hosts", "hosts", "--", "version")
		l.write("hosts", "mute1\n")
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		require.NoError(t, cmd.Start())
		connected, err := mute.Accept()
		for range 4 { // the earlier ones, and this one
			require.NoError(t, err)
			defer connected.Close()
			connected, err = mute.Accept()
		}
		require.NoError(t, err)
		defer connected.Close()
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait()
		require.Equal(t, 130, cmd.ProcessState.ExitCode(), said.String())
		require.Contains(t, said.String(), "mute1  failed: interrupted before ccm started there")
	})
}

// A jump host, and a host whose key has changed.
func TestSSHConfiguration(t *testing.T) {
	l := newSSHLab(t)
	l.write("config", "Host far\n  ProxyJump hop1,hop2\n  HostKeyAlias "+fmt.Sprintf("[127.0.0.1]:%d", l.port)+"\nHost hop*\n  User "+l.user()+"\nMatch all\n"+strings.Replace(l.read("config"), "Host *", "", 1))
	// ProxyJump starts another ssh with the same configuration.
	l.says(0, "Created the file", "far", "--", "run", "site")
	_, other := os.ReadFile(l.dir + "/key.pub")
	require.NoError(t, other)
	l.write("known", fmt.Sprintf("[127.0.0.1]:%d %s", l.port, l.read("key.pub")))
	require.NoError(t, os.RemoveAll(l.dir+"/run"))
	l.says(5, "unreachable: Host key verification failed: the key differs from the one in known_hosts.", "near", "--", "facts")
	l.write("known", "")
	l.says(5, "unreachable: Host key verification failed: unknown key. Log in once by hand: ssh HOST", "near", "--", "facts")
}

func (l *sshLab) user() string {
	out, err := exec.Command("id", "-un").Output()
	require.NoError(l.t, err)
	return strings.TrimSpace(string(out))
}

// If programs cannot be stored or run, the error says so, with a way out.
func TestSSHStorage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts want root")
	}
	l := newSSHLab(t)
	mount := func(options string) {
		require.NoError(t, exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", l.home).Run())
	}
	umount := func() { require.NoError(t, exec.Command("umount", "-l", l.home).Run()) }
	mount("noexec,size=200m")
	l.says(1, "cannot be executed there (noexec?): choose another directory with --remote-dir", "one", "--", "facts")
	l.says(0, "Linux", "one", "--remote-dir", l.dir+"/elsewhere", "--", "facts", "--output", "text")
	umount()
	mount("ro,size=1m")
	l.says(1, "Read-only file system", "one", "--", "facts")
	umount()
	mount("size=1m")
	l.says(1, "No space left on device", "one", "--", "facts")
	entries, err := filepath.Glob(l.home + "/cache/ccm/bin/*/*")
	require.NoError(t, err)
	require.Empty(t, entries, "nothing of a program that has no room stays")
	umount()
	// A damaged program is not checked again, because its path has the digest.
	l.says(0, "Linux", "one", "--", "facts", "--output", "text")
}

// The connection breaks while ccm runs: the run ends after the present resource, and is recorded.
func TestSSHConnectionCut(t *testing.T) {
	l := newSSHLab(t)
	l.write("slow/site.lua", `exec { "first", command = "touch `+l.dir+`/begun", creates = "`+l.dir+`/begun" } exec { "second", command = "sleep 2" } exec { "third", command = "touch `+l.dir+`/third" }`)
	cmd := l.command("one", "--", "run", "slow")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(l.dir + "/begun"); return err == nil }, patience, 20*time.Millisecond)
	require.NoError(t, exec.Command("sh", "-c", fmt.Sprintf("kill -9 $(ss -tnpH 'sport = :%d' | grep -o 'pid=[0-9]*' | cut -d= -f2)", l.port)).Run())
	_ = cmd.Wait()
	require.Equal(t, 5, cmd.ProcessState.ExitCode(), out.String())
	require.Contains(t, out.String(), "connection lost while ccm ran")
	require.Eventually(t, func() bool {
		text, _ := l.run("one", "--", "history")
		return strings.Contains(text, "interrupted")
	}, patience, 500*time.Millisecond)
	require.NoFileExists(t, l.dir+"/third")
}

// Other systems need their own program, and a slow host is ended in order.
func TestSSHOtherSystem(t *testing.T) {
	l := newSSHLab(t)
	l.write("bin/uname", "#!/bin/sh\necho Linux aarch64\n")
	require.NoError(t, os.Chmod(l.dir+"/bin/uname", 0o755))
	l.settings = []string{`ForceCommand PATH=` + l.dir + `/bin:$PATH sh -c "$SSH_ORIGINAL_COMMAND"`}
	require.NoError(t, l.sshd.Process.Kill())
	_ = l.sshd.Wait()
	l.start()
	l.says(1, "expected the file ccm-linux-arm64 in one of", "one", "--", "facts")
	text, err := os.ReadFile(l.ccm)
	require.NoError(t, err)
	l.write("programs/ccm-linux-arm64", string(text)+"x") // with another digest
	l.says(0, "Linux", "one", "--binaries", "programs", "--", "facts", "--output", "text")
	l.write("slow/site.lua", `exec { "first", command = "sleep 4" } exec { "second", command = "sleep 30" }`)
	l.says(5, "timed out after 3s", "one", "--binaries", "programs", "--timeout", "3s", "--", "run", "slow")
}
