//go:build integration

package integration

import (
	"bytes"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A workplace is a directory with the keys and caches of a person who writes a site.
type workplace struct {
	t   *testing.T
	dir string
	env []string
}

func newWorkplace(t *testing.T, name string) *workplace {
	home := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.MkdirAll(home, 0o755))
	return &workplace{t: t, dir: home, env: append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME="+home+"/config", "CCM_CACHE_DIR="+home+"/cache", "CCM_STATE_DIR="+home+"/state",
		"CCM_AGE_IDENTITY_FILE="+home+"/age.key", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+name+"@example.org",
		"GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+name+"@example.org", "PATH="+binaries+":"+os.Getenv("PATH"))}
}

func (w *workplace) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o644))
}

// sh runs a shell script, which must succeed, and returns its output.
func (w *workplace) sh(script string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "sh", "-eu", "-c", script)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, &out, &errs
	require.NoError(w.t, cmd.Run(), "%s%s", out.String(), errs.String())
	return strings.TrimSuffix(out.String(), "\n")
}

// gitServer serves the repositories below a directory with git http-backend.
func gitServer(t *testing.T, dir string) (url string) {
	backend := "/usr/lib/git-core/git-http-backend"
	require.FileExists(t, backend)
	s := httptest.NewServer(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=ann"}})
	t.Cleanup(s.Close)
	return s.URL
}

// TestSharing: ann has a site with secrets and modules from a git server. bob clones and packs it, and it runs on
// machines without a network, with the real nginx, sshd and postgres.
func TestSharing(t *testing.T) {
	nightly(t)
	l := boot(t, debian)
	l.fromDebian("nginx", "openssh-server", "openssh-client", "postgresql-15")
	l.sh("apt-get -qq install -y openssh-server openssh-client >/dev/null 2>&1; test -f /etc/ssh/ssh_host_ed25519_key || ssh-keygen -A")

	repos := t.TempDir()
	ann := newWorkplace(t, "ann")
	modules, err := filepath.Abs("../../examples/modules")
	require.NoError(t, err)
	ann.sh("mkdir work && cp -r " + modules + "/* work/ && cd work && git init -q && git add . && git commit -qm 'Three modules' && git tag v1.0.0 && git clone -q --bare . " + repos + "/modules.git")
	url := gitServer(t, repos)

	// The commands of docs/modules.md, docs/secrets.md and docs/bundles.md.
	ann.write("web1.pub", l.sh("cat /etc/ssh/ssh_host_ed25519_key.pub")+"\n")
	ann.write("site/site.lua", `
data.load "data.yaml"
local nginx, sshd, postgres = require "nginx", require "sshd", require "postgres"
file.defaults { owner = "root", group = "root" }
file { "/etc/ssl/site.pem", source = "files/tls.pem", mode = "0644" }
file { "/etc/ssl/site.key", source = "files/tls.key.age", mode = "0600" }
file { "/srv/www", ensure = "directory", mode = "0755" }
file { "/srv/www/index.html", content = "hello\n", mode = "0644" }
nginx.server()
nginx.vhost { "example.org", root = "/srv/www", tls = { certificate = "/etc/ssl/site.pem", key = "/etc/ssl/site.key" } }
sshd.server { settings = { PermitRootLogin = "no", PasswordAuthentication = false } }
sshd.match { "Group sftp", settings = { ForceCommand = "internal-sftp" } }
postgres.server { version = 15, settings = { max_connections = 42 }, hba = { { "host", "app", "app", "127.0.0.1/32", "scram-sha-256" } } }
postgres.role { "app", password = data.db.password }
postgres.database { "app", owner = "app" }
`)
	ann.write("site/data.yaml", "data:\n  db:\n    password: correct horse battery\n")
	ann.sh(`openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.pem -days 2 -subj /CN=example.org 2>/dev/null
mkdir site/files && mv tls.key tls.pem site/files
cd site
ccm secret keygen -o $CCM_AGE_IDENTITY_FILE > ann.pub
ccm secret recipients add ann ann.pub
ccm secret recipients add web1 ../web1.pub
ccm secret encrypt files/tls.key
rm files/tls.key ann.pub
ccm secret encrypt data.yaml --key data.db.password
ccm mod init
for m in nginx sshd postgres; do ccm mod get --allow-insecure ` + url + `/modules.git//$m@v1.0.0; done
git init -q && git add . && git commit -qm 'The site' && git clone -q --bare . ` + repos + `/site.git`)
	require.NotContains(t, ann.sh("cat site/data.yaml site/files/*"), "battery")

	// bob's keys decrypt nothing, and are not needed to pack the site.
	bob := newWorkplace(t, "bob")
	bob.sh("git clone -q " + url + "/site.git site && cd site && ccm mod get && ccm mod verify")
	bob.sh("ssh-keygen -q -t ed25519 -N '' -C bob -f key && echo \"bob@example.org namespaces=\\\"ccm-bundle\\\" $(cat key.pub)\" > signers")
	sum := bob.sh("ccm bundle site -o site.tar.gz --sign key")
	require.Contains(t, bob.sh("cd site && ccm secret ls"), "data.yaml: data.db.password  @all (ann, web1)")
	out, err := exec.CommandContext(t.Context(), labCommand, "cp", l.name, bob.dir, "/root/bob").CombinedOutput()
	require.NoError(t, err, "%s", out)

	// On the machine.
	digest, _, _ := strings.Cut(sum, " ")
	plan := l.sh("cd /root/bob && /opt/ccm/ccm plan site.tar.gz --signers signers --sha256 " + digest)
	require.NotContains(t, plan, "failed:")
	report := l.sh("cd /root/bob && /opt/ccm/ccm run site.tar.gz --signers signers --diff full")
	require.NotContains(t, plan+report, "battery")
	require.Contains(t, l.sh("cd /root/bob && /opt/ccm/ccm run site.tar.gz --signers signers"), "Nothing to do")

	l.says("active\nactive\nactive", "systemctl is-active nginx ssh postgresql")
	l.says("hello", `python3 -c "
import ssl, urllib.request as u
print(u.urlopen(u.Request('https://127.0.0.1/', headers={'Host': 'example.org'}), context=ssl._create_unverified_context()).read().decode().strip())"`)
	l.says("permitrootlogin no\npasswordauthentication no", "sshd -T | grep -E '^(permitrootlogin|passwordauthentication)'")
	l.says("42", "su postgres -c 'psql -Atc \"show max_connections\"'")
	login := l.exec("env", "PGPASSWORD=correct horse battery", "psql", "-h", "127.0.0.1", "-U", "app", "-Atc", "SELECT current_user", "app")
	require.Equal(t, "app\n", login.stdout, login.stderr)
	require.Empty(t, l.sh("grep -rl battery /var/lib/ccm /var/cache/ccm /var/log 2>/dev/null || true"))

	// Refusals there.
	for script, want := range map[string]string{
		"cp site.tar.gz t.tar.gz && cp site.tar.gz.sig t.tar.gz.sig && printf x | dd of=t.tar.gz bs=1 seek=500 conv=notrunc 2>/dev/null; /opt/ccm/ccm run t.tar.gz --signers signers": "t.tar.gz: ",
		"ssh-keygen -q -t ed25519 -N '' -f other && echo \"eve@example.org $(cat other.pub)\" > eve; /opt/ccm/ccm run site.tar.gz --signers eve":                                      "site.tar.gz: ",
		"/opt/ccm/ccm run site.tar.gz --sha256 " + strings.Repeat("0", 64):                                                                                                            "expected the SHA-256",
		"CCM_AGE_IDENTITY_FILE=/root/bob/key /opt/ccm/ccm plan site.tar.gz":                                                                                                           "no identity on this machine can decrypt it; its recipients are ann, web1",
		"mkdir u && tar -C u -xzf site.tar.gz && echo -- >> u/vendor/nginx/lib/nginx.lua; /opt/ccm/ccm plan u/site.lua":                                                               "does not match the lock file:",
	} {
		got := l.exec("sh", "-c", "cd /root/bob && "+script)
		require.Equal(t, 1, got.status, script)
		require.Contains(t, got.stderr, want, script)
	}
	got := l.exec("sh", "-c", "cd /root/bob && tar -C u -czf u.tar.gz . && /opt/ccm/ccm plan u.tar.gz")
	require.Equal(t, 1, got.status)
	require.Contains(t, got.stderr, "u.tar.gz/ccm.lock: ")
	require.NotContains(t, got.stderr, "/var/cache/ccm")
}
