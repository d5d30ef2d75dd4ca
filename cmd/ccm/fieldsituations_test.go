package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Situations of public reports about containers and chroots (test/field.md): plan and run in name spaces of their own.
func TestFieldContainers(t *testing.T) {
	const plan, run = "ccm plan --state-dir state site.lua", "ccm run --state-dir state site.lua"
	const stable = run + " | grep 'Nothing to do'"
	for what, c := range map[string]struct {
		before string // prepares the name space
		site   string // DIR is the directory of the test
		do     string // commands of a shell in that directory
		want   []string
		not    string
	}{
		"no /proc": {
			before: "umount -l /proc",
			site: `
				file { DIR .. "/made", content = "x\n", owner = "0", group = "0", mode = "0644" }
				require "std.line" { DIR .. "/edited", line = "b" }
				require "std.directory" { DIR .. "/copy", source = "tree", purge = true }
				exec { "pwd", command = "pwd > here", provider = "shell", cwd = DIR, creates = DIR .. "/here" }
				print("memory " .. tostring(lookup("facts.memory.total", "unknown")))`,
			do:   "ls /proc/self 2>&- && exit 1\n" + plan + "\n" + run + "\n" + stable + "\ncat edited here; ccm undo --state-dir state; ls made || true; ccm facts os.family",
			want: []string{"4 pending", "4 changed", "memory unknown", "\na\nb\nDIR\n", "file#DIR/made: Removed", "cannot access 'made'"},
		},
		"a file that is a mount point": {
			before: ownEtc + "\nm=$(mktemp); echo 127.0.0.1 localhost > $m; mount --bind $m /etc/hosts; rm $m",
			site: `
				require "std.host" { "app", ip = "192.0.2.1" }
				file { "/etc/hosts.d", ensure = "absent" }`,
			do:   plan + "\n" + run + "\n" + stable + "\ncat /etc/hosts; ccm undo --state-dir state; cat /etc/hosts",
			want: []string{"+ host#app: Would have added the host (in place, because it is a mount point)", "1 changed", "localhost\n192.0.2.1\tapp\nUndoing", "Restored the file\n"},
		},
		"lines and blocks of a mount point": {
			before: ownEtc + "\nm=$(mktemp); echo 127.0.0.1 localhost > $m; mount --bind $m /etc/hosts; rm $m",
			site: `
				require "std.line" { "/etc/hosts", line = "192.0.2.1 a" }
				require "std.block" { "more", path = "/etc/hosts", content = "192.0.2.2 b" }
				file { "/etc/hosts", owner = "0", group = "0", mode = "0644" }`,
			do:   plan + "\n" + run + "\n" + stable + "\ncat /etc/hosts; ccm undo --state-dir state; stat -c %a /etc/hosts; cat /etc/hosts; grep -c ' /etc/hosts ' /proc/self/mountinfo",
			want: []string{"(in place, because it is a mount point)", "3 changed", "localhost\n192.0.2.1 a\n", "192.0.2.2 b\n", "Restored the file\n", "\n600\n127.0.0.1 localhost\n1\n"},
			not:  "resource busy",
		},
		"a mount point that is to be a link, or absent": {
			before: "echo 192.0.2.1 > source; touch resolv.conf; mount --bind source resolv.conf",
			site: `
				require "std.link" { DIR .. "/resolv.conf", target = "/run/resolv.conf" }
				file { DIR .. "/resolv.conf", ensure = "absent", force = true }`,
			do:   plan + "\n" + run + "\ncat resolv.conf",
			want: []string{"x link#DIR/resolv.conf: failed: expected a symbolic link, found a file, which is not replaced", "192.0.2.1\n"},
			not:  "resource busy",
		},
		"the name of the machine is a mount point": {
			before: ownEtc + "\necho vm > name; touch /etc/hostname; mount --bind name /etc/hostname",
			site:   `require "std.hostname" { "web1.example.org" }`,
			do:     "unshare -u sh -c '" + plan + "; " + run + "; " + stable + "'; cat /etc/hostname",
			want:   []string{"in place, because it is a mount point", "1 changed", "\nweb1.example.org\n"},
			not:    "resource busy",
		},
		"no /dev": {
			before: "mount -t tmpfs dev /dev",
			site: `
				exec { "written", command = "echo hi > " .. DIR .. "/written", provider = "shell", creates = DIR .. "/written" }
				file { DIR .. "/checked", content = "x", owner = "0", group = "0", mode = "0644", validate = "test -s %s" }`,
			do:   plan + "\n" + run + "\n" + stable + "\nccm undo --state-dir state; ls /dev | wc -l",
			want: []string{"2 pending", "2 changed", "Removed", "\n0\n"},
		},
		"overlayfs": {
			before: `mkdir low up work over; mkdir low/d low/d/e; echo lower > low/f; ln low/f low/other; echo x > low/d/x; echo a > low/g
				mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work over || { echo no overlayfs; exit 77; }`,
			site: `
				file { DIR .. "/over/f", content = "upper\n", owner = "0", group = "0", mode = "0600" }
				file { DIR .. "/over/d", ensure = "absent", force = true }
				require "std.directory" { DIR .. "/over/new", source = "tree" }
				require "std.line" { DIR .. "/over/g", line = "b" }`,
			do:   plan + "\n" + run + "\n" + stable + "\nls over; ccm undo --state-dir state; cat over/f over/d/x over/g; ls over/d",
			want: []string{"4 pending", "4 changed", "\nf\ng\nnew\nother\n", "file#DIR/over/d/x: Restored", "\nlower\nx\na\ne\nx\n"},
		},
		"a user namespace": {
			before: "echo old > theirs; chown 4242 theirs; chmod 0666 theirs; unshare -U -r true || exit 77",
			site: `
				file { DIR .. "/mine", content = "x", owner = "0", group = "0", mode = "0644" }
				file { DIR .. "/other", content = "x", owner = "12345", group = "0", mode = "0644" }
				exec { "other", command = "true", user = "65534" , group = "65534" }`,
			do: "unshare -U -r sh -c '" + plan + "'; unshare -U -r sh -c '" + run + "'; ls -n mine",
			want: []string{
				"+ file#DIR/mine: Would have created", "x file#DIR/other: failed: DIR/other cannot belong to uid 12345, gid 0: this user namespace does not have both",
				"x exec#other: failed: no command can run as uid 65534, gid 65534: this user namespace does not have both", "+ file#DIR/mine: Created",
			},
			not: "invalid argument",
		},
		"settings of the kernel are read-only": {
			before: "mount --bind /proc/sys /proc/sys; mount -o remount,ro,bind /proc/sys",
			site:   `require "std.sysctl" { "kernel.printk", value = "1 2 3 1", path = DIR .. "/sysctl.conf" }`,
			do:     plan,
			want:   []string{"x sysctl#kernel.printk: failed: /proc/sys/kernel/printk is on a read-only mount, /proc/sys"},
		},
		"the name of the machine, where settings of the kernel are read-only": { // it is set by a call of the kernel
			before: "mount --bind /proc/sys /proc/sys; mount -o remount,ro,bind /proc/sys; mount -t tmpfs run /run; mkdir etc; mount --bind etc /etc",
			site:   `require "std.hostname" { "web1.example.org" }`,
			do:     plan,
			want:   []string{"~ hostname#web1.example.org: Would have set the host name"},
			not:    "read-only",
		},
		"no init": {
			before: ownEtc + "\nmount -t tmpfs run /run",
			site: `
				service { "app", ensure = "running", enable = true }
				file { DIR .. "/after", content = "", owner = "0", group = "0", mode = "0644" }`,
			do:   plan + "\nls after",
			want: []string{"x service#app: failed: ", "+ file#DIR/after: Would have created"},
		},
		"TMPDIR where nothing may be executed": {
			before: "mkdir tmp; mount -t tmpfs -o noexec tmp tmp; chmod 1777 tmp",
			site: `
				scaffold { DIR .. "/app", source = "tree" }
				file { DIR .. "/checked", content = "x\n", owner = "0", group = "0", mode = "0644", validate = "test -s %s" }
				exec { "script", command = "true", stdin = "x" }`,
			do:   "export TMPDIR=$PWD/tmp\n" + plan + "\n" + run,
			want: []string{"3 pending", "3 changed"},
		},
		"TMPDIR is full, or read-only": {
			before: "mkdir tmp ro; mount -t tmpfs -o nr_inodes=1 tmp tmp; mount -t tmpfs -o ro tmp ro",
			site:   `scaffold { DIR .. "/app", source = "tree" }`,
			do:     "TMPDIR=$PWD/tmp " + plan + "\nTMPDIR=$PWD/ro " + plan,
			want:   []string{"failed: mkdir DIR/tmp/ccm-", "no space left on device", "failed: mkdir DIR/ro/ccm-", "read-only file system"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			long(t)
			dir, err := os.MkdirTemp("/var/tmp", "ccm-field-") // t.TempDir may be on a file system without overlays
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			require.NoError(t, os.Chmod(dir, 0o755))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "tree"), 0o755))
			for name, text := range map[string]string{"tree/f": "1\n", "edited": "a\n", "site.lua": "local DIR = \"" + dir + "\"\n" + c.site} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
			}
			if program, err := exec.LookPath("ccm"); err == nil && what == "no /dev" && strings.HasPrefix(program, "/dev/") {
				t.Skip("ccm is in /dev: TMPDIR is below it")
			}
			cmd := inOwnMounts(t, "cd "+dir+"\n"+c.before, "sh", "-c", c.do)
			cmd.Env = append(os.Environ(), "NO_COLOR=1", "HOME="+dir)
			raw, err := cmd.CombinedOutput()
			out := strings.ReplaceAll(string(raw), dir, "DIR")
			if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 77 {
				t.Skip(out)
			}
			for _, want := range c.want {
				require.Contains(t, out, want)
			}
			if c.not != "" {
				require.NotContains(t, out, c.not)
			}
		})
	}
}

// A ccm of 32 bits, which is linked statically, works in an empty chroot: no C library, no shell, no /proc. Numbers and
// times that 32 bits cannot hold are right.
func TestField32Bits(t *testing.T) {
	if os.Getenv("CCM_TEST_NIGHTLY") == "" {
		t.Skip("make cross runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	root := t.TempDir()
	for _, dir := range []string{"bin", "etc", "tmp", "root", "site"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, encrypted := httptest.NewServer(ok), httptest.NewUnstartedServer(ok)
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0) // of the refused certificate
	encrypted.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	port := func(s *httptest.Server) int { return s.Listener.Addr().(*net.TCPAddr).Port }
	program := filepath.Join(root, "bin/ccm")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	if err := exec.Command(program, "version").Run(); err != nil {
		t.Skipf("the machine does not run programs of 386: %v", err)
	}
	for name, text := range map[string]string{
		"etc/passwd": "root:x:0:0::/root:/bin/sh\nada:x:3000000000:3000000000::/home/ada:/bin/sh\n",
		"etc/group":  "root:x:0:\nada:x:3000000000:\n",
		"etc/hosts":  "127.0.0.1 www.example.com\n",
		"site/www.lua": fmt.Sprintf(`
			std.wait_for { "by the name in /etc/hosts", url = "http://www.example.com:%d/", within = "20s" }
			archive { "/tmp/no-certificates.tgz", url = "https://www.example.com:%d/a.tgz", owner = "root", group = "root" }
			file { "/site/big", ensure = "existing", owner = "root", group = "root", mode = "0600" }`, port(plain), port(encrypted)),
		"site/source": "from the future\n",
		"site/site.lua": `
			file.defaults { owner = "ada", group = "ada", mode = "0640" }
			local n = 3000000000
			file { "/etc/go", content = template.go("{{ .n }} {{ eq .n .m }}\n", { n = n, m = n }) }
			file { "/etc/jet", content = template.jet("[[ n + 1 ]] [[ n * 2 ]]\n", { n = n }) }
			file { "/etc/json", content = json.encode(json.decode('{"big":9007199254740991}')) .. " " .. n * n .. " " .. ("%d"):format(n) .. "\n" }
			file { "/etc/copy", source = "source", group = "3000000001" }
			require "std.line" { "/etc/passwd", line = "bob:x:4000000000:0::/:/bin/sh" }`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	big, err := os.Create(filepath.Join(root, "site/big"))
	require.NoError(t, err)
	require.NoError(t, errors.Join(big.Truncate(5<<30), big.Close()))
	future := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(root, "site/source"), future, future))
	do := func(args ...string) string {
		cmd := exec.Command("chroot", append([]string{root, "/bin/ccm"}, args...)...)
		cmd.Env = []string{"NO_COLOR=1", "HOME=/root"}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Contains(t, do("plan", "/site/site.lua"), "5 resources: 5 pending")
	require.Contains(t, do("run", "/site/site.lua"), "5 resources: 5 changed")
	require.Contains(t, do("run", "/site/site.lua"), "Nothing to do: 5 resources")
	for name, want := range map[string]string{
		"go": "3000000000 true\n", "jet": "3000000001 6000000000\n", "json": `{"big":9007199254740991} 9000000000000000000 3000000000` + "\n", "copy": "from the future\n",
	} {
		got, err := os.ReadFile(filepath.Join(root, "etc", name))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	owners, err := exec.Command("stat", "-c", "%u:%g", filepath.Join(root, "etc/go"), filepath.Join(root, "etc/copy")).Output()
	require.NoError(t, err)
	require.Equal(t, "3000000000:3000000000\n3000000000:3000000001\n", string(owners))
	here, err := exec.Command("ccm", "facts", "memory.total").Output() // with /proc
	require.NoError(t, err)
	there, err := exec.Command(program, "facts", "memory.total").Output()
	require.NoError(t, err)
	require.Equal(t, string(here), string(there))
	require.Contains(t, do("undo"), "file#/etc/go: Removed")

	// Neither nsswitch.conf nor certificates of authorities; a file of more than 4 GiB.
	cmd = exec.Command("chroot", root, "/bin/ccm", "run", "/site/www.lua")
	cmd.Env = []string{"NO_COLOR=1", "HOME=/root"}
	out, err = cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "certificate signed by unknown authority")
	require.Contains(t, string(out), "~ file#/site/big: Updated attributes")
	require.Contains(t, string(out), "1 changed, 1 failed, 1 up to date")
}

// A clock that is behind makes the certificate of a server one of the future: the resource fails with both times, and the
// rest goes on.
func TestFieldCertificateOfTheFuture(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	begin := time.Now().AddDate(30, 0, 0)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: begin, NotAfter: begin.AddDate(1, 0, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the refused certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	authority := filepath.Join(dir, "authority.pem")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	site := fmt.Sprintf(`
		archive { %q, url = %q, checksum = "%064d", extract_parent = %q, creates = %q, owner = "%d", group = "%d" }
		file { %q, content = "x", owner = "-1", group = "-1", mode = "0644" }`,
		dir+"/a.tar.gz", server.URL+"/a.tar.gz", 0, dir, dir+"/a", os.Getuid(), os.Getgid(), dir+"/made")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "site.lua"), []byte(site), 0o644))
	cmd := exec.Command("ccm", "run", "--state-dir", filepath.Join(dir, "state"), filepath.Join(dir, "site.lua"))
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+authority, "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, `x archive#\S+: failed: .*certificate has expired or is not yet valid: current time \S+ is before \S+`, string(out))
	require.FileExists(t, filepath.Join(dir, "made"))
}
